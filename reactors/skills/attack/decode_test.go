package attack_test

import (
	"bytes"

	"github.com/helixd/helixd/reactors/sandbox"
)

// huge is a count that makes a decoder allocate 4 G of anything.
const huge = 1<<32 - 1

// lying is a module whose one section of this number claims so many items.
func lying(id op, n int) []byte { return binary(section(id, n)) }

// oneFunction is a module of one function () → () with this body, locals included.
func oneFunction(body ...any) []byte {
	content := cat(body...)
	return binary(section(typeSection, 1, sig(nil, nil)), section(functionSection, 1, 0),
		section(exportSection, 1, exportFunc("execute", 0)), section(codeSection, 1, len(content), content))
}

// decodeModules are aimed at whatever parses a module.
var decodeModules = []attack{
	ends("empty file", bytesOf(nil), sandbox.InvalidModule),
	ends("magic alone", bytesOf([]byte("\x00asm")), sandbox.InvalidModule),
	ends("version 2", bytesOf([]byte("\x00asm\x02\x00\x00\x00")), sandbox.InvalidModule),
	ends("component", bytesOf([]byte("\x00asm\x0d\x00\x01\x00")), sandbox.InvalidModule),
	ends("executable", bytesOf([]byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00")), sandbox.InvalidModule),
	ends("no sections", bytesOf(binary()), sandbox.MissingExport),

	// 14 bytes each: a vector's count goes into make().
	ends("types count", bytesOf(lying(typeSection, huge)), sandbox.ModuleTooLarge, sandbox.InvalidModule),
	ends("imports count", bytesOf(lying(importSection, huge)), sandbox.ModuleTooLarge, sandbox.InvalidModule),
	ends("functions count", bytesOf(lying(functionSection, huge)), sandbox.ModuleTooLarge, sandbox.InvalidModule),
	ends("tables count", bytesOf(lying(tableSection, huge)), sandbox.ModuleTooLarge, sandbox.InvalidModule),
	ends("memories count", bytesOf(lying(memorySection, huge)), sandbox.ModuleTooLarge, sandbox.InvalidModule),
	ends("globals count", bytesOf(lying(globalSection, huge)), sandbox.ModuleTooLarge, sandbox.InvalidModule),
	ends("exports count", bytesOf(lying(exportSection, huge)), sandbox.ModuleTooLarge, sandbox.InvalidModule),
	ends("elements count", bytesOf(lying(elementSection, huge)), sandbox.ModuleTooLarge, sandbox.InvalidModule),
	ends("codes count", bytesOf(lying(codeSection, huge)), sandbox.ModuleTooLarge, sandbox.InvalidModule),
	ends("datas count", bytesOf(lying(dataSection, huge)), sandbox.ModuleTooLarge, sandbox.InvalidModule),
	ends("data count", bytesOf(lying(dataCountSection, huge)), sandbox.ModuleTooLarge, sandbox.InvalidModule),
	ends("params count", bytesOf(binary(section(typeSection, 1, op(0x60), huge))), sandbox.ModuleTooLarge, sandbox.InvalidModule),
	ends("results count", bytesOf(binary(section(typeSection, 1, op(0x60), 0, huge))), sandbox.ModuleTooLarge, sandbox.InvalidModule),
	ends("locals count", bytesOf(oneFunction(1, huge, i64, end)), sandbox.ModuleTooLarge, sandbox.InvalidModule),
	ends("locals groups count", bytesOf(oneFunction(huge, end)), sandbox.ModuleTooLarge, sandbox.InvalidModule),
	ends("locals sum overflows", bytesOf(oneFunction(4, repeat(4, 1<<30, i64), end)), sandbox.ModuleTooLarge, sandbox.InvalidModule),
	ends("locals in many groups", bytesOf(oneFunction(many(60_000, 40_000, i64), end)), sandbox.ModuleTooLarge, sandbox.InvalidModule),
	ends("br_table count", bytesOf(oneFunction(0, c32(0), brTable, huge, end)), sandbox.ModuleTooLarge, sandbox.InvalidModule),
	ends("select types count", bytesOf(oneFunction(0, op(0x1c), huge, end)), sandbox.ModuleTooLarge, sandbox.InvalidModule),
	ends("element functions count", bytesOf(binary(section(tableSection, 1, funcref, 0, 1), section(elementSection, 1, 0, c32(0), end, huge))),
		sandbox.ModuleTooLarge, sandbox.InvalidModule),
	ends("data length", bytesOf(binary(section(memorySection, 1, 0, 1), section(dataSection, 1, 0, c32(0), end, huge))),
		sandbox.ModuleTooLarge, sandbox.InvalidModule),
	ends("import name length", bytesOf(binary(section(importSection, 1, huge))), sandbox.UnsupportedImport, sandbox.InvalidModule),
	ends("section past the end", bytesOf(binary(cat(typeSection, huge))), sandbox.ModuleTooLarge, sandbox.InvalidModule),
	ends("number of eleven bytes", bytesOf(binary(cat(typeSection, bytes.Repeat([]byte{0x80}, 11)))), sandbox.InvalidModule),
	ends("section twice", bytesOf(binary(section(typeSection, 0), section(typeSection, 0))), sandbox.InvalidModule),
	ends("sections in disorder", bytesOf(binary(section(memorySection, 1, 0, 1), section(typeSection, 0))), sandbox.InvalidModule),
	ends("unknown section", bytesOf(binary(section(0x7f, "x"))), sandbox.InvalidModule),
	ends("tags", bytesOf(binary(section(13, 1, 0, 0))), sandbox.InvalidModule),

	// The name section is decoded for stack traces.
	ends("function names count", nameBomb(1, huge), sandbox.ModuleTooLarge, sandbox.InvalidModule),
	ends("local names count", nameBomb(2, huge), sandbox.ModuleTooLarge, sandbox.InvalidModule),
	ends("local names nested count", nameBomb(2, 1, 0, huge), sandbox.ModuleTooLarge, sandbox.InvalidModule),
	contained("custom section of 15 MB", "7", func() []byte {
		return append(execute(c32(7)), section(customSection, "x", make([]byte, 15<<20))...)
	}),
	ends("100,000 custom sections", func() []byte {
		return append(execute(c32(7)), bytes.Repeat(section(customSection, "producers"), 100_000)...)
	}, sandbox.ModuleTooLarge),
	ends("module over 16 MB", func() []byte {
		return append(execute(c32(7)), section(customSection, "x", make([]byte, 17<<20))...)
	}, sandbox.ModuleTooLarge),

	// Honest counts, of what nobody needs.
	ends("a million types", func() []byte {
		return program{types: slicesOf(1_000_000, sig(nil, nil))}.execute(c32(1))
	}, sandbox.ModuleTooLarge),
	ends("types of a thousand params", func() []byte {
		return program{types: slicesOf(10_000, sig(ops(1000, i64), ops(500, i64)))}.execute(c32(1))
	}, sandbox.ModuleTooLarge),
	ends("a million imports", func() []byte {
		return program{imports: slicesOf(500_000, imp("helix", "call", typeHost))}.execute(c32(1))
	}, sandbox.ModuleTooLarge),
	ends("a million functions", func() []byte {
		return program{funcs: slicesOf(1_000_000, fn{typ: typeVoid})}.execute(c32(1))
	}, sandbox.ModuleTooLarge, sandbox.CompileLimit),
	ends("a million exports", func() []byte {
		var exports [][]byte
		for n := range 1_000_000 {
			exports = append(exports, exportFunc(string(u(uint64(n)))+"x", 0))
		}
		return program{exports: exports}.execute(c32(1))
	}, sandbox.ModuleTooLarge, sandbox.InvalidModule),
	ends("a million globals", func() []byte {
		return program{globals: slicesOf(1_000_000, cat(i64, 0, const64, 0, end))}.execute(c32(1))
	}, sandbox.ModuleTooLarge),
	ends("a million data segments", func() []byte {
		return program{datas: slicesOf(1_000_000, cat(1, 0))}.execute(c32(1))
	}, sandbox.ModuleTooLarge),
	ends("a million element segments", func() []byte {
		return program{table: cat(1, funcref, 0, 1), elems: slicesOf(1_000_000, cat(0, c32(0), end, 0))}.execute(c32(1))
	}, sandbox.ModuleTooLarge),
	ends("elements ten million", func() []byte {
		return program{table: cat(1, funcref, 0, 10_000_000), elems: [][]byte{cat(0, c32(0), end, many(10_000_000, 0))}}.execute(c32(1))
	}, sandbox.ModuleTooLarge, sandbox.MemoryExceeded),
	ends("table of 4 G", bytesOf(program{table: cat(1, funcref, 0, huge)}.execute(c32(1))), sandbox.ModuleTooLarge, sandbox.MemoryExceeded),
	ends("table of 100 M", bytesOf(program{table: cat(1, funcref, 0, 100_000_000)}.execute(c32(1))), sandbox.ModuleTooLarge, sandbox.MemoryExceeded),
	ends("a thousand tables of 100,000", bytesOf(program{table: many(1000, funcref, 0, 100_000)}.execute(c32(1))),
		sandbox.ModuleTooLarge, sandbox.MemoryExceeded),
	ends("memory of 4 GB", bytesOf(program{memory: cat(1, 0, 65536)}.execute(c32(1))), sandbox.MemoryExceeded, sandbox.ModuleTooLarge),
	ends("memory of 129 MB", bytesOf(program{memory: cat(1, 0, 2064)}.execute(c32(1))), sandbox.MemoryExceeded, sandbox.InvalidModule),
	ends("memory past 4 GB", bytesOf(program{memory: cat(1, 0, 65537)}.execute(c32(1))), sandbox.InvalidModule, sandbox.ModuleTooLarge),
	ends("memory minimum over maximum", bytesOf(program{memory: cat(1, 1, 2, 1)}.execute(c32(1))), sandbox.InvalidModule, sandbox.ModuleTooLarge),
	ends("two memories", bytesOf(program{memory: many(2, 0, 1)}.execute(c32(1))), sandbox.InvalidModule, sandbox.ModuleTooLarge),
	ends("shared memory", bytesOf(program{memory: cat(1, 3, 1, 1)}.execute(c32(1))), sandbox.InvalidModule),
	ends("memory of 64 bits", bytesOf(program{memory: cat(1, 4, 1)}.execute(c32(1))), sandbox.InvalidModule),

	ends("types do not match", bytesOf(execute(cat(const64, 0))), sandbox.InvalidModule),
	ends("stack is empty", bytesOf(execute(add32)), sandbox.InvalidModule),
	ends("branch out of the function", bytesOf(execute(br, 99, c32(1))), sandbox.InvalidModule),
	ends("local that is not there", bytesOf(execute(localGet, 99)), sandbox.InvalidModule),
	ends("call of what is not there", bytesOf(execute(call, 99, c32(1))), sandbox.InvalidModule),
	ends("export of what is not there", bytesOf(program{exports: [][]byte{exportFunc("x", 99)}}.execute(c32(1))), sandbox.InvalidModule),
	ends("export twice", bytesOf(program{exports: [][]byte{exportFunc("x", 0), exportFunc("x", 0)}}.execute(c32(1))), sandbox.InvalidModule),
	ends("start takes parameters", bytesOf(program{start: u(0)}.execute(c32(1))), sandbox.InvalidModule),
	ends("export name is not UTF-8", bytesOf(program{exports: [][]byte{exportFunc("\xff\xfe", 0)}}.execute(c32(1))), sandbox.InvalidModule),
	ends("body ends early", bytesOf(oneFunction(0, block, empty)), sandbox.InvalidModule),
	ends("execute takes parameters", bytesOf(program{}.function("execute", fn{typ: typeI32, body: cat(localGet, 0)})), sandbox.MissingExport, sandbox.InvalidModule),
	ends("execute is a memory", bytesOf(program{exports: [][]byte{cat("execute", op(2), 0)}}.bytes()), sandbox.MissingExport),
}

// nameBomb is a good module with a name section whose subsection is this.
func nameBomb(subsection op, parts ...any) func() []byte {
	content := cat(parts...)
	return bytesOf(append(execute(c32(7)), section(customSection, "name", subsection, len(content), content)...))
}

func slicesOf[T any](n int, item T) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = item
	}
	return list
}
