package pgoutput

import (
	"time"

	"github.com/helixd/helixd/replication"
)

// Commit closes a transaction ("Commit" in "Logical Replication Message
// Formats"). Its flags byte is unused and always zero; Postgres's own receiver
// takes another value for an error, and so does this one.
type Commit struct {
	CommitLSN  replication.LSN // start of the commit record
	EndLSN     replication.LSN // end of the commit record, where the next begins
	CommitTime time.Time
}

// Kind implements Message.
func (*Commit) Kind() Kind { return KindCommit }

func (m *Commit) decode(r *reader) {
	r.flags(0)
	m.CommitLSN = r.lsn()
	m.EndLSN = r.lsn()
	m.CommitTime = r.time()
}
