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
	// image is the memory from Stack on. The engine's stack is at the start of
	// memory and grows down: below its pointer is what functions left that returned.
	image []byte
}

// mostPages a snapshot may have: 128 MB, which is what Check gives a tool.
const mostPages = 2048

// version changes with all that a snapshot's addresses depend on.
var version = sha256.Sum256([]byte("snapshot 1 " + engineSHA256 + web + prelude))

// unit is how finely zeroes are left out of a file, in bytes.
const unit = 1024

// errSnapshot is a snapshot of another engine or prelude: to be made again.
var errSnapshot = fmt.Errorf("the snapshot is of another version: %w", fs.ErrNotExist)

func takeSnapshot(s *isolate, funcs [numFuncs]value, prefix int) (*snapshot, error) {
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
	snap.image = bytes.Clone(all[snap.Stack:])
	return snap, nil
}

type snapshotHeader struct {
	Version                        [sha256.Size]byte
	Pages, Stack, Runtime, Context uint32
	Funcs                          [numFuncs]value
	Prefix                         uint32
}

// encode leaves out what is zero.
func (snap *snapshot) encode() []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, snapshotHeader{
		version, snap.Pages, snap.Stack, snap.Runtime, snap.Context, snap.Funcs, snap.Prefix,
	})
	zeroes := make([]byte, unit)
	for at := 0; at < len(snap.image); at += unit {
		part := snap.image[at:min(at+unit, len(snap.image))]
		if !bytes.Equal(part, zeroes[:len(part)]) {
			_ = binary.Write(&b, binary.LittleEndian, uint32(at))
			b.Write(part)
		}
	}
	return b.Bytes()
}

func decodeSnapshot(b []byte) (*snapshot, error) {
	var h snapshotHeader
	n, err := binary.Decode(b, binary.LittleEndian, &h)
	if err != nil || h.Version != version || h.Pages > mostPages || h.Stack > h.Pages<<16 {
		return nil, errSnapshot
	}
	snap := &snapshot{Pages: h.Pages, Stack: h.Stack, Runtime: h.Runtime, Context: h.Context, Funcs: h.Funcs, Prefix: h.Prefix}
	snap.image = make([]byte, h.Pages<<16-h.Stack)
	for b = b[n:]; len(b) > 0; {
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) >= uint64(len(snap.image)) {
			return nil, errSnapshot
		}
		part := snap.image[binary.LittleEndian.Uint32(b):]
		part = part[:min(unit, len(part))]
		if b = b[4:]; len(b) < len(part) {
			return nil, errSnapshot
		}
		b = b[copy(part, b):]
	}
	return snap, nil
}

// restore makes an isolate what the snapshot was taken of: a new one, or one that
// has run and whose memory is as large as the snapshot's. Every byte is written,
// so nothing of what has run is left.
func (snap *snapshot) restore(s *isolate) error {
	if now := s.mem.Size() >> 16; now < snap.Pages {
		if _, ok := s.mem.Grow(snap.Pages - now); !ok {
			return outOfMemory
		}
	}
	all, ok := s.mem.Read(0, s.mem.Size())
	if !ok || len(all) != int(snap.Pages)<<16 {
		return errors.New("the engine's memory is not as large as the snapshot's")
	}
	clear(all[:snap.Stack])
	copy(all[snap.Stack:], snap.image)
	if _, err := s.do("qjs_set_runtime_and_context", uint64(snap.Runtime), uint64(snap.Context)); err != nil {
		return err
	}
	s.mod.ExportedGlobal("__stack_pointer").(api.MutableGlobal).Set(uint64(snap.Stack))
	return nil
}
