package sandbox

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// start is what a child learns before it goes behind its layers.
type start struct {
	Dir    string // of the caches
	Kind   string // a compile child's: "" is a worker
	SHA256 []byte // a compile child's
	Prime  bool   // it compiles what all programs of its kind share
	Memory int64  // bytes, the most any call may have of linear memory
	Probe  bool   // try the layers and tell what held
	Unsafe bool   // serve without layers that do not hold
}

// program names a program towards a child, which finds the code in the cache.
type program struct {
	kind string
	sum  [sha256.Size]byte
}

func (p program) append(b []byte) []byte { return append(appendBytes(b, p.kind), p.sum[:]...) }

func parseProgram(payload []byte) (p program, err error) {
	f := fields{b: payload}
	p.kind = string(f.bytes(maxName))
	f.fixed(p.sum[:])
	return p, f.end()
}

// callMessage is a Call as the child needs it.
type callMessage struct {
	limits Limits
	seed   [32]byte
	now    time.Time
	input  []byte
}

func (m callMessage) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(m.limits.Wall))
	b = binary.AppendUvarint(b, uint64(m.limits.CPU))
	b = binary.AppendUvarint(b, uint64(m.limits.Memory))
	b = binary.AppendUvarint(b, uint64(m.limits.Input))
	b = binary.AppendUvarint(b, uint64(m.limits.Output))
	b = binary.AppendUvarint(b, uint64(m.limits.Logs))
	b = binary.AppendUvarint(b, uint64(m.limits.HostCalls))
	b = append(b, m.seed[:]...)
	b = binary.AppendUvarint(b, uint64(m.now.UnixNano()))
	return appendBytes(b, m.input)
}

func parseCall(payload []byte) (m callMessage, err error) {
	f := fields{b: payload}
	m.limits = Limits{
		Wall:      time.Duration(f.size(math.MaxInt64)),
		CPU:       time.Duration(f.size(math.MaxInt64)),
		Memory:    int64(f.size(math.MaxInt64)),
		Input:     f.size(math.MaxInt32),
		Output:    f.size(math.MaxInt32),
		Logs:      f.size(math.MaxInt32),
		HostCalls: f.size(math.MaxInt32),
	}
	f.fixed(m.seed[:])
	m.now = time.Unix(0, int64(f.number())).UTC()
	m.input = f.bytes(maxToChild)
	return m, f.end()
}

// requestMessage is a host call.
type requestMessage struct {
	id   uint32
	name string
	body []byte
}

func (m requestMessage) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(m.id))
	return appendBytes(appendBytes(b, m.name), m.body)
}

func parseRequest(payload []byte) (m requestMessage, err error) {
	f := fields{b: payload}
	m.id = uint32(f.size(math.MaxUint32))
	m.name = string(f.bytes(maxName))
	m.body = f.bytes(maxRequest)
	return m, f.end()
}

// replyMessage answers a host call.
type replyMessage struct {
	id  uint32
	out outcome
}

func (m replyMessage) append(b []byte) []byte {
	return m.out.append(binary.AppendUvarint(b, uint64(m.id)))
}

func parseReply(payload []byte) (m replyMessage, err error) {
	f := fields{b: payload}
	m.id = uint32(f.size(math.MaxUint32))
	m.out = f.outcome(maxToChild)
	return m, f.end()
}

// doneMessage is how a call ended.
type doneMessage struct {
	peak int64 // bytes of linear memory
	out  outcome
}

func (m doneMessage) append(b []byte) []byte {
	return m.out.append(binary.AppendUvarint(b, uint64(m.peak)))
}

func parseDone(payload []byte, most int) (m doneMessage, err error) {
	f := fields{b: payload}
	m.peak = int64(f.size(math.MaxInt64))
	m.out = f.outcome(most)
	return m, f.end()
}

// outcome is content or an error.
type outcome struct {
	content []byte
	err     *Error
}

func (o outcome) append(b []byte) []byte {
	if o.err == nil {
		return appendBytes(append(b, 1), o.content)
	}
	b = appendBytes(append(b, 0), clip(string(o.err.Code), maxName))
	b = appendBytes(b, clip(o.err.Message, maxMessage))
	b = appendBytes(b, clip(o.err.Function, maxMessage))
	b = binary.AppendUvarint(b, uint64(max(0, o.err.Line)))
	b = binary.AppendUvarint(b, uint64(max(0, o.err.Column)))
	return binary.AppendUvarint(b, uint64(max(0, o.err.Offset)))
}

func parseOutcome(payload []byte, most int) (o outcome, err error) {
	f := fields{b: payload}
	o = f.outcome(most)
	return o, f.end()
}

func (f *fields) outcome(most int) outcome {
	if f.size(1) == 1 {
		return outcome{content: f.bytes(most)}
	}
	return outcome{err: &Error{
		Code:     Code(clip(string(f.bytes(maxName)), maxName)),
		Message:  clip(string(f.bytes(maxMessage)), maxMessage),
		Function: clip(string(f.bytes(maxMessage)), maxMessage),
		Line:     f.size(math.MaxInt32),
		Column:   f.size(math.MaxInt32),
		Offset:   int64(f.size(math.MaxInt64)),
	}}
}

// clip makes text that may go into a row: valid UTF-8 without NUL, at most most
// bytes.
func clip(s string, most int) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "�"), "\x00", "�")
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}
