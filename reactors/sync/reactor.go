package sync

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

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
	colBaseRevision
)

// The tables that are watched.
const (
	watchState = iota
	watchConflicts
)

// Watches implements reactors.Reactor.
func (Reactor) Watches() []reactors.Watch {
	// Not the deletes: a device that deletes its row is retired, and its versions
	// and what is known of its writes stay.
	return []reactors.Watch{{
		Table: "public.sync_state",
		Ops:   []replication.Op{replication.Insert, replication.Update},
		Columns: []string{"id", "user_id", "entity_type", "entity_id", "device_id", "data",
			"vector_clock", "last_modified", "deleted", "base_revision"},
	}, {
		Table: "public.sync_conflicts", // the user's decisions
		Ops:   []replication.Op{replication.Update},
	}}
}

// Writes implements reactors.Reactor.
func (Reactor) Writes() []string {
	return []string{"public.sync_entities", "public.sync_conflicts", "helix.sync_siblings",
		"helix.sync_versions", "helix.sync_roots"}
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
	policy Policy // zero where the user has none

	loaded    int64           // the Revision that it had
	merged    bool            // it was merged when it was last stored
	large     bool            // its clock is large, and not loaded
	stored    bool            // a row of sync_entities exists
	winner    Version         // that it holds
	siblings  map[string]bool // versions in helix.sync_siblings
	changed   bool
	conflicts []*record
	lost      map[[16]byte]bool // conflictIDs of the versions that they keep

	merge   *Merge // of an entity whose policy is merge
	clashes []Clash
	open    []*dispute // manual conflicts that were not resolved when this began
}

// record is a Conflict as it is to be stored.
type record struct {
	Conflict
	id       [16]byte
	*dispute // of a manual one
}

// asks reports whether the user is asked, or was.
func (r *record) asks() bool { return r.dispute != nil && r.versions[0] != "" }

// touched reports whether there is anything to store.
func (e *entity) touched() bool {
	return e.changed || len(e.conflicts) > 0 || len(e.clashes) > 0 || slices.ContainsFunc(e.open, func(d *dispute) bool { return d.closed() })
}

// React implements reactors.Reactor.
func (r Reactor) React(ctx context.Context, tx *reactors.Tx, rows []reactors.Row) error {
	cut, err := parts(ctx, tx, rows)
	if err != nil {
		return err
	}
	for _, part := range cut {
		if err := r.react(ctx, tx, part); err != nil {
			return err
		}
	}
	return nil
}

func (r Reactor) react(ctx context.Context, tx *reactors.Tx, rows []reactors.Row) error {
	current, err := readUnchanged(ctx, tx, rows)
	if err != nil {
		return err
	}
	decisions, err := readDecisions(ctx, tx, rows)
	if err != nil {
		return err
	}
	events := make([]event, 0, len(rows))
	for i := range rows {
		e, ok, err := readEvent(&rows[i], current, decisions)
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
// changed. Entities with large clocks are put off, and taken one by one; so are
// those that merge, a few at a time.
func (r Reactor) resolve(ctx context.Context, tx *reactors.Tx, events []event, large bool) error {
	entities, err := load(ctx, tx, events, large)
	if err != nil {
		return err
	}
	if err := loadDisputes(ctx, tx, entities, events); err != nil {
		return err
	}
	var touched, merging []*entity
	var later []key
	putOff := map[key][]event{}
	for i := range events {
		e := entities[events[i].key]
		switch {
		case e == nil: // the account is gone
		case e.large || e.policy.Strategy == MergeStrategy:
			if putOff[e.key] == nil && e.large {
				later = append(later, e.key)
			} else if putOff[e.key] == nil {
				merging = append(merging, e)
			}
			putOff[e.key] = append(putOff[e.key], events[i])
		default:
			before := e.touched()
			e.take(tx, &events[i])
			if !before && e.touched() {
				touched = append(touched, e)
			}
		}
	}
	if err := r.keep(ctx, tx, touched); err != nil {
		return err
	}
	if err := r.resolveMerges(ctx, tx, merging, putOff); err != nil {
		return err
	}
	for _, k := range later {
		if err := r.resolve(ctx, tx, putOff[k], true); err != nil {
			return err
		}
	}
	return nil
}

// keep stores what changed, and tells of it.
func (Reactor) keep(ctx context.Context, tx *reactors.Tx, touched []*entity) error {
	recorded, err := store(ctx, tx, touched)
	if err != nil {
		return err
	}
	announce(tx, touched, recorded)
	return nil
}

// take applies an event.
func (e *entity) take(tx *reactors.Tx, ev *event) {
	if tooNested(ev.version.Data) {
		tx.Reject(*ev.row, errNesting)
		return
	}
	if ev.decision != nil && !e.decide(ev) {
		if len(e.Versions) > 0 {
			e.settle(nil, ev)
		}
		return
	}
	v := ev.version
	if e.Clock.size()+v.Clock.size() > MaxClockBytes && e.Clock.Join(v.Clock).size() > MaxClockBytes {
		tx.Reject(*ev.row, fmt.Errorf("vector_clock: the clock of the entity would have more than %d bytes", MaxClockBytes))
		return
	}
	if e.merge != nil {
		clashes, changed := e.merge.Apply(&e.State, v, ev.base, ev.at, e.policy)
		e.clashes, e.changed = append(e.clashes, clashes...), e.changed || changed
	} else {
		e.Rebase(&v, ev.base)
		conflicts, changed := e.Apply(v, ev.at)
		for _, c := range conflicts {
			e.record(c)
		}
		if ev.decision != nil && e.Resolution == FastForward {
			e.Resolution = Manual
		}
		e.changed = e.changed || changed
	}
	e.settle(&v, ev)
}
