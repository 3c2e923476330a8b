package attack_test

import (
	"bytes"
	"slices"

	"github.com/helixd/helixd/reactors/sandbox"
)

// stackModules go deep.
var stackModules = []attack{
	ends("recursion", bytesOf(execute(call, 0)), sandbox.StackOverflow),
	ends("recursion with a thousand locals", func() []byte {
		return withLocals(1000, i64, repeat(1000, localGet, 0, localGet, 1, add64, localSet, 2), call, 0)
	}, sandbox.StackOverflow),
	ends("recursion with wide frames", func() []byte {
		wide := sig(ops(200, v128), ops(200, v128))
		var all []byte
		for n := range 200 {
			all = append(all, cat(localGet, n)...)
		}
		zero := cat(op(0xfd), 12, make([]byte, 16))
		return program{types: [][]byte{wide}, funcs: []fn{{typ: typesGiven, body: cat(all, call, 0)}}}.execute(
			bytes.Repeat(zero, 200), call, 0, repeat(200, drop), c32(1))
	}, sandbox.StackOverflow),
	ends("mutual recursion", bytesOf(program{funcs: []fn{{typ: typeExecute, body: cat(call, 1)}}}.execute(call, 0)), sandbox.StackOverflow),
	ends("recursion through a table", bytesOf(indirect(c32(0), callIndirect, typeExecute, 0)), sandbox.StackOverflow),
	ends("recursion at start", bytesOf(program{funcs: []fn{{typ: typeVoid, body: cat(call, 0)}}, start: u(0)}.execute(c32(1))), sandbox.StackOverflow),
	ends("recursion of _initialize", bytesOf(program{
		funcs: []fn{{typ: typeVoid, body: cat(call, 0)}}, exports: [][]byte{exportFunc("_initialize", 0)},
	}.skill(c32(8), cat(const64, 0))), sandbox.StackOverflow),
	ends("tail calls", bytesOf(execute(op(0x12), 0)), sandbox.InvalidModule, sandbox.CPUTimeExceeded),

	ends("indirect call of null", bytesOf(program{table: cat(1, funcref, 0, 1)}.execute(c32(0), callIndirect, typeExecute, 0)), sandbox.Trap),
	ends("indirect call past the table", bytesOf(indirect(c32(-1), callIndirect, typeExecute, 0)), sandbox.Trap),
	ends("indirect call of another type", bytesOf(indirect(c32(0), callIndirect, typeVoid, 0, c32(1))), sandbox.Trap),
	ends("unreachable", bytesOf(execute(unreachable)), sandbox.Trap),
	ends("division by zero", bytesOf(execute(c32(1), c32(0), divS32)), sandbox.Trap),
	ends("division that overflows", bytesOf(execute(c32(-1<<31), c32(-1), divS32)), sandbox.Trap),
	ends("not a number as an integer", bytesOf(execute(constF64, []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x7f}, truncF64)), sandbox.Trap),
	ends("unreachable at start", bytesOf(program{funcs: []fn{{typ: typeVoid, body: cat(unreachable)}}, start: u(0)}.execute(c32(1))), sandbox.Trap),
}

