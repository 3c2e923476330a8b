package pgoutput

import "github.com/helixd/helixd/replication"

// Relation describes a table, before its first change on a connection and
// again whenever it was altered ("Relation" in "Logical Replication Message
// Formats").
type Relation struct {
	OID       uint32
	Namespace []byte // "pg_catalog" arrives as an empty string
	Name      []byte
	Identity  replication.ReplicaIdentity
	Columns   []Column
}

// Column is one published column of a Relation.
type Column struct {
	Name     []byte
	TypeOID  uint32
	Modifier int32
	Key      bool // part of the replica identity; all are under REPLICA IDENTITY FULL
}

// columnKey is the only flag that a column has.
const columnKey = 1

// minColumn is the size of a column with an empty name.
const minColumn = 1 + 1 + 4 + 4

// Kind implements Message.
func (*Relation) Kind() Kind { return KindRelation }

func (m *Relation) decode(r *reader) {
	m.OID = r.uint32()
	m.Namespace = r.string()
	m.Name = r.string()
	m.Identity = replication.ReplicaIdentity(r.tag("dnfi"))
	m.Columns = m.Columns[:0]
	for range r.count(uint64(r.uint16()), minColumn) {
		key := r.flags(columnKey) == columnKey
		name := r.string()
		m.Columns = append(m.Columns, Column{
			Name:     name,
			TypeOID:  r.uint32(),
			Modifier: int32(r.uint32()),
			Key:      key,
		})
		if r.err != nil {
			return
		}
	}
}
