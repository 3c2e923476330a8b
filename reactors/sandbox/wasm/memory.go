package wasm

import (
	"github.com/tetratelabs/wazero/experimental"

	"github.com/helixd/helixd/reactors/sandbox"
)

// memory bounds the linear memory of one call. It wraps the allocator that the
// child put into the context.
type memory struct {
	limit   uint64
	size    uint64 // it never shrinks, so its size is its peak
	made    bool   // with its minimum
	refused bool   // a growth was, by limit
	inner   experimental.LinearMemory
}

// allocate is as of experimental.MemoryAllocator; a module has one memory at most.
func (m *memory) allocate(inner experimental.MemoryAllocator, capacity, max uint64) experimental.LinearMemory {
	m.inner = inner.Allocate(min(capacity, m.limit), min(max, m.limit))
	return m
}

// Reallocate implements experimental.LinearMemory. The first call is for the
// module's declared minimum: wazero takes no refusal there, so it panics with an
// *sandbox.Error, for instantiate to catch.
func (m *memory) Reallocate(size uint64) []byte {
	var buffer []byte
	if size <= m.limit {
		buffer = m.inner.Reallocate(size)
	}
	if buffer != nil {
		m.size, m.made = size, true
		return buffer
	}
	if !m.made {
		panic(m.exceeded())
	}
	m.refused = true
	return nil
}

// Free implements experimental.LinearMemory. wazero does not free the memory of
// an instance whose start function failed, so Run frees too.
func (m *memory) Free() {
	if m.inner != nil {
		m.inner.Free()
		m.inner = nil
	}
}

func (m *memory) exceeded() *sandbox.Error {
	return sandbox.Errorf(sandbox.MemoryExceeded, "the module wanted more than its %d MB of memory", m.limit>>20)
}
