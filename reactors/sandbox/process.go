package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helixd/helixd/reactors/sandbox/isolate"
)

// process is a child as the daemon holds it.
type process struct {
	cmd    *exec.Cmd
	conn   *os.File
	frames *frameReader
	usage  usage
	stderr firstBytes
	ended  chan struct{} // closed when it is reaped

	writing sync.Mutex
	killing sync.Once
	why     atomic.Pointer[Error] // of a kill
	lastCPU atomic.Int64          // of its life, as far as it was seen
}

// helloWithin is how long a child may take to be behind its layers. A machine
// that is busy takes long to start a process.
const helloWithin = 20 * time.Second

// starts is how many children are begun at the most, until one has started.
const starts = 3

// spawn starts a child and waits until it is behind its layers. One that ends before
// that had nothing to do yet: somebody killed it, for want of memory, and another one
// takes its place.
func spawn(ctx context.Context, command []string, s start) (p *process, layers []Layer, err error) {
	began := time.Now()
	for range starts {
		p, layers, err = begin(ctx, command, s)
		if err == nil || ctx.Err() != nil || time.Since(began) > helloWithin {
			break
		}
	}
	return p, layers, err
}

func begin(ctx context.Context, command []string, s start) (*process, []Layer, error) {
	conn, theirs, err := socketPair()
	if err != nil {
		return nil, nil, err
	}
	cmd, err := isolate.Command(s.spec(), command[0], command[1:]...)
	if err != nil {
		conn.Close()
		theirs.Close()
		return nil, nil, fmt.Errorf("make a child: %w", err)
	}
	p := &process{cmd: cmd, conn: conn, frames: newFrameReader(conn), ended: make(chan struct{})}
	cmd.Stderr = &p.stderr
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.WaitDelay = time.Second
	err = isolate.Start(cmd)
	theirs.Close() // or the child's end would not end with it
	if err != nil {
		conn.Close()
		return nil, nil, fmt.Errorf("start a child: %w", err)
	}
	p.usage.open(cmd.Process.Pid)
	go func() {
		_ = cmd.Wait() // its state says more
		p.usage.close()
		close(p.ended)
	}()
	stop := context.AfterFunc(ctx, func() { p.kill(cancelled(ctx)) })
	layers, err := p.hello(s)
	stop()
	if err != nil {
		p.kill(Errorf(Unavailable, "A child did not start."))
		<-p.ended
		if text := p.stderr.String(); text != "" {
			err = fmt.Errorf("%w: %s", err, text)
		}
		return nil, nil, fmt.Errorf("start a child: %w", err)
	}
	return p, layers, nil
}

func (p *process) hello(s start) ([]Layer, error) {
	timer := time.AfterFunc(helloWithin, func() { p.kill(Errorf(Unavailable, "A child did not start in time.")) })
	defer timer.Stop()
	message, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	if err := p.send(append(beginFrame(frameStart), message...)); err != nil {
		return nil, err
	}
	payload, err := p.expect(frameHello)
	if err != nil {
		return nil, err
	}
	var layers []Layer
	if err := json.Unmarshal(payload, &layers); err != nil {
		return nil, fmt.Errorf("read layers: %w", err)
	}
	return layers, nil
}

// send writes a frame; it may be called by several goroutines.
func (p *process) send(frame []byte) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	_, err := p.conn.Write(endFrame(frame))
	return err
}

// expect reads one frame, which has to be of one type.
func (p *process) expect(want frameType) ([]byte, error) {
	_, payload, err := p.frames.next(func(kind frameType) int {
		if kind == want {
			return maxControl
		}
		return -1
	})
	return payload, err
}

// kill ends the child, closes its socket and waits for nothing. The first reason
// counts; nil has none to tell.
func (p *process) kill(why *Error) {
	p.killing.Do(func() {
		p.why.Store(why)
		p.cpu()
		_ = p.cmd.Process.Kill()
		p.conn.Close()
	})
}

// cpu is the CPU time of the child's life.
func (p *process) cpu() time.Duration {
	if d, ok := p.usage.cpu(); ok {
		p.lastCPU.Store(int64(d))
	}
	return time.Duration(p.lastCPU.Load())
}

// lost says why a child that should go on did not. It makes sure that it is
// ended.
func (p *process) lost(err error) *Error {
	if errors.Is(err, errFrame) || errors.Is(err, errFrameTooLarge) {
		p.kill(Errorf(WorkerLost, "The worker sent what no worker sends."))
	}
	if why := p.why.Load(); why != nil {
		return why
	}
	select {
	case <-p.ended:
	case <-time.After(2 * time.Second): // it closed its socket and lives on
		p.kill(nil)
		return Errorf(WorkerLost, "The worker stopped to answer.")
	}
	if why := p.why.Load(); why != nil { // who kills came a moment later
		return why
	}
	if killedBy(p.cmd.ProcessState, signalCPU) {
		return Errorf(CPUTimeExceeded, "The worker ran out of CPU time.")
	}
	text := p.stderr.String()
	for _, sign := range []string{"out of memory", "cannot allocate memory"} {
		if strings.Contains(text, sign) {
			return Errorf(MemoryExceeded, "The worker ran out of memory.")
		}
	}
	first, _, _ := strings.Cut(text, "\n")
	return Errorf(WorkerLost, "The worker ended: %s", clip(strings.TrimSpace(p.cmd.ProcessState.String()+" "+first), 200))
}

// firstBytes keeps the first bytes of what a child writes to stderr, where Go
// says what it died of.
type firstBytes struct {
	mu sync.Mutex
	b  []byte
}

const mostStderr = 4 << 10

func (f *firstBytes) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.b = append(f.b, b[:min(len(b), mostStderr-len(f.b))]...)
	return len(b), nil
}

func (f *firstBytes) String() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return clip(string(f.b), mostStderr)
}
