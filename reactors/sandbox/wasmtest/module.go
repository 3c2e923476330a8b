// Package wasmtest builds small WebAssembly modules for tests, so that no test
// needs an assembler on the machine. It checks nothing: a wrong module is what
// some tests want.
//
// Binary format: https://www.w3.org/TR/wasm-core-2/#binary-format%E2%91%A0
package wasmtest

import (
	"encoding/binary"
	"slices"
)

// Type is a value type.
type Type byte

const (
	I32     Type = 0x7f
	I64     Type = 0x7e
	F32     Type = 0x7d
	F64     Type = 0x7c
	FuncRef Type = 0x70
)

// Types is a list of them, shorter to write at calls.
type Types []Type

// Module is a module under construction; its zero value is the empty one.
// Imports come before Funcs, since both count in one index space.
type Module struct {
	types, imports, funcs, tables, memories, globals, exports, elems, codes, data [][]byte

	importedFuncs uint32
	start         *uint32
	names         map[uint32]string
	customs       []byte
}

// Type gives the index of a function type.
func (m *Module) Type(params, results Types) uint32 {
	t := append([]byte{0x60}, vecOf(params)...)
	t = append(t, vecOf(results)...)
	for i, have := range m.types {
		if slices.Equal(have, t) {
			return uint32(i)
		}
	}
	m.types = append(m.types, t)
	return uint32(len(m.types) - 1)
}

// Import imports a function and gives its index.
func (m *Module) Import(module, name string, params, results Types) uint32 {
	m.imports = append(m.imports, slices.Concat(text(module), text(name), []byte{0x00}, uleb(uint64(m.Type(params, results)))))
	m.importedFuncs++
	return m.importedFuncs - 1
}

// Func adds a function and gives its index. The body needs no final end. A name
// that is not empty goes into the name section.
func (m *Module) Func(name string, params, results, locals Types, body ...[]byte) uint32 {
	index := m.importedFuncs + uint32(len(m.funcs))
	m.funcs = append(m.funcs, uleb(uint64(m.Type(params, results))))
	code := uleb(uint64(len(locals)))
	for _, l := range locals {
		code = append(code, 1, byte(l))
	}
	code = append(code, slices.Concat(body...)...)
	code = append(code, 0x0b)
	m.codes = append(m.codes, append(uleb(uint64(len(code))), code...))
	if name != "" {
		if m.names == nil {
			m.names = map[uint32]string{}
		}
		m.names[index] = name
	}
	return index
}

// Memory adds a memory of min pages, with at most one max.
func (m *Module) Memory(min uint32, max ...uint32) {
	m.memories = append(m.memories, limits(min, max))
}

// Table adds a table of funcref with min elements, with at most one max.
func (m *Module) Table(min uint32, max ...uint32) {
	m.tables = append(m.tables, append([]byte{byte(FuncRef)}, limits(min, max)...))
}

// Global adds a global and gives its index; init is an expression without end.
func (m *Module) Global(t Type, mutable bool, init []byte) uint32 {
	mut := byte(0)
	if mutable {
		mut = 1
	}
	m.globals = append(m.globals, slices.Concat([]byte{byte(t), mut}, init, []byte{0x0b}))
	return uint32(len(m.globals) - 1)
}

// Elem puts functions into table 0 from offset on.
func (m *Module) Elem(offset uint32, funcs ...uint32) {
	e := slices.Concat([]byte{0x00}, I32Const(int32(offset)), []byte{0x0b}, uleb(uint64(len(funcs))))
	for _, f := range funcs {
		e = append(e, uleb(uint64(f))...)
	}
	m.elems = append(m.elems, e)
}

// Data puts bytes into memory 0 from offset on.
func (m *Module) Data(offset uint32, content []byte) {
	m.data = append(m.data, slices.Concat([]byte{0x00}, I32Const(int32(offset)), []byte{0x0b}, uleb(uint64(len(content))), content))
}

// ExportFunc exports a function.
func (m *Module) ExportFunc(name string, index uint32) {
	m.exports = append(m.exports, slices.Concat(text(name), []byte{0x00}, uleb(uint64(index))))
}

// ExportMemory exports memory 0.
func (m *Module) ExportMemory(name string) {
	m.exports = append(m.exports, append(text(name), 0x02, 0x00))
}

// Start makes a function the start function.
func (m *Module) Start(index uint32) { m.start = &index }

// Custom adds a custom section.
func (m *Module) Custom(name string, content []byte) {
	m.customs = append(m.customs, section(0, append(text(name), content...))...)
}

// Bytes gives the module in binary form.
func (m *Module) Bytes() []byte {
	out := append([]byte(nil), Header...)
	vec := func(id byte, items [][]byte) {
		if len(items) > 0 {
			out = append(out, section(id, append(uleb(uint64(len(items))), slices.Concat(items...)...))...)
		}
	}
	vec(1, m.types)
	vec(2, m.imports)
	vec(3, m.funcs)
	vec(4, m.tables)
	vec(5, m.memories)
	vec(6, m.globals)
	vec(7, m.exports)
	if m.start != nil {
		out = append(out, section(8, uleb(uint64(*m.start)))...)
	}
	vec(9, m.elems)
	vec(10, m.codes)
	vec(11, m.data)
	if len(m.names) > 0 {
		var names []byte
		for i := range m.importedFuncs + uint32(len(m.funcs)) {
			if name, ok := m.names[i]; ok {
				names = append(append(names, uleb(uint64(i))...), text(name)...)
			}
		}
		names = append(uleb(uint64(len(m.names))), names...)
		out = append(out, section(0, append(text("name"), section(1, names)...))...)
	}
	return append(out, m.customs...)
}

// Header is the magic number and version 1.
var Header = []byte("\x00asm\x01\x00\x00\x00")

// section frames the content of a section.
func section(id byte, content []byte) []byte {
	return slices.Concat([]byte{id}, uleb(uint64(len(content))), content)
}

// uleb encodes an unsigned number.
func uleb(v uint64) []byte { return binary.AppendUvarint(nil, v) }

// sleb encodes a signed number.
func sleb(v int64) []byte {
	var out []byte
	for {
		b := byte(v & 0x7f)
		v >>= 7
		if (v == 0 && b&0x40 == 0) || (v == -1 && b&0x40 != 0) {
			return append(out, b)
		}
		out = append(out, b|0x80)
	}
}

func text(s string) []byte { return append(uleb(uint64(len(s))), s...) }

func vecOf(types Types) []byte {
	out := uleb(uint64(len(types)))
	for _, t := range types {
		out = append(out, byte(t))
	}
	return out
}

func limits(min uint32, max []uint32) []byte {
	if len(max) == 0 {
		return append([]byte{0x00}, uleb(uint64(min))...)
	}
	return slices.Concat([]byte{0x01}, uleb(uint64(min)), uleb(uint64(max[0])))
}
