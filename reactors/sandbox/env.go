package sandbox

import (
	"context"
	"errors"
	"fmt"
)

// atOnce is how many host calls of one call are served at a time. A child asks
// for no more before it has read a reply, so neither side of the socket ever
// waits for the other to read.
const atOnce = 6

// call runs a loaded program once.
func (c *child) call(ctx context.Context, p program, m callMessage) (done doneMessage) {
	loaded, ok := c.loaded[p]
	if !ok {
		return doneMessage{out: outcome{err: Errorf(WorkerLost, "The program is not loaded.")}}
	}
	c.memories.begin(min(m.limits.Memory, c.start.Memory))
	clear(c.asked)
	c.came = nil
	logs := &childLogs{send: c.send, left: m.limits.Logs}
	calls, told := 0, int64(0)
	env := &Env{
		// The payload's buffer is used again by the next frame, so it is copied.
		Input: append([]byte(nil), m.input...), Limits: m.limits, Seed: m.seed, Now: m.now, Logs: logs,
		HostCall: func(name string, request []byte) (uint32, error) {
			if calls++; calls > m.limits.HostCalls {
				return 0, Errorf(HostCallLimit, "The program made more than %d host calls.", m.limits.HostCalls)
			}
			return c.ask(name, request)
		},
		Reply:  c.reply,
		Memory: func(bytes int64) { told = max(told, bytes) },
	}
	defer func() {
		// wazero panics where an instance's first memory is refused.
		if r := recover(); r != nil {
			if _, refused := c.memories.account(); !refused {
				panic(r)
			}
			done.out = outcome{err: outOfMemory(m.limits)}
		}
		peak, _ := c.memories.account()
		done.peak = max(peak, told)
		logs.flush()
	}()
	out := outcomeOf(loaded.Run(ctx, env))
	_, refused := c.memories.account()
	switch {
	case out.err != nil && refused && (out.err.Code == Trap || out.err.Code == ExitStatus):
		// A program whose memory does not grow aborts.
		out = outcome{err: outOfMemory(m.limits)}
	case out.err == nil && len(out.content) > m.limits.Output:
		out = outcome{err: Errorf(OutputTooLarge, "The output has more than %d bytes.", m.limits.Output)}
	}
	return doneMessage{out: out}
}

func outOfMemory(l Limits) *Error {
	return Errorf(MemoryExceeded, "The program needs more than %d MB of memory.", l.Memory>>20)
}

// ask sends a host call.
func (c *child) ask(name string, request []byte) (uint32, error) {
	if len(name) == 0 || len(name) > maxName {
		return 0, Errorf("unknown_host_call", "A host call's name has 1 to %d bytes.", maxName)
	}
	if len(request) > maxRequest {
		return 0, Errorf(InputTooLarge, "A host call's request has at most %d bytes.", maxRequest)
	}
	for len(c.asked) >= atOnce {
		m, err := c.nextReply()
		if err != nil {
			return 0, err
		}
		c.came = append(c.came, m)
	}
	c.lastID++
	c.asked[c.lastID] = true
	m := requestMessage{id: c.lastID, name: name, body: request}
	return m.id, c.send(m.append(beginFrame(frameHostCall)))
}

// reply is Env.Reply.
func (c *child) reply() (uint32, []byte, error) {
	var m replyMessage
	switch {
	case len(c.came) > 0:
		m, c.came = c.came[0], c.came[1:]
	case len(c.asked) == 0:
		return 0, nil, errors.New("no host call waits for a reply")
	default:
		var err error
		if m, err = c.nextReply(); err != nil {
			return 0, nil, err
		}
	}
	if m.out.err != nil {
		return m.id, nil, m.out.err
	}
	return m.id, m.out.content, nil
}

func (c *child) nextReply() (replyMessage, error) {
	for {
		kind, payload, err := c.frames.next(fromParent)
		if err != nil {
			return replyMessage{}, fmt.Errorf("read reply: %w", err)
		}
		if kind != frameReply {
			return replyMessage{}, fmt.Errorf("frame of type %d within a call: %w", kind, errFrame)
		}
		m, err := parseReply(payload)
		if err != nil {
			return replyMessage{}, fmt.Errorf("read reply: %w", err)
		}
		if c.asked[m.id] { // else of a call before
			delete(c.asked, m.id)
			m.out.content = append([]byte(nil), m.out.content...)
			return m, nil
		}
	}
}

// childLogs sends what a program logs. The first writes go at once, so that a
// call that is killed leaves a trace; later ones in larger parts.
type childLogs struct {
	send   func(frame []byte) error
	left   int // bytes
	writes int
	buf    []byte
}

const (
	logsAtOnce = 64
	logsPart   = 4 << 10
)

func (l *childLogs) Write(b []byte) (int, error) {
	n := len(b)
	b = b[:min(len(b), l.left)]
	l.left -= len(b)
	l.buf = append(l.buf, b...)
	if l.writes++; l.writes <= logsAtOnce || len(l.buf) >= logsPart {
		l.flush()
	}
	return n, nil
}

// flush ignores errors: a socket that fails ends the child at its next frame.
func (l *childLogs) flush() {
	if len(l.buf) > 0 {
		_ = l.send(append(beginFrame(frameLog), l.buf...))
		l.buf = l.buf[:0]
	}
}

// mostLogFrames is how many frames of logs a call has at most.
func mostLogFrames(l Limits) int { return logsAtOnce + l.Logs/logsPart + 2 }
