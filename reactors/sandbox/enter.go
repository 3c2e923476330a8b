package sandbox

import (
	"fmt"
	"time"

	"github.com/helixd/helixd/reactors/sandbox/isolate"
)

// Of a compile child. Native code is a few times as large as its module, and
// compiling takes some hundred bytes of memory for each byte of it.
const (
	compileData = 1 << 30
	compileRSS  = 768 << 20
	compileFile = 256 << 20
	compileCPU  = 10 * time.Second
	compilers   = 2 // at most at a time
)

var compileWall = 30 * time.Second // less in a test

// compileTime is what a compile child may take. The decoder of recordings is
// helixd's own and larger than what a skill may cost: 3 s of CPU time on a plain
// machine, a dozen times that on a small one or with the race detector.
func compileTime(kind string) (cpu, wall time.Duration) {
	if kind == KindAudio {
		return 9 * compileCPU, 9 * compileWall
	}
	return compileCPU, compileWall
}

// workerData is what a worker may map besides two linear memories: one in use
// and one kept.
const workerData = 512 << 20

// spec is the same on both sides of the socket.
func (s start) spec() isolate.Spec {
	if s.Kind == "" {
		return isolate.Spec{ReadOnly: []string{s.Dir}, DataBytes: uint64(2*s.Memory + workerData)}
	}
	p := program{kind: s.Kind}
	copy(p.sum[:], s.SHA256)
	writable := []string{programDir(s.Dir, p)}
	if s.Prime {
		writable = append(writable, compileDir(s.Dir, p))
	}
	cpu, _ := compileTime(s.Kind)
	return isolate.Spec{
		ReadOnly: []string{s.Dir}, ReadWrite: writable, Compile: true,
		DataBytes: uint64(s.Memory + compileData), FileBytes: compileFile, CPUSeconds: uint64(cpu/time.Second) + 1,
	}
}

// enter puts a child behind its layers. Only a probe tries what they forbid: it
// takes longer than a call.
func enter(s start) ([]Layer, error) {
	if err := isolate.Enter(s.spec()); err != nil && !s.Unsafe {
		return nil, fmt.Errorf("isolate: %w", err)
	}
	if !s.Probe {
		return nil, nil
	}
	return isolate.SelfTest(s.spec()), nil
}
