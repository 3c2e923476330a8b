package pgoutput

import "github.com/helixd/helixd/replication"

// Insert is a new row ("Insert" in "Logical Replication Message Formats").
type Insert struct {
	RelationOID uint32
	New         replication.Tuple
}

// Kind implements Message.
func (*Insert) Kind() Kind { return KindInsert }

func (m *Insert) decode(r *reader) {
	m.RelationOID = r.uint32()
	r.tag("N")
	m.New = r.tuple(m.New)
}
