package pgoutput

import "github.com/helixd/helixd/replication"

// Origin says that the transaction was itself replicated from another server
// ("Origin" in "Logical Replication Message Formats").
type Origin struct {
	CommitLSN replication.LSN // on the origin server
	Name      []byte
}

// Kind implements Message.
func (*Origin) Kind() Kind { return KindOrigin }

func (m *Origin) decode(r *reader) {
	m.CommitLSN = r.lsn()
	m.Name = r.string()
}
