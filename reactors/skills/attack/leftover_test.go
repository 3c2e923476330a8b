package attack_test

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/sandbox"
)

// TestRunSeesNothingOfTheOneBefore has programs leave all they can in a worker,
// and the next, in the same worker, look for it.
func TestRunSeesNothingOfTheOneBefore(t *testing.T) {
	pool := newPool(t, t.TempDir())
	run := func(t *testing.T, tenant, kind, code string) (string, error) {
		t.Helper()
		result, err := pool.Run(t.Context(), sandbox.Call{
			Tenant: tenant, Input: []byte(`{}`), Limits: sandbox.DefaultLimits, Now: time.Unix(1_800_000_000, 0), Host: shelf{},
			Program: sandbox.Program{Kind: kind, SHA256: sha256.Sum256([]byte(code)), Code: writes(code)},
		})
		return string(result.Output), err
	}
	const pages = 1024
	fills := string(execute(c32(pages-1), memoryGrow, 0, drop, c32(0), c32(0xaa), c32(pages<<16), memoryFill, memorySize, 0))
	// or of all words of a memory of as many pages
	looks := string(program{globals: [][]byte{cat(i32, 1, c32(0), end), cat(i32, 1, c32(0), end)}}.execute(
		c32(pages-1), memoryGrow, 0, drop,
		loop, empty,
		globalGet, 1, globalGet, 0, load32, 2, 0, or32, globalSet, 1,
		globalGet, 0, c32(4), add32, globalSet, 0,
		globalGet, 0, c32(pages<<16), ltU32, brIf, 0, end,
		globalGet, 1))
	pollutes := `globalThis.left = 'a secret'; globalThis.runs = 0
		export default () => {
			runs++
			Object.prototype.left = 'a secret'; Array.prototype.map = () => 'mine'; globalThis.JSON.leftover = 'a secret'
			Promise.resolve().then(() => { globalThis.late = 'a secret' })
			return runs
		}`
	seeks := `export default () => [typeof left, typeof {}.left, typeof JSON.leftover, typeof globalThis.late, [1].map((n) => n + 1)]`

	for _, tenant := range []string{"the same user", "another user"} {
		t.Run("in linear memory, by "+tenant, func(t *testing.T) {
			for range 3 {
				if out, err := run(t, "the same user", sandbox.KindWASM, fills); err != nil || out != "1024" {
					t.Fatal(out, err)
				}
				if out, err := run(t, tenant, sandbox.KindWASM, looks); err != nil || out != "0" {
					t.Errorf("memory is %s, %v", out, err)
				}
			}
		})
		t.Run("in a realm, by "+tenant, func(t *testing.T) {
			for range 3 {
				if out, err := run(t, "the same user", sandbox.KindJavaScript, pollutes); err != nil || out != "1" {
					t.Errorf("it ran %s times, %v", out, err)
				}
				if out, err := run(t, tenant, sandbox.KindJavaScript, seeks); err != nil || out != `["undefined","undefined","undefined","undefined",[2]]` {
					t.Errorf("it found %s, %v", out, err)
				}
			}
		})
	}
	t.Run("after an error", func(t *testing.T) {
		if _, err := run(t, "a third", sandbox.KindJavaScript, `export default () => { globalThis.left = 1; Object.prototype.left = 2; throw new Error('over') }`); err == nil {
			t.Fatal("no error")
		}
		if out, err := run(t, "a third", sandbox.KindJavaScript, seeks); err != nil || out != `["undefined","undefined","undefined","undefined",[2]]` {
			t.Errorf("it found %s, %v", out, err)
		}
	})
}
