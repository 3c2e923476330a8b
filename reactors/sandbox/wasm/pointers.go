package wasm

import (
	"encoding/binary"

	"github.com/tetratelabs/wazero/api"
)

// mem is the linear memory of a module as host functions see it. Pointers and
// sizes are i32 in the uint64 of a stack, and any of them may be out of range.
type mem struct{ memory api.Memory }

// memoryOf gives the module's memory. A module without one, for which wazero
// gives an api.Memory that panics, has no byte in range.
func (c *call) memoryOf(mod api.Module) mem {
	if !c.memory.made {
		return mem{}
	}
	return mem{mod.Memory()}
}

func (m mem) at(ptr, size uint64) ([]byte, bool) {
	if m.memory == nil || ptr+size > uint64(m.memory.Size()) {
		return nil, false
	}
	return m.memory.Read(uint32(ptr), uint32(size))
}

func (m mem) put(ptr uint64, content []byte) bool {
	b, ok := m.at(ptr, uint64(len(content)))
	copy(b, content)
	return ok
}

func (m mem) put32(ptr uint64, v uint32) bool {
	b, ok := m.at(ptr, 4)
	if ok {
		binary.LittleEndian.PutUint32(b, v)
	}
	return ok
}

func (m mem) put64(ptr, v uint64) bool {
	b, ok := m.at(ptr, 8)
	if ok {
		binary.LittleEndian.PutUint64(b, v)
	}
	return ok
}

// vectors calls each with what a list of count vectors at ptr points to, until
// that returns false.
func (m mem) vectors(ptr, count uint64, each func([]byte) bool) errno {
	if count > maxVectors {
		return eInval
	}
	list, ok := m.at(ptr, count*8)
	if !ok {
		return eFault
	}
	for ; len(list) > 0; list = list[8:] {
		b, ok := m.at(uint64(binary.LittleEndian.Uint32(list)), uint64(binary.LittleEndian.Uint32(list[4:])))
		if !ok {
			return eFault
		}
		if !each(b) {
			break
		}
	}
	return success
}
