package wasm_test

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/sandbox/precheck"
	"github.com/helixd/helixd/reactors/sandbox/wasm"
	. "github.com/helixd/helixd/reactors/sandbox/wasmtest"
)

// TestHostFunctionsTakeAnyOperands calls every function that can be imported with
// foreign numbers on foreign memory: it answers, or ends the run with an error of
// ours, and never with a panic of Go.
func TestHostFunctionsTakeAnyOperands(t *testing.T) {
	operand := rapid.OneOf(
		rapid.Int64Range(0, 3),
		rapid.Int64Range(0, 2*65536),
		rapid.SampledFrom([]int64{-1, -4, -8, -48, 65528, 65532, 65535, 65536, math.MaxInt32, math.MinInt32, 0x05555556, 0x08000001, 0x20000000, math.MaxInt64, math.MinInt64}),
		rapid.Int64(),
	)
	for name, signature := range wasm.HostSignatures() {
		t.Run(name[0]+"."+name[1], func(t *testing.T) {
			m := &Module{}
			var types [2]Types
			for i := range types {
				for _, typ := range signature[i] {
					types[i] = append(types[i], Type(typ))
				}
			}
			f := m.Import(name[0], name[1], types[0], types[1])
			// The input says what memory begins with, and the operands.
			read := m.Import("wasi_snapshot_preview1", "fd_read", Types{I32, I32, I32, I32}, Types{I32})
			m.Memory(1)
			m.Data(65000, []byte{0, 0, 0, 0, 0xe8, 0xfd, 0, 0}) // a vector of 65,000 bytes from 0 on
			body := [][]byte{I32Const(0), I32Const(65000), I32Const(1), I32Const(65100), Call(read), Drop}
			for i, typ := range types[0] {
				if typ == I64 {
					body = append(body, I32Const(int32(8*i)), I64Load(0))
				} else {
					body = append(body, I32Const(int32(8*i)), I32Load(0))
				}
			}
			body = append(body, Call(f))
			for range types[1] {
				body = append(body, Drop)
			}
			m.ExportFunc("_start", m.Func("", nil, nil, nil, body...))
			if err := precheck.Check(bytes.NewReader(m.Bytes()), int64(len(m.Bytes()))); err != nil {
				t.Fatalf("no module that imports it comes here: %v", err)
			}
			loaded := load(t, m.Bytes())
			rapid.Check(t, func(rt *rapid.T) {
				var input []byte
				for range types[0] {
					v := operand.Draw(rt, "operand")
					for i := range 8 {
						input = append(input, byte(v>>(8*i)))
					}
				}
				input = append(input, rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(rt, "memory")...)
				o := run(t, loaded, string(input), func(e *sandbox.Env) { e.Limits.Wall = time.Millisecond })
				if o.err != nil && (strings.Contains(o.err.Message, "runtime error") || strings.Contains(o.err.Message, "recovered")) {
					rt.Fatalf("%v", o.err)
				}
			})
		})
	}
}
