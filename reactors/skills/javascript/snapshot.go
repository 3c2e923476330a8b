package javascript

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"

	"github.com/tetratelabs/wazero/api"
)

// snapshot is an isolate that waits to be called. The engine has one global
// that changes, its stack pointer, so that and the memory are all of it.
type snapshot struct {
	Pages   uint32 // of memory, 64 KB each
	Stack   uint32 // its pointer
	Runtime uint32
	Context uint32
	Funcs   [numFuncs]value
	Prefix  uint32 // bytes that wrap the tool's source in its first line
	runs    []run
}

// run is memory that is not as in a fresh instance.
type run struct {
	at      uint32
	content []byte
}

// version changes with all that a snapshot's addresses depend on.
var version = sha256.Sum256([]byte("snapshot 1 " + engineSHA256 + prelude))

// unit is how finely memory is compared, in bytes.
const unit = 1024

// errSnapshot is a snapshot of another engine or prelude: to be made again.
var errSnapshot = fmt.Errorf("the snapshot is of another version: %w", fs.ErrNotExist)

// takeSnapshot keeps what differs from fresh, the memory of an instance in which
// nothing has run. The content is s's own memory: encode it before s goes on.
func takeSnapshot(s *isolate, fresh []byte, funcs [numFuncs]value, prefix int) (*snapshot, error) {
	snap := &snapshot{Pages: s.mem.Size() >> 16, Funcs: funcs, Prefix: uint32(prefix)}
	var err error
	if snap.Runtime, err = s.do("qjs_get_runtime_ptr"); err != nil {
		return nil, err
	}
	if snap.Context, err = s.do("qjs_get_context_ptr"); err != nil {
		return nil, err
	}
	snap.Stack = uint32(s.mod.ExportedGlobal("__stack_pointer").Get())
	all, ok := s.mem.Read(0, s.mem.Size())
	if !ok || int(snap.Stack) > len(all) {
		return nil, errors.New("the engine's memory cannot be read")
	}
	clear(all[:snap.Stack]) // the stack grows down, so this is what returned functions left
	fresh = append(fresh, make([]byte, len(all)-len(fresh))...)
	for at := 0; at < len(all); at += unit {
		part := all[at : at+unit]
		if bytes.Equal(part, fresh[at:at+unit]) {
			continue
		}
		if n := len(snap.runs); n > 0 && int(snap.runs[n-1].at)+len(snap.runs[n-1].content) == at {
			snap.runs[n-1].content = all[snap.runs[n-1].at : at+unit]
		} else {
			snap.runs = append(snap.runs, run{uint32(at), part})
		}
	}
	return snap, nil
}

type snapshotHeader struct {
	Version                        [sha256.Size]byte
	Pages, Stack, Runtime, Context uint32
	Funcs                          [numFuncs]value
	Prefix                         uint32
}

func (snap *snapshot) encode() []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, snapshotHeader{
		version, snap.Pages, snap.Stack, snap.Runtime, snap.Context, snap.Funcs, snap.Prefix,
	})
	for _, r := range snap.runs {
		_ = binary.Write(&b, binary.LittleEndian, [2]uint32{r.at, uint32(len(r.content))})
		b.Write(r.content)
	}
	return b.Bytes()
}

// decodeSnapshot keeps parts of b.
func decodeSnapshot(b []byte) (*snapshot, error) {
	var h snapshotHeader
	n, err := binary.Decode(b, binary.LittleEndian, &h)
	if err != nil || h.Version != version {
		return nil, errSnapshot
	}
	snap := &snapshot{Pages: h.Pages, Stack: h.Stack, Runtime: h.Runtime, Context: h.Context, Funcs: h.Funcs, Prefix: h.Prefix}
	for b = b[n:]; len(b) > 0; {
		if len(b) < 8 {
			return nil, errSnapshot
		}
		at, size := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
		if uint64(size) > uint64(len(b)-8) || uint64(at)+uint64(size) > uint64(h.Pages)<<16 {
			return nil, errSnapshot
		}
		snap.runs = append(snap.runs, run{at, b[8 : 8+size]})
		b = b[8+size:]
	}
	return snap, nil
}

// restore makes a new isolate what the snapshot was taken of.
func (snap *snapshot) restore(s *isolate) error {
	if now := s.mem.Size() >> 16; now < snap.Pages {
		if _, ok := s.mem.Grow(snap.Pages - now); !ok {
			return outOfMemory
		}
	}
	for _, r := range snap.runs {
		if !s.mem.Write(r.at, r.content) {
			return outOfMemory
		}
	}
	if _, err := s.do("qjs_set_runtime_and_context", uint64(snap.Runtime), uint64(snap.Context)); err != nil {
		return err
	}
	s.mod.ExportedGlobal("__stack_pointer").(api.MutableGlobal).Set(uint64(snap.Stack))
	return nil
}
