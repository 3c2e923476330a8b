package attack_test

import (
	"bytes"
	"fmt"
)

// The attacks are written in bytes: an assembler refuses to lie about a count.

// Instructions, as far as the attacks use them.
type op byte

const (
	unreachable  op = 0x00
	nop          op = 0x01
	block        op = 0x02
	loop         op = 0x03
	ifThen       op = 0x04
	end          op = 0x0b
	br           op = 0x0c
	brIf         op = 0x0d
	brTable      op = 0x0e
	ret          op = 0x0f
	call         op = 0x10
	callIndirect op = 0x11
	drop         op = 0x1a
	localGet     op = 0x20
	localSet     op = 0x21
	localTee     op = 0x22
	globalGet    op = 0x23
	globalSet    op = 0x24
	load32       op = 0x28
	load64       op = 0x29
	store32      op = 0x36
	store64      op = 0x37
	memorySize   op = 0x3f
	memoryGrow   op = 0x40
	const32      op = 0x41
	const64      op = 0x42
	constF64     op = 0x44
	eqz32        op = 0x45
	ltU32        op = 0x49
	add32        op = 0x6a
	sub32        op = 0x6b
	mul32        op = 0x6c
	divS32       op = 0x6d
	and32        op = 0x71
	or32         op = 0x72
	xor32        op = 0x73
	add64        op = 0x7c
	divU64       op = 0x80
	or64         op = 0x84
	shl64        op = 0x86
	extend32     op = 0xad // i64.extend_i32_u
	truncF64     op = 0xaa // i32.trunc_f64_s
	refNull      op = 0xd0
	prefixFC     op = 0xfc
	prefixFE     op = 0xfe
)

// Types.
const (
	empty   op = 0x40
	i32     op = 0x7f
	i64     op = 0x7e
	f32     op = 0x7d
	f64     op = 0x7c
	v128    op = 0x7b
	funcref op = 0x70
)

