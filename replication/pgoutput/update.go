package pgoutput

import "github.com/helixd/helixd/replication"

// OldKind says which old tuple an Update or Delete has.
type OldKind byte

// The kinds of old tuples.
const (
	OldNone OldKind = 0   // an Update that left the replica identity as it was
	OldKey  OldKind = 'K' // only the replica identity's columns say something
	OldRow  OldKind = 'O' // all columns: REPLICA IDENTITY FULL
)

// Update is a changed row ("Update" in "Logical Replication Message Formats").
type Update struct {
	RelationOID uint32
	OldKind     OldKind
	Old         replication.Tuple // empty with OldNone
	New         replication.Tuple
}

// Kind implements Message.
func (*Update) Kind() Kind { return KindUpdate }

func (m *Update) decode(r *reader) {
	m.RelationOID = r.uint32()
	m.OldKind, m.Old = OldNone, m.Old[:0]
	tag := r.tag("KON")
	if tag == 'K' || tag == 'O' {
		m.OldKind = OldKind(tag)
		m.Old = r.tuple(m.Old)
		r.tag("N")
	}
	m.New = r.tuple(m.New)
}
