package pgoutput

// Truncate empties tables ("Truncate" in "Logical Replication Message
// Formats").
type Truncate struct {
	Cascade         bool
	RestartIdentity bool
	RelationOIDs    []uint32
}

const (
	truncateCascade         = 1
	truncateRestartIdentity = 2
)

// Kind implements Message.
func (*Truncate) Kind() Kind { return KindTruncate }

func (m *Truncate) decode(r *reader) {
	count := uint64(r.uint32())
	flags := r.flags(truncateCascade | truncateRestartIdentity)
	m.Cascade = flags&truncateCascade != 0
	m.RestartIdentity = flags&truncateRestartIdentity != 0
	m.RelationOIDs = m.RelationOIDs[:0]
	if count == 0 && r.err == nil {
		r.fail(ErrInvalid)
	}
	for range r.count(count, 4) {
		m.RelationOIDs = append(m.RelationOIDs, r.uint32())
	}
}
