package pgoutput

import "github.com/helixd/helixd/replication"

// Delete is a removed row ("Delete" in "Logical Replication Message Formats").
type Delete struct {
	RelationOID uint32
	OldKind     OldKind // OldKey or OldRow
	Old         replication.Tuple
}

// Kind implements Message.
func (*Delete) Kind() Kind { return KindDelete }

func (m *Delete) decode(r *reader) {
	m.RelationOID = r.uint32()
	m.OldKind = OldKind(r.tag("KO"))
	m.Old = r.tuple(m.Old)
}
