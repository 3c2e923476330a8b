package sandbox_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/sandbox"
)

func TestCheck(t *testing.T) {
	var dir string
	p := newPool(t, func(c *sandbox.Config) { dir = c.Dir })
	counted := func(prog sandbox.Program, n *atomic.Int32) sandbox.Program {
		code := prog.Code
		prog.Code = func(ctx context.Context, write func([]byte) error) error {
			n.Add(1)
			return code(ctx, write)
		}
		return prog
	}

	t.Run("a program at the same time is compiled once", func(t *testing.T) {
		var n atomic.Int32
		prog := counted(module(echo()), &n)
		var checks sync.WaitGroup
		for range 8 {
			checks.Go(func() {
				r, err := p.Check(context.Background(), "ada", prog)
				if err != nil || r.ABI != "run" || len(r.Exports) != 3 {
					t.Errorf("%+v, %v", r, err)
				}
			})
		}
		checks.Wait()
		if n.Load() != 1 {
			t.Errorf("the code was read %d times", n.Load())
		}
	})

	t.Run("what is wrong with a program is known from then on", func(t *testing.T) {
		var n atomic.Int32
		prog := counted(hostileCode("bad"), &n)
		for range 3 {
			_, err := p.Check(context.Background(), "ada", prog)
			if e := wantCode(t, err, sandbox.SyntaxError); e.Line != 3 || e.Column != 4 {
				t.Errorf("%+v", e)
			}
		}
		call := do(deed{Do: "echo"})
		call.Program = prog
		_, err := p.Run(context.Background(), call)
		wantCode(t, err, sandbox.SyntaxError)
		if n.Load() != 1 {
			t.Errorf("the code was read %d times", n.Load())
		}
	})

	t.Run("what the machine lacks is tried again", func(t *testing.T) {
		var n atomic.Int32
		prog := counted(hostileCode("unavailable"), &n)
		for range 2 {
			_, err := p.Check(context.Background(), "ada", prog)
			if e := wantCode(t, err, sandbox.Unavailable); !e.Retryable() {
				t.Error("it is not retryable")
			}
		}
		if n.Load() != 2 {
			t.Errorf("the code was read %d times", n.Load())
		}
	})

	t.Run("no guest of the kind is no verdict", func(t *testing.T) {
		_, err := p.Check(context.Background(), "ada", sandbox.Program{Kind: "cobol", SHA256: sha256.Sum256(nil), Code: func(context.Context, func([]byte) error) error { return nil }})
		wantCode(t, err, sandbox.Unavailable)
	})

	t.Run("a compiler that takes too much memory or panics is the program's doing", func(t *testing.T) {
		for _, code := range []string{"alloc", "panic"} {
			_, err := p.Check(context.Background(), "ada", hostileCode(code))
			wantCode(t, err, sandbox.CompileLimit)
		}
	})

	t.Run("a compiler that gets no CPU is no verdict", func(t *testing.T) {
		sandbox.SetCompileWall(t, 200*time.Millisecond)
		_, err := p.Check(context.Background(), "ada", hostileCode("sleep"))
		if e := wantCode(t, err, sandbox.Unavailable); !e.Retryable() {
			t.Error("it is not retryable")
		}
	})

	t.Run("a check that is cancelled is no verdict, and those who wait with it go on", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		reading := make(chan struct{})
		first := hostileCode("good as well")
		first.Code = func(ctx context.Context, _ func([]byte) error) error {
			close(reading)
			<-ctx.Done()
			return ctx.Err()
		}
		var checks sync.WaitGroup
		checks.Go(func() {
			_, err := p.Check(ctx, "ada", first)
			wantCode(t, err, sandbox.Cancelled)
		})
		<-reading
		checks.Go(func() {
			if _, err := p.Check(context.Background(), "ada", hostileCode("good as well")); err != nil {
				t.Error(err)
			}
		})
		cancel()
		checks.Wait()
	})

	t.Run("a tenant's hard programs hold up no other's", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		var checks sync.WaitGroup
		for i := range 8 {
			checks.Go(func() {
				_, err := p.Check(ctx, "mallory", hostileCode(fmt.Sprintf("loop %d", i)))
				wantCode(t, err, sandbox.Cancelled)
			})
		}
		waitFor(t, func() bool {
			for i := range 8 {
				code := fmt.Sprintf("hostile-%x", sha256.Sum256(fmt.Appendf(nil, "loop %d", i)))
				if found, _ := filepath.Glob(filepath.Join(dir, "*", "code", code)); len(found) == 1 {
					return true
				}
			}
			return false
		})
		if _, err := p.Check(context.Background(), "ada", hostileCode("good while others loop")); err != nil {
			t.Error(err)
		}
		cancel()
		checks.Wait()
	})

	t.Run("a compiler that loops ends with its context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		var checks sync.WaitGroup
		checks.Go(func() {
			_, err := p.Check(ctx, "ada", hostileCode("loop"))
			wantCode(t, err, sandbox.Cancelled)
		})
		waitFor(t, func() bool {
			found, err := filepath.Glob(filepath.Join(dir, "*", "code", fmt.Sprintf("hostile-%x", sha256.Sum256([]byte("loop")))))
			return err == nil && len(found) == 1
		})
		cancel()
		checks.Wait()
	})

	t.Run("code of another sha256 is not run", func(t *testing.T) {
		prog := hostileCode("good")
		prog.SHA256[0]++
		_, err := p.Check(context.Background(), "ada", prog)
		wantCode(t, err, sandbox.Unavailable)
	})

	t.Run("code that is too large is refused before all of it was read", func(t *testing.T) {
		part, parts := make([]byte, 1<<20), 0
		_, err := p.Check(context.Background(), "ada", sandbox.Program{Kind: sandbox.KindWASM, Code: func(_ context.Context, write func([]byte) error) error {
			for ; ; parts++ {
				if err := write(part); err != nil {
					return fmt.Errorf("part %d: %w", parts, err)
				}
			}
		}})
		wantCode(t, err, sandbox.ModuleTooLarge)
		if parts != 16 {
			t.Errorf("refused after %d MB", parts)
		}
	})

	t.Run("code that cannot be read is no verdict", func(t *testing.T) {
		prog := hostileCode("unread")
		prog.Code = func(context.Context, func([]byte) error) error { return errors.New("no database") }
		_, err := p.Check(context.Background(), "ada", prog)
		wantCode(t, err, sandbox.Unavailable)
	})

	t.Run("a module that is none is invalid", func(t *testing.T) {
		_, err := p.Check(context.Background(), "ada", module([]byte("\x00asm\x01\x00\x00\x00\xff")))
		if e := wantCode(t, err, sandbox.InvalidModule); e.Offset == 0 {
			t.Errorf("%+v was not found before a child decodes it", e)
		}
	})

	t.Run("a module that would kill a decoder never meets one", func(t *testing.T) {
		code := append([]byte("\x00asm\x01\x00\x00\x00\x01\x05"), "\xff\xff\xff\xff\x0f"...) // 4G types
		_, err := p.Check(context.Background(), "ada", module(code))
		var e *sandbox.Error
		if !errors.As(err, &e) || e.Retryable() || e.Code == sandbox.CompileLimit {
			t.Errorf("%v", err)
		}
	})

	t.Run("a compiled program that is gone is compiled again", func(t *testing.T) {
		code := execute([]byte{0x41, 0x2a}) // i32.const 42
		if _, err := p.Check(context.Background(), "ada", module(code)); err != nil {
			t.Fatal(err)
		}
		found, err := filepath.Glob(filepath.Join(dir, "*", "compiled", fmt.Sprintf("wasm-%x", sha256.Sum256(code)), "outline", "*", "*"))
		if err != nil || len(found) != 1 {
			t.Fatalf("%v, %v", found, err)
		}
		if err := os.Remove(found[0]); err != nil {
			t.Fatal(err)
		}
		if r := mustRun(t, p, run(code, `null`)); string(r.Output) != "42" {
			t.Errorf("output %s", r.Output)
		}
	})
}

