package pgoutput

import "github.com/helixd/helixd/replication"

// Logical is a logical decoding message, of pg_logical_emit_message ("Message"
// in "Logical Replication Message Formats"). Any database user may emit one.
type Logical struct {
	// Transactional says that it comes in its place in its transaction, and
	// only if that commits. The others are sent when they are read.
	Transactional bool
	LSN           replication.LSN
	Prefix        []byte
	Content       []byte
}

const messageTransactional = 1

// Kind implements Message.
func (*Logical) Kind() Kind { return KindLogical }

func (m *Logical) decode(r *reader) {
	m.Transactional = r.flags(messageTransactional) != 0
	m.LSN = r.lsn()
	m.Prefix = r.string()
	m.Content = r.bytes(int(int32(r.uint32())))
}