// u is n in unsigned LEB128, s in signed.
func u(n uint64) []byte {
	var b []byte
	for n >= 0x80 {
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
	return append(b, byte(n))
}

func s(n int64) []byte {
	var b []byte
	for {
		low := byte(n & 0x7f)
		n >>= 7
		if n == 0 && low&0x40 == 0 || n == -1 && low&0x40 != 0 {
			return append(b, low)
		}
		b = append(b, low|0x80)
	}
}

// cat joins: op is one byte, int an unsigned LEB128, string a length and its
// bytes, []byte itself.
func cat(parts ...any) []byte {
	var b []byte
	for _, part := range parts {
		switch part := part.(type) {
		case op:
			b = append(b, byte(part))
		case int:
			b = append(b, u(uint64(part))...)
		case string:
			b = append(append(b, u(uint64(len(part)))...), part...)
		case []byte:
			b = append(b, part...)
		case [][]byte:
			b = append(b, vec(part)...)
		default:
			panic(fmt.Sprintf("cat: %T", part))
		}
	}
	return b
}

func repeat(n int, parts ...any) []byte { return bytes.Repeat(cat(parts...), n) }

// many is a vector of n equal items.
func many(n int, parts ...any) []byte { return cat(n, repeat(n, parts...)) }

func vec(items [][]byte) []byte { return cat(len(items), bytes.Join(items, nil)) }

func section(id op, parts ...any) []byte {
	content := cat(parts...)
	return cat(id, len(content), content)
}

// Sections.
const (
	customSection op = iota
	typeSection
	importSection
	functionSection
	tableSection
	memorySection
	globalSection
	exportSection
	startSection
	elementSection
	codeSection
	dataSection
	dataCountSection
)

func binary(sections ...[]byte) []byte {
	return append([]byte("\x00asm\x01\x00\x00\x00"), bytes.Join(sections, nil)...)
}

// sig is a function type.
func sig(params, results []op) []byte {
	return cat(op(0x60), valTypes(params), valTypes(results))
}

func valTypes(types []op) []byte {
	b := u(uint64(len(types)))
	for _, t := range types {
		b = append(b, byte(t))
	}
	return b
}

// ops is n times t, for long signatures.
func ops(n int, t op) []op {
	list := make([]op, n)
	for i := range list {
		list[i] = t
	}
	return list
}

// fn is a function: its type's index, its locals (count and type) and its body
// without the last end.
type fn struct {
	typ    int
	locals []byte // a vector; nil: none
	body   []byte
}

func (f fn) bytes() []byte {
	locals := f.locals
	if locals == nil {
		locals = []byte{0}
	}
	content := cat(locals, f.body, end)
	return cat(len(content), content)
}

func locals(n int, t op) []byte { return cat(1, n, t) }

// Types that every program begins with.
const (
	typeExecute = iota // () → i32
	typeVoid           // () → ()
	typeI32            // (i32) → i32
	typeRun            // (i32, i32) → i64
	typeHost           // (i32, i32, i32, i32) → i64
	typeFour           // (i32, i32, i32, i32) → i32
	typeTwo            // (i32, i32) → i32
	typeExit           // (i32) → ()
	typesGiven
)

// program is a module that is well formed, if hostile. Its functions come after
// its imports; the exports are the caller's.
type program struct {
	types   [][]byte
	imports [][]byte
	funcs   []fn
	table   []byte // the section's content
	memory  []byte // the section's content; nil: one page
	globals [][]byte
	exports [][]byte
	start   []byte
	elems   [][]byte
	datas   [][]byte
	custom  []byte
}

func (p program) bytes() []byte {
	types := append([][]byte{
		sig(nil, []op{i32}), sig(nil, nil), sig([]op{i32}, []op{i32}), sig([]op{i32, i32}, []op{i64}),
		sig(ops(4, i32), []op{i64}), sig(ops(4, i32), []op{i32}), sig(ops(2, i32), []op{i32}), sig([]op{i32}, nil),
	}, p.types...)
	var indexes, bodies [][]byte
	for _, f := range p.funcs {
		indexes, bodies = append(indexes, u(uint64(f.typ))), append(bodies, f.bytes())
	}
	memory := p.memory
	if memory == nil {
		memory = cat(1, op(0), 1)
	}
	sections := [][]byte{section(typeSection, types)}
	add := func(id op, content []byte) {
		if len(content) > 0 {
			sections = append(sections, section(id, content))
		}
	}
	add(importSection, vecOrNone(p.imports))
	add(functionSection, vecOrNone(indexes))
	add(tableSection, p.table)
	add(memorySection, memory)
	add(globalSection, vecOrNone(p.globals))
	add(exportSection, vecOrNone(p.exports))
	add(startSection, p.start)
	add(elementSection, vecOrNone(p.elems))
	add(codeSection, vecOrNone(bodies))
	add(dataSection, vecOrNone(p.datas))
	return append(binary(sections...), p.custom...)
}

func vecOrNone(items [][]byte) []byte {
	if len(items) == 0 {
		return nil
	}
	return vec(items)
}

// imp imports a function of a type.
func imp(module, name string, typ int) []byte { return cat(module, name, op(0), typ) }

func exportFunc(name string, index int) []byte { return cat(name, op(0), index) }

var exportMemory = cat("memory", op(2), 0)

// execute is a module whose execute is this body, ending with an i32 on the stack.
func execute(parts ...any) []byte { return program{}.execute(parts...) }

// execute adds execute as the last function.
func (p program) execute(parts ...any) []byte {
	return p.function("execute", fn{typ: typeExecute, body: cat(parts...)})
}

// command makes the last function _start, of a WASI command.
func (p program) command(parts ...any) []byte {
	return p.function("_start", fn{typ: typeVoid, body: cat(parts...)})
}

// function adds a function and exports it, and the memory.
func (p program) function(name string, f fn) []byte {
	p.exports = append([][]byte{exportMemory, exportFunc(name, len(p.imports)+len(p.funcs))}, p.exports...)
	p.funcs = append(p.funcs[:len(p.funcs):len(p.funcs)], f)
	return p.bytes()
}

// skill is a module of the skill_alloc and skill_run ABI.
func (p program) skill(alloc, run []byte) []byte {
	first := len(p.imports) + len(p.funcs)
	p.exports = append([][]byte{exportMemory, exportFunc("skill_alloc", first), exportFunc("skill_run", first+1)}, p.exports...)
	p.funcs = append(p.funcs[:len(p.funcs):len(p.funcs)], fn{typ: typeI32, body: alloc}, fn{typ: typeRun, body: run})
	return p.bytes()
}

// c32 is an i32.const.
func c32(n int64) []byte { return cat(const32, s(n)) }

// data is an active segment of memory 0 at an offset.
func data(offset int64, content string) []byte { return cat(op(0), c32(offset), end, content) }
