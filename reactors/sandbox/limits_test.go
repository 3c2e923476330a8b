package sandbox_test

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/sandbox"
	. "github.com/helixd/helixd/reactors/sandbox/wasmtest"
)

func TestLimits(t *testing.T) {
	p := newPool(t)
	forever := execute(Loop(), Br(0), End, I32Const(0))
	for name, c := range map[string]struct {
		call  sandbox.Call
		limit func(*sandbox.Limits)
		code  sandbox.Code
		lives bool // the worker
	}{
		"a module that loops: CPU time": {
			call: run(forever, `null`), limit: func(l *sandbox.Limits) { l.CPU = 50 * time.Millisecond }, code: sandbox.CPUTimeExceeded,
		},
		"a module that loops: wall time": {
			call: run(forever, `null`), limit: func(l *sandbox.Limits) { l.Wall = 50 * time.Millisecond }, code: sandbox.WallTimeExceeded,
		},
		"a child that sleeps: wall time": {
			call: do(deed{Do: "sleep", N: 60000}), limit: func(l *sandbox.Limits) { l.Wall = 50 * time.Millisecond }, code: sandbox.WallTimeExceeded,
		},
		"a linear memory beyond the limit": {
			call: do(deed{Do: "memory", N: 300}), code: sandbox.MemoryExceeded, lives: true,
		},
		"a first memory beyond the limit": {
			call: do(deed{Do: "memory", N: 1}), limit: func(l *sandbox.Limits) { l.Memory = 1000 }, code: sandbox.MemoryExceeded, lives: true,
		},
		"memory outside of the linear memory": {
			call: do(deed{Do: "alloc", N: 8 << 10}), code: sandbox.MemoryExceeded,
		},
		"an input that is too large": {
			call: run(echo(), strings.Repeat(" ", 1<<20)+`1`), code: sandbox.InputTooLarge, lives: true,
		},
		"an output that is too large": {
			call: do(deed{Do: "output", N: 1 << 20}), code: sandbox.OutputTooLarge, lives: true,
		},
		"an output that is not JSON": {
			call: do(deed{Do: "raw output", Text: "{"}), code: sandbox.InvalidOutput, lives: true,
		},
		"an output that is not UTF-8": {
			call: run(execute8(0xff), `null`), code: sandbox.InvalidOutput, lives: true,
		},
		"an output that nests too deep": {
			call: do(deed{Do: "nest", N: 1001}), code: sandbox.InvalidOutput, lives: true,
		},
		"a trap": {
			call: run(execute(Unreachable, I32Const(0)), `null`), code: sandbox.Trap, lives: true,
		},
		"a panic of the runtime": {
			call: do(deed{Do: "panic", Text: "of wazero"}), code: sandbox.WorkerLost,
		},
		"a panic that speaks of memory": {
			call: do(deed{Do: "panic", Text: "cannot allocate memory"}), code: sandbox.MemoryExceeded,
		},
		"a child that exits": {
			call: do(deed{Do: "exit"}), code: sandbox.WorkerLost,
		},
		"a code that only the parent can know": {
			call: do(deed{Do: "fail", Text: "worker_lost"}), code: sandbox.Exception, lives: true,
		},
		"a wall time that is not over": {
			call: do(deed{Do: "fail", Text: "wall_time_exceeded"}), code: sandbox.Exception, lives: true,
		},
		"a code of a host error that was not given": {
			call: do(deed{Do: "fail", Text: "host_not_allowed"}), code: sandbox.Exception, lives: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := string(mustRun(t, p, do(deed{Do: "pid"})).Output)
			if c.limit != nil {
				c.limit(&c.call.Limits)
			}
			r, err := p.Run(context.Background(), c.call)
			wantCode(t, err, c.code)
			if r.Output != nil {
				t.Errorf("output %s", r.Output)
			}
			after := string(mustRun(t, p, do(deed{Do: "pid"})).Output)
			if lives := before == after; lives != c.lives {
				t.Errorf("worker %s before, %s after", before, after)
			}
		})
	}

	t.Run("a module that sleeps ends as the wall time does, whoever sees it first", func(t *testing.T) {
		for range 10 {
			call := do(deed{Do: "sleep and fail", N: 30, Text: "wall_time_exceeded"})
			call.Limits.Wall = 30 * time.Millisecond
			_, err := p.Run(context.Background(), call)
			wantCode(t, err, sandbox.WallTimeExceeded)
		}
	})

	t.Run("what nests as deep as it may is an output", func(t *testing.T) {
		mustRun(t, p, do(deed{Do: "nest", N: 1000}))
	})

	t.Run("a call that is killed leaves its logs and what it took", func(t *testing.T) {
		call := do(deed{Do: "loop"})
		call.Limits.CPU = 50 * time.Millisecond
		r, err := p.Run(context.Background(), call)
		wantCode(t, err, sandbox.CPUTimeExceeded)
		if r.Logs != "looping" || r.CPU < 50*time.Millisecond || r.Wall < 10*time.Millisecond {
			t.Errorf("%+v", r)
		}
	})

	t.Run("CPU time is counted for each call", func(t *testing.T) {
		for range 30 {
			call := do(deed{Do: "memory", N: 200})
			call.Limits.CPU = 200 * time.Millisecond
			mustRun(t, p, call)
		}
	})

	t.Run("no call has more than the operator gives", func(t *testing.T) {
		call := do(deed{Do: "memory", N: 300})
		call.Limits.Memory = 1 << 40
		_, err := p.Run(context.Background(), call)
		wantCode(t, err, sandbox.MemoryExceeded)
	})

	t.Run("a call that is cancelled is killed", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		start := time.Now()
		_, err := p.Run(ctx, run(forever, `null`))
		wantCode(t, err, sandbox.Cancelled)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// execute8 is a module that gives one byte as its output.
func execute8(b byte) []byte {
	var m Module
	m.Memory(1)
	m.ExportMemory("memory")
	m.Data(8, []byte{b})
	m.ExportFunc("skill_alloc", m.Func("alloc", Types{I32}, Types{I32}, nil, I32Const(1024)))
	m.ExportFunc("skill_run", m.Func("run", Types{I32, I32}, Types{I64}, nil, I64Const(8<<32|1)))
	return m.Bytes()
}

// A child that broke out says what it likes; the worst that comes of it is that
// the call fails.
func TestHostileChild(t *testing.T) {
	p := newPool(t)
	frame := func(kind byte, size uint32, payload string) []byte {
		return append([]byte{kind, byte(size), byte(size >> 8), byte(size >> 16), byte(size >> 24)}, payload...)
	}
	const log, hostCall, done = 36, 35, 37
	for name, c := range map[string]struct {
		deed deed
		code sandbox.Code
	}{
		"a frame of no type":             {deed{Do: "raw", Raw: frame(99, 0, "")}, sandbox.WorkerLost},
		"a frame of another moment":      {deed{Do: "raw", Raw: frame(32, 2, "{}")}, sandbox.WorkerLost},
		"a frame of the parent":          {deed{Do: "raw", Raw: frame(5, 0, "")}, sandbox.WorkerLost},
		"a frame of 4 GB of logs":        {deed{Do: "raw", Raw: frame(log, 1<<32-1, "")}, sandbox.WorkerLost},
		"a frame of 4 GB of output":      {deed{Do: "raw", Raw: frame(done, 1<<32-1, "")}, sandbox.OutputTooLarge},
		"a frame that is cut":            {deed{Do: "raw", Raw: frame(hostCall, 0, "")}, sandbox.WorkerLost},
		"an output that is cut":          {deed{Do: "raw", Raw: frame(done, 4, "\x00\x01\x7fx")}, sandbox.WorkerLost},
		"an outcome and more":            {deed{Do: "raw", Raw: frame(done, 5, "\x00\x01\x011x")}, sandbox.WorkerLost},
		"logs without end":               {deed{Do: "flood", Raw: frame(log, 1, "x")}, sandbox.WorkerLost},
		"empty logs without end":         {deed{Do: "flood", Raw: frame(log, 0, "")}, sandbox.WorkerLost},
		"host calls without end":         {deed{Do: "flood", Raw: frame(hostCall, 6, "\x01\x01a\x02{}")}, sandbox.HostCallLimit},
		"a socket that is closed":        {deed{Do: "close"}, sandbox.WorkerLost},
		"a peak memory that is no size":  {deed{Do: "raw", Raw: frame(done, 10, strings.Repeat("\xff", 10))}, sandbox.WorkerLost},
		"a peak memory that is too much": {deed{Do: "raw", Raw: frame(done, 11, "\xff\xff\xff\xff\xff\xff\xff\x7f\x01\x011")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			call := do(c.deed)
			call.Tenant = name
			call.Host = hostFunc(func(context.Context, string, []byte) ([]byte, error) { return []byte(`1`), nil })
			r, err := p.Run(context.Background(), call)
			if c.code == "" {
				if err != nil || r.PeakMemory > testLimits.Memory {
					t.Errorf("%+v, %v", r, err)
				}
				return
			}
			wantCode(t, err, c.code)
		})
	}
}

func TestChildThatTakesNoReply(t *testing.T) {
	p := newPool(t)
	hostCall := "\x23\x06\x00\x00\x00\x01\x01a\x02{}"
	done := "\x25\x04\x00\x00\x00\x00\x01\x011"
	asked := make(chan struct{})
	call := do(deed{Do: "raw", Raw: []byte(hostCall + done)})
	call.Host = hostFunc(func(context.Context, string, []byte) ([]byte, error) {
		close(asked)
		return []byte(`"` + strings.Repeat("x", 4<<20) + `"`), nil
	})
	r, err := p.Run(context.Background(), call)
	<-asked
	if err != nil || string(r.Output) != "1" {
		t.Errorf("output %s, %v", r.Output, err)
	}
}

func TestWorkBetweenCallsCounts(t *testing.T) {
	p := newPool(t)
	mustRun(t, p, do(deed{Do: "echo"}))
	pid := string(mustRun(t, p, do(deed{Do: "work on"})).Output)
	used := func() bool {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil {
			t.Fatal(err)
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		ticks, err := strconv.Atoi(fields[11])
		return err == nil && ticks > 30 // of 10 ms
	}
	waitFor(t, used)
	call := do(deed{Do: "sleep", N: 1000})
	call.Limits.CPU = 200 * time.Millisecond
	_, err := p.Run(context.Background(), call)
	wantCode(t, err, sandbox.CPUTimeExceeded)
}
