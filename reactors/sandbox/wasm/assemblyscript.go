package wasm

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"unicode/utf16"

	"github.com/tetratelabs/wazero/api"

	"github.com/helixd/helixd/reactors/sandbox"
)

// envFuncs are what modules of AssemblyScript import unless told otherwise.
var envFuncs = map[string]hostFunc{
	// abort(message, file string, line, column u32)
	"abort": {[]api.ValueType{i32, i32, i32, i32}, nil, func(c *call, mod api.Module, s []uint64) {
		mem := c.memoryOf(mod)
		message := "the module aborted"
		if text := scriptString(mem, s[0]); text != "" {
			message += ": " + text
		}
		if file := scriptString(mem, s[1]); file != "" {
			message += fmt.Sprintf(" (%s:%d:%d)", file, s[2], s[3])
		}
		panic(&sandbox.Error{Code: sandbox.Trap, Message: message, Line: int(s[2]), Column: int(s[3])})
	}},
	// seed() f64 seeds Math.random
	"seed": {nil, []api.ValueType{f64}, func(c *call, _ api.Module, s []uint64) {
		s[0] = api.EncodeF64(rand.New(c.random).Float64())
	}},
}

// scriptString reads a string of AssemblyScript: UTF-16, with its length in bytes
// in the four before it.
func scriptString(mem mem, ptr uint64) string {
	if ptr < 4 {
		return ""
	}
	header, ok := mem.at(ptr-4, 4)
	if !ok {
		return ""
	}
	b, ok := mem.at(ptr, uint64(min(binary.LittleEndian.Uint32(header), 400)))
	if !ok {
		return ""
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return bounded(string(utf16.Decode(units)))
}
