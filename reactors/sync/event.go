package sync

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
)

// event is what a device wrote, or what a user decided, read.
type event struct {
	key
	version  Version
	base     int64 // revision that the device had merged, 0 where it does not say
	at       time.Time
	row      *reactors.Row
	decision *decision // then version is what it says, but for the clock
}

// maxName bounds the names of rows that no guard has seen: an index takes 2,704
// bytes. The guard takes 200 characters of four bytes at the most.
const maxName = 1000

// readEvent reads a row; ok is false where it says nothing any more.
func readEvent(row *reactors.Row, current map[string]content, decisions map[string]*decision) (e event, ok bool, err error) {
	e.at, e.row = row.Committed, row
	if row.Watch == watchConflicts {
		return e.readDecision(row, decisions)
	}
	if e.user, err = readUUID(row, colUserID); err != nil {
		return e, false, fmt.Errorf("user_id: %w", err)
	}
	if e.entity, err = readUUID(row, colEntityID); err != nil {
		return e, false, fmt.Errorf("entity_id: %w", err)
	}
	var haveType, haveDevice bool
	e.typ, haveType = row.Text(colEntityType)
	e.version.Device, haveDevice = row.Text(colDeviceID)
	if !haveType || !haveDevice {
		return e, false, errors.New("entity_type or device_id is null")
	}
	if max(len(e.typ), len(e.version.Device)) > maxName {
		return e, false, fmt.Errorf("entity_type or device_id has more than %d bytes", maxName)
	}
	data, clock := row.Value(colData), row.Value(colVectorClock)
	deleted, _ := row.Text(colDeleted)
	e.version.Deleted = deleted == "t"
	if data.Kind == replication.Unchanged || clock.Kind == replication.Unchanged {
		id, _ := row.Text(colID)
		now, exists := current[id]
		switch {
		case exists && now.describes(row):
			data, clock = now.data, now.clock
		case e.version.Deleted && clock.Kind != replication.Unchanged:
			data = replication.Value{} // a deletion needs no data to be understood
		default:
			// The row has moved on, or is gone: a later change in the stream
			// tells what became of it.
			return e, false, nil
		}
	}
	if data.Kind == replication.Text {
		e.version.Data = data.Data
	}
	if clock.Kind == replication.Text {
		if e.version.Clock, err = ParseClock(clock.Data); err != nil {
			return e, false, fmt.Errorf("vector_clock: %w", err)
		}
	}
	if e.version.LastModified, err = readTime(row, colLastModified); err != nil {
		return e, false, fmt.Errorf("last_modified: %w", err)
	}
	if base, ok := row.Text(colBaseRevision); ok {
		if e.base, err = strconv.ParseInt(base, 10, 64); err != nil {
			return e, false, errors.New("base_revision is not a number")
		}
	}
	e.version.Content = ContentHash(e.version.Data, e.version.Deleted)
	return e, true, nil
}

func readUUID(row *reactors.Row, col int) ([16]byte, error) {
	return uuid.ParseBytes(row.Value(col).Data)
}

// readTime reads a timestamptz in ISO style. Null is the commit's time, and so
// is infinity, as any time too far ahead. What is before the year 1, -infinity
// too, is its first day: JSON has no form for it.
func readTime(row *reactors.Row, col int) (time.Time, error) {
	v := row.Value(col)
	if v.Kind != replication.Text {
		return row.Committed, nil
	}
	if t, err := time.Parse("2006-01-02 15:04:05.999999-07", string(v.Data)); err == nil {
		return bounded(pgtype.Timestamptz{Time: t}, row.Committed), nil
	}
	var t pgtype.Timestamptz // half-hour zones, BC, infinity
	if err := timestamps.Scan(pgtype.TimestamptzOID, pgtype.TextFormatCode, v.Data, &t); err != nil {
		return time.Time{}, errors.New("not a timestamp")
	}
	return bounded(t, row.Committed), nil
}

func bounded(t pgtype.Timestamptz, committed time.Time) time.Time {
	first := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	switch {
	case t.InfinityModifier == pgtype.Infinity:
		return committed
	case t.InfinityModifier == pgtype.NegativeInfinity || t.Time.Before(first):
		return first
	}
	return t.Time
}

var timestamps = pgtype.NewMap()
