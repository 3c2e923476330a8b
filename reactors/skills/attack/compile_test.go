package attack_test

import (
	"slices"

	"github.com/helixd/helixd/reactors/sandbox"
)

// tooMuch are the codes of a module that takes a compiler too long, where the
// pre-validator may already say so.
var tooMuch = slices.Clip([]sandbox.Code{sandbox.CompileLimit, sandbox.ModuleTooLarge})

// compileModules are small, and take an optimising compiler minutes or gigabytes.
var compileModules = []attack{
	// Each block joins all locals anew: locals × blocks phis.
	ends("5,000 locals set in 5,000 branches", func() []byte {
		var body []byte
		for n := range 5_000 {
			body = append(body, cat(localGet, n, ifThen, empty, localGet, 4_999-n, c32(1), add32, localSet, n, end)...)
		}
		return withLocals(5_000, i32, body, localGet, 0)
	}, tooMuch...),
	ends("a million nested blocks", func() []byte {
		return execute(repeat(1_000_000, block, empty), repeat(1_000_000, end), c32(1))
	}, append(tooMuch, sandbox.InvalidModule)...),
	ends("50,000 nested loops", func() []byte {
		return execute(repeat(50_000, loop, empty), repeat(50_000, end), c32(1))
	}, append(tooMuch, sandbox.InvalidModule)...),
	ends("br_table of a million", func() []byte {
		return execute(block, empty, c32(0), brTable, many(1_000_000, 0), 0, end, c32(1))
	}, tooMuch...).costly(),
	ends("br_tables of 100 over 100 blocks, 2,000 times", func() []byte {
		targets := []byte{}
		for n := range 100 {
			targets = append(targets, byte(n))
		}
		one := cat(repeat(100, block, empty), c32(0), brTable, 100, targets, 0, repeat(100, end))
		return execute(repeat(2_000, one), c32(1))
	}, tooMuch...).costly(),
	ends("br_tables that carry 500 values", func() []byte {
		wide := sig(nil, ops(500, i32))
		one := cat(block, typesGiven, repeat(500, c32(1)), c32(0), brTable, many(500, 0), 0, end, repeat(500, drop))
		return program{types: [][]byte{wide}}.execute(repeat(400, one), c32(1))
	}, tooMuch...),
	ends("calls with a thousand parameters and results", func() []byte {
		wide := sig(ops(1000, i64), ops(1000, i64))
		body := cat(repeat(1000, const64, 0), repeat(3_000, call, 0), repeat(1000, drop), c32(1))
		identity := []byte{}
		for n := range 1000 {
			identity = append(identity, cat(localGet, n)...)
		}
		return program{types: [][]byte{wide}, funcs: []fn{{typ: typesGiven, body: identity}}}.execute(body)
	}, tooMuch...),
	ends("one function of 7 MB", func() []byte {
		return execute(c32(1), repeat(2_300_000, c32(1), add32))
	}, tooMuch...),
	ends("300,000 loads in one expression", func() []byte {
		return execute(repeat(300_000, c32(0), load32, 2, 0), repeat(299_999, xor32))
	}, tooMuch...),
	ends("150,000 functions of a loop each", func() []byte {
		f := fn{typ: typeVoid, locals: locals(8, i64), body: cat(loop, empty, repeat(12, localGet, 0, localGet, 1, add64, localSet, 2), end)}
		return program{funcs: slicesOf(150_000, f)}.execute(c32(1))
	}, tooMuch...),
	// What the pre-validator lets through of everything, and no more.
	ends("9,999 nested loops over 9,999 locals", func() []byte {
		var set []byte
		for n := range 9_999 {
			set = append(set, cat(localGet, n, c32(1), add32, localSet, (n+1)%9_999)...)
		}
		return withLocals(9_999, i32, repeat(9_999, loop, empty), set, repeat(9_999, localGet, 0, brIf, 0, end), localGet, 0)
	}, append(tooMuch, sandbox.CPUTimeExceeded)...).costly(),
	{name: "fifteen functions of a megabyte", output: "1", expect: tooMuch, code: func() []byte {
		var body []byte
		for n := range 100_000 {
			body = append(body, cat(localGet, n%1_000, c32(1), add32, localSet, (n+7)%1_000)...)
		}
		f := fn{typ: typeVoid, locals: locals(1_000, i32), body: body}
		return program{funcs: slicesOf(15, f)}.execute(c32(1))
	}},
	{name: "table.fill 20,000 times", output: "1", long: true, expect: []sandbox.Code{sandbox.CompileLimit, sandbox.CPUTimeExceeded},
		code: bytesOf(program{table: cat(1, funcref, 0, 10_000)}.execute(
			repeat(20_000, c32(0), refNull, funcref, c32(10_000), prefixFC, 17, 0), c32(1)))},
}

// withLocals is a module whose execute has n locals of type t.
func withLocals(n int, t op, parts ...any) []byte {
	return program{}.function("execute", fn{typ: typeExecute, locals: locals(n, t), body: cat(parts...)})
}
