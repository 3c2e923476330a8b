package wasmtest

import (
	"encoding/binary"
	"math"
)

// Instructions without an operand, to be used as they are in a body.
var (
	Unreachable = []byte{0x00}
	End         = []byte{0x0b}
	Drop        = []byte{0x1a}
	MemoryGrow  = []byte{0x40, 0x00}
	I32Eq       = []byte{0x46}
	I32Add      = []byte{0x6a}
	I32Sub      = []byte{0x6b}
	I32DivS     = []byte{0x6d}
	I64ExtendU  = []byte{0xad} // i64.extend_i32_u
	I64Or       = []byte{0x84}
	I64Shl      = []byte{0x86}
)

// Op is any instruction, as bytes.
func Op(b ...byte) []byte { return b }

func I32Const(v int32) []byte { return append([]byte{0x41}, sleb(int64(v))...) }
func I64Const(v int64) []byte { return append([]byte{0x42}, sleb(v)...) }

func F32Const(v float32) []byte {
	return binary.LittleEndian.AppendUint32([]byte{0x43}, math.Float32bits(v))
}

func F64Const(v float64) []byte {
	return binary.LittleEndian.AppendUint64([]byte{0x44}, math.Float64bits(v))
}

func LocalGet(i uint32) []byte  { return op(0x20, i) }
func LocalSet(i uint32) []byte  { return op(0x21, i) }
func LocalTee(i uint32) []byte  { return op(0x22, i) }
func GlobalGet(i uint32) []byte { return op(0x23, i) }
func GlobalSet(i uint32) []byte { return op(0x24, i) }
func Call(i uint32) []byte      { return op(0x10, i) }
func Br(depth uint32) []byte    { return op(0x0c, depth) }
func BrIf(depth uint32) []byte  { return op(0x0d, depth) }

// CallIndirect calls through table 0.
func CallIndirect(typ uint32) []byte { return append(op(0x11, typ), 0x00) }

// Loop and If begin a block without a result; each needs an End.
func Loop() []byte { return []byte{0x03, 0x40} }
func If() []byte   { return []byte{0x04, 0x40} }

// Loads and stores, at an offset from the address on the stack.
func I32Load(offset uint32) []byte   { return mem(0x28, offset) }
func I64Load(offset uint32) []byte   { return mem(0x29, offset) }
func I32Load8U(offset uint32) []byte { return mem(0x2d, offset) }
func I32Store(offset uint32) []byte  { return mem(0x36, offset) }

func op(code byte, operand uint32) []byte {
	return append([]byte{code}, uleb(uint64(operand))...)
}

func mem(code byte, offset uint32) []byte {
	return append([]byte{code, 0x00}, uleb(uint64(offset))...)
}
