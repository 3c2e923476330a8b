package stream

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgproto3"
)

// postgresEpoch is where the protocol's clock starts.
var postgresEpoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// sendStatus sends a Standby status update (Postgres docs, "Streaming
// Replication Protocol"). pglogrepl's would take a flush position of 0 for the
// write position; here both are as they are.
func (o *owner) sendStatus(now time.Time) error {
	var msg [34]byte
	msg[0] = pglogrepl.StandbyStatusUpdateByteID
	binary.BigEndian.PutUint64(msg[1:], uint64(max(o.received, o.flushed)))
	binary.BigEndian.PutUint64(msg[9:], uint64(o.flushed))
	binary.BigEndian.PutUint64(msg[17:], uint64(o.flushed)) // applied: the same thing here
	binary.BigEndian.PutUint64(msg[25:], uint64(now.Sub(postgresEpoch).Microseconds()))
	if now.Sub(o.heard) >= statusEvery {
		msg[33] = 1 // an answer, please: is anybody there?
	}
	o.frontend.Send(&pgproto3.CopyData{Data: msg[:]})
	_ = o.wire.SetWriteDeadline(now.Add(senderTimeout))
	if err := o.frontend.Flush(); err != nil {
		return fmt.Errorf("send status: %w", err)
	}
	o.lastStatus, o.nextStatus = now, now.Add(statusEvery)
	return nil
}