// cpuModules never end, with loops and without.
var cpuModules = []attack{
	ends("loop", bytesOf(execute(loop, empty, br, 0, end, c32(1))), sandbox.CPUTimeExceeded),
	ends("loop by br_table", bytesOf(execute(loop, empty, c32(0), brTable, 2, 0, 0, 0, end, c32(1))), sandbox.CPUTimeExceeded),
	ends("loop of divisions", bytesOf(execute(loop, empty, const64, s(-1), const64, 3, divU64, drop, br, 0, end, c32(1))), sandbox.CPUTimeExceeded),
	ends("loop of calls", bytesOf(program{funcs: []fn{{typ: typeVoid}}}.execute(loop, empty, call, 0, br, 0, end, c32(1))), sandbox.CPUTimeExceeded),
	ends("loop of indirect calls", bytesOf(program{
		funcs: []fn{{typ: typeVoid}}, table: cat(1, funcref, 0, 1), elems: [][]byte{cat(0, c32(0), end, many(1, 0))},
	}.execute(loop, empty, c32(0), callIndirect, typeVoid, 0, br, 0, end, c32(1))), sandbox.CPUTimeExceeded),
	ends("loop over memory", bytesOf(program{memory: cat(1, 0, 2048), globals: [][]byte{cat(i32, 1, c32(0), end)}}.execute(
		loop, empty, globalGet, 0, c32(4096+4), add32, c32(128*mega-4), and32, globalSet, 0,
		globalGet, 0, c32(1), store32, 2, 0, br, 0, end, c32(1))), sandbox.CPUTimeExceeded),
	ends("loop at start", bytesOf(program{funcs: []fn{{typ: typeVoid, body: cat(loop, empty, br, 0, end)}}, start: u(0)}.execute(c32(1))), sandbox.CPUTimeExceeded),
	ends("loop in _initialize", bytesOf(program{
		funcs: []fn{{typ: typeVoid, body: cat(loop, empty, br, 0, end)}}, exports: [][]byte{exportFunc("_initialize", 0)},
	}.skill(c32(8), cat(const64, 0))), sandbox.CPUTimeExceeded),
	ends("loop in a command", bytesOf(program{}.command(loop, empty, br, 0, end)), sandbox.CPUTimeExceeded),
	ends("atomic loop", bytesOf(execute(loop, empty, c32(0), c32(1), prefixFE, 0x1e, 2, 0, drop, br, 0, end, c32(1))), sandbox.InvalidModule),
	ends("wait for an atomic", bytesOf(execute(c32(0), c32(0), const64, s(-1), prefixFE, 1, 2, 0)), sandbox.InvalidModule),

	// Without a loop: nothing that a compiler inserts into loops or calls ends these in time.
	ends("calls of calls, 2⁶⁰ of them", callsOfCalls, sandbox.CPUTimeExceeded),
	ends("calls of calls through a table", func() []byte {
		var funcs []fn
		var indexes []byte
		for n := range 40 {
			body := cat(c32(int64(n-1)), callIndirect, typeVoid, 0)
			if n == 0 {
				body = nil
			}
			funcs, indexes = append(funcs, fn{typ: typeVoid, body: slices.Concat(body, body)}), append(indexes, byte(n))
		}
		return program{funcs: funcs, table: cat(1, funcref, 0, 40), elems: [][]byte{cat(0, c32(0), end, 40, indexes)}}.execute(call, 39, c32(1))
	}, sandbox.CPUTimeExceeded),
	ends("memory.fill in a straight line", bytesOf(program{memory: cat(1, 0, 2048)}.execute(
		repeat(2_000, c32(0), c32(1), c32(128*mega), memoryFill), c32(1))), sandbox.CPUTimeExceeded),
	ends("memory.copy in a straight line", bytesOf(program{memory: cat(1, 0, 2048)}.execute(
		repeat(2_000, c32(1), c32(0), c32(128*mega-1), memoryCopy), c32(1))), sandbox.CPUTimeExceeded),
	ends("table.fill in a straight line", bytesOf(program{table: cat(1, funcref, 0, 1_000_000)}.execute(
		repeat(10_000, c32(0), refNull, funcref, c32(1_000_000), prefixFC, 17, 0), c32(1))), sandbox.CPUTimeExceeded),
	ends("a thousand nested loops", func() []byte {
		var set []byte
		for n := range 1_000 {
			set = append(set, cat(localGet, n, c32(1), add32, localSet, (n+1)%1_000)...)
		}
		return withLocals(1_000, i32, repeat(1_000, loop, empty), set, repeat(1_000, localGet, 0, brIf, 0, end), localGet, 0)
	}, sandbox.CPUTimeExceeded),

	{name: "loop at the defaults", code: bytesOf(execute(loop, empty, br, 0, end, c32(1))),
		expect: []sandbox.Code{sandbox.CPUTimeExceeded, sandbox.WallTimeExceeded}, defaults: true},
	{name: "calls of calls at the defaults", code: callsOfCalls, expect: []sandbox.Code{sandbox.CPUTimeExceeded, sandbox.WallTimeExceeded}, defaults: true},
}

// callsOfCalls calls a function that calls one twice that calls one twice…
func callsOfCalls() []byte {
	funcs := []fn{{typ: typeVoid}}
	for n := range 60 {
		funcs = append(funcs, fn{typ: typeVoid, body: repeat(2, call, n)})
	}
	return program{funcs: funcs}.execute(call, 60, c32(1))
}

// indirect is a module whose execute has this body and is element 0 of a table.
func indirect(parts ...any) []byte {
	return program{table: cat(1, funcref, 0, 1), elems: [][]byte{cat(0, c32(0), end, many(1, 0))}}.execute(parts...)
}
