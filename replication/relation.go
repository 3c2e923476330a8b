package replication

// ReplicaIdentity says which columns the old tuple of an UPDATE or DELETE
// holds (pg_class.relreplident).
type ReplicaIdentity byte

// The replica identities of Postgres.
const (
	IdentityDefault ReplicaIdentity = 'd' // primary key columns
	IdentityNothing ReplicaIdentity = 'n' // no old tuple
	IdentityFull    ReplicaIdentity = 'f' // all columns
	IdentityIndex   ReplicaIdentity = 'i' // columns of a chosen unique index
)

// Relation is a published table as the server last described it. The server
// describes it again whenever it changes; a Relation itself never does, so a
// pointer to one may be used as the key of a cache.
type Relation struct {
	OID       uint32
	Namespace string
	Name      string
	Identity  ReplicaIdentity
	Columns   []Column
}

// Column is one published column. With a column list in the publication the
// others do not appear.
type Column struct {
	Name     string
	TypeOID  uint32
	Modifier int32 // atttypmod, -1 when none
	Key      bool  // part of the replica identity
}

// String gives the qualified name, unquoted: "public.sync_state".
func (r *Relation) String() string { return r.Namespace + "." + r.Name }

// Index gives the position of the named column, -1 when it is not published.
func (r *Relation) Index(column string) int {
	for i := range r.Columns {
		if r.Columns[i].Name == column {
			return i
		}
	}
	return -1
}
