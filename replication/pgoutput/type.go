package pgoutput

// Type names a column type that is not built in, before the Relation that has
// it ("Type" in "Logical Replication Message Formats").
type Type struct {
	OID       uint32
	Namespace []byte
	Name      []byte
}

// Kind implements Message.
func (*Type) Kind() Kind { return KindType }

func (m *Type) decode(r *reader) {
	m.OID = r.uint32()
	m.Namespace = r.string()
	m.Name = r.string()
}