func TestCacheIsBounded(t *testing.T) {
	var dir string
	const most = 1 << 20
	p := newPool(t, func(c *sandbox.Config) { dir, c.CacheBytes = c.Dir, most })
	for i := range 8 {
		code := fmt.Sprintf("%d %s", i, bytes.Repeat([]byte("x"), 200<<10)) // twice: as code and as the guest's entry
		call := do(deed{Do: "echo"})
		call.Program = hostileCode(code)
		mustRun(t, p, call)
	}
	var size int64
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil || size > most+100<<10 || size < most/2 {
		t.Errorf("%d bytes, %v", size, err)
	}
	call := do(deed{Do: "echo"})
	call.Program = hostileCode(fmt.Sprintf("0 %s", bytes.Repeat([]byte("x"), 200<<10)))
	mustRun(t, p, call) // it is gone from the cache, and comes again
}

// What a process that is gone left is removed, whatever its pid was: in a
// container that is its successor's too.
func TestSweep(t *testing.T) {
	dir := openDir(t)
	config := func(c *sandbox.Config) { c.Dir = dir }
	for _, name := range []string{"sandbox-999999999-1", fmt.Sprintf("sandbox-%d-1", os.Getpid()), "other"} {
		if err := os.MkdirAll(filepath.Join(dir, name, "code"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	names := func() (all []string) {
		found, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range found {
			all = append(all, d.Name())
		}
		return all
	}
	first := newPool(t, config)
	own := names()
	if len(own) != 2 || own[0] != "other" {
		t.Fatalf("there is %v", own)
	}
	second := newPool(t, config)
	if both := names(); len(both) != 3 || !slices.Contains(both, own[1]) {
		t.Errorf("there is %v, and %s is in use", both, own[1])
	}
	mustRun(t, first, do(deed{Do: "echo"}))
	mustRun(t, second, do(deed{Do: "echo"}))
}
