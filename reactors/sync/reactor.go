package sync

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
)

// Reactor resolves sync_state into sync_entities and sync_conflicts.
type Reactor struct{}

// Name implements reactors.Reactor.
func (Reactor) Name() string { return "sync" }

// The columns that are watched.
const (
	colID = iota
	colUserID
	colEntityType
	colEntityID
	colDeviceID
	colData
	colVectorClock
	colLastModified
	colDeleted
)

// Watches implements reactors.Reactor.
func (Reactor) Watches() []reactors.Watch {
	// Not the deletes: a device that deletes its row is retired, and its versions
	// and what is known of its writes stay.
	return []reactors.Watch{{
		Table: "public.sync_state",
		Ops:   []replication.Op{replication.Insert, replication.Update},
		Columns: []string{"id", "user_id", "entity_type", "entity_id", "device_id", "data",
			"vector_clock", "last_modified", "deleted"},
	}}
}

// Writes implements reactors.Reactor.
func (Reactor) Writes() []string {
	return []string{"public.sync_entities", "public.sync_conflicts", "helix.sync_siblings"}
}

// key names an entity.
type key struct {
	user   [16]byte
	typ    string
	entity [16]byte
}

// namespace is that of the ids of result rows: the same entity has the same id
// wherever it is computed.
var namespace = uuid.MustParse("6b0d3f5e-5a39-4d52-9a3c-2c1f0f8e7b11")

func (k key) id() [16]byte {
	name := make([]byte, 0, 32+len(k.typ))
	name = append(append(append(name, k.user[:]...), k.entity[:]...), k.typ...)
	return uuid.NewSHA1(namespace, name)
}

// entity is one State and what the database has of it.
type entity struct {
	State
	key

	loaded    int64           // the Revision that it had
	large     bool            // its clock is large, and not loaded
	stored    bool            // a row of sync_entities exists
	storedID  string          // the version that it holds
	siblings  map[string]bool // versions in helix.sync_siblings
	changed   bool
	conflicts []Conflict
	lost      map[[16]byte]bool // ids of conflicts
}

// event is one row, read.
type event struct {
	key
	version Version
	at      time.Time
	row     *reactors.Row
}

// React implements reactors.Reactor.
func (r Reactor) React(ctx context.Context, tx *reactors.Tx, rows []reactors.Row) error {
	current, err := readUnchanged(ctx, tx, rows)
	if err != nil {
		return err
	}
	events := make([]event, 0, len(rows))
	for i := range rows {
		e, ok, err := readEvent(&rows[i], current)
		if err != nil {
			tx.Reject(rows[i], err)
		} else if ok {
			events = append(events, e)
		}
	}
	if len(events) == 0 {
		return nil
	}
	for part := range slices.Chunk(events, maxEvents) {
		if err := r.resolve(ctx, tx, part, false); err != nil {
			return err
		}
	}
	return nil
}

// maxEvents bounds what is loaded at a time.
const maxEvents = 1000

// resolve loads the events' entities, applies the events and stores what
// changed. Entities with large clocks are put off, and taken one by one.
func (r Reactor) resolve(ctx context.Context, tx *reactors.Tx, events []event, large bool) error {
	entities, err := load(ctx, tx, events, large)
	if err != nil {
		return err
	}
	var touched []*entity
	var later []key
	putOff := map[key][]event{}
	for i := range events {
		e := entities[events[i].key]
		switch {
		case e == nil: // the account is gone
			continue
		case e.large:
			if putOff[e.key] == nil {
				later = append(later, e.key)
			}
			putOff[e.key] = append(putOff[e.key], events[i])
			continue
		case e.Clock.size()+events[i].version.Clock.size() > MaxClockBytes &&
			e.Clock.Join(events[i].version.Clock).size() > MaxClockBytes:
			tx.Reject(*events[i].row, fmt.Errorf("vector_clock: the clock of the entity would have more than %d bytes", MaxClockBytes))
			continue
		}
		before := e.changed || len(e.conflicts) > 0
		e.take(&events[i])
		if !before && (e.changed || len(e.conflicts) > 0) {
			touched = append(touched, e)
		}
	}
	if err := store(ctx, tx, touched); err != nil {
		return err
	}
	announce(tx, touched)
	for _, k := range later {
		if err := r.resolve(ctx, tx, putOff[k], true); err != nil {
			return err
		}
	}
	return nil
}

func (e *entity) take(ev *event) {
	conflicts, changed := e.Apply(ev.version, ev.at)
	for _, c := range conflicts {
		id := e.conflictID(&c)
		if !e.lost[id] { // a version that loses again is recorded already
			if e.lost == nil {
				e.lost = map[[16]byte]bool{}
			}
			e.lost[id] = true
			e.conflicts = append(e.conflicts, c)
		}
	}
	e.changed = e.changed || changed
}

// maxName bounds the names of rows that no guard has seen: an index takes 2,704
// bytes. The guard takes 200 characters of four bytes at the most.
const maxName = 1000

// readEvent reads a row; ok is false where it says nothing any more.
func readEvent(row *reactors.Row, current map[string]content) (e event, ok bool, err error) {
	e.at, e.row = row.Committed, row
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

// announce broadcasts what changed, with clock and data where they are small.
func announce(tx *reactors.Tx, touched []*entity) {
	const small = 4096 // bytes; a message may have 256 KB at most
	for _, e := range touched {
		w := &e.Versions[0]
		user, entityID := uuid.UUID(e.user).String(), uuid.UUID(e.entity).String()
		name := map[string]string{"entity_type": e.typ, "entity_id": entityID}
		if e.Revision != e.loaded {
			record := map[string]any{
				"entity_type": e.typ, "entity_id": entityID,
				"last_modified": w.LastModified.UTC(), "deleted": w.Deleted, "resolution": e.Resolution,
				"revision": e.Revision, "updated_at": e.Updated.UTC(), "device_id": w.Device,
			}
			if clock := clockJSON(e.Clock); len(clock) <= small {
				record["vector_clock"] = json.RawMessage(clock)
			}
			if w.Place == Here && w.Data == nil {
				record["data"] = nil
			} else if w.Place == Here && len(w.Data) <= small {
				record["data"] = json.RawMessage(w.Data)
			}
			op := replication.Update
			if !e.stored {
				op = replication.Insert
			}
			tx.Broadcast(reactors.Broadcast{UserID: user, Op: op, Table: "sync_entities",
				Key: name, ID: uuid.UUID(e.key.id()).String(), Record: record})
		}
		for i := range e.conflicts {
			c := &e.conflicts[i]
			tx.Broadcast(reactors.Broadcast{UserID: user, Op: replication.Insert, Table: "sync_conflicts",
				Key: name, ID: uuid.UUID(e.conflictID(c)).String(),
				Record: map[string]any{"entity_type": e.typ, "entity_id": entityID, "kind": c.Kind,
					"strategy": LastWriteWins, "resolved": true}})
		}
	}
}

// conflictID is the same whenever and against whom the version lost: it is
// recorded once.
func (e *entity) conflictID(c *Conflict) [16]byte {
	id := e.key.id()
	return uuid.NewSHA1(id, []byte(c.Loser.ID()))
}
