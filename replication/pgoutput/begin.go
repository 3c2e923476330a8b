package pgoutput

import (
	"time"

	"github.com/helixd/helixd/replication"
)

// Begin opens a transaction ("Begin" in "Logical Replication Message Formats").
type Begin struct {
	FinalLSN   replication.LSN // start of the commit record
	CommitTime time.Time
	XID        uint32
}

// Kind implements Message.
func (*Begin) Kind() Kind { return KindBegin }

func (m *Begin) decode(r *reader) {
	m.FinalLSN = r.lsn()
	m.CommitTime = r.time()
	m.XID = r.uint32()
}
