package sandbox

import (
	"sync"

	"github.com/tetratelabs/wazero/experimental"
)

// memories gives wazero its linear memories: address ranges that are reserved
// once and used again by the next instance. The kernel zeroes them in between,
// which is far cheaper than a new mapping a call.
type memories struct {
	mu      sync.Mutex
	room    uint64 // bytes, of every range
	free    []*memory
	limit   uint64 // bytes, of one memory in the call that runs now
	peak    uint64 // the largest memory since begin
	refused bool   // a memory was to be larger than limit, since begin
}

// keptMemories is how many ranges wait for use: a call rarely has more than one.
const keptMemories = 1

// memory is one range. Its address does not change, so it may be shared.
type memory struct {
	of   *memories
	all  []byte // reserved
	size uint64 // usable and readable
}

// begin starts the account of a call.
func (m *memories) begin(limit int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limit, m.peak, m.refused = uint64(max(0, limit)), 0, false
}

func (m *memories) account() (peak int64, refused bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return int64(m.peak), m.refused
}

// Allocate implements experimental.MemoryAllocator. All ranges are of one size,
// so that each serves each program.
func (m *memories) Allocate(_, _ uint64) experimental.LinearMemory {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := len(m.free); n > 0 {
		r := m.free[n-1]
		m.free = m.free[:n-1]
		return r
	}
	all, err := reserve(m.room)
	if err != nil {
		m.refused = true
	}
	return &memory{of: m, all: all}
}

// Reallocate implements experimental.LinearMemory.
func (r *memory) Reallocate(size uint64) []byte {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	if size > r.of.limit || size > uint64(len(r.all)) {
		r.of.refused = true
		return nil
	}
	if size > r.size {
		if err := commit(r.all, r.size, size); err != nil {
			r.of.refused = true
			return nil
		}
		r.size = size
	}
	r.of.peak = max(r.of.peak, size)
	return r.all[:size:size]
}

// Free implements experimental.LinearMemory. The content is gone before the
// range can be used again.
func (r *memory) Free() {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	if len(r.all) == 0 { // it was freed
		return
	}
	again := &memory{of: r.of, all: r.all, size: r.size}
	r.all, r.size = nil, 0
	if len(r.of.free) >= keptMemories || discard(again.all, again.size) != nil {
		release(again.all)
		return
	}
	r.of.free = append(r.of.free, again)
}
