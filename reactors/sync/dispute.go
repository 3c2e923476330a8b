package sync

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors"
)

// decider is the device under which a user's decisions are versions.
const decider = "helixd"

// dispute is a manual conflict: it is open until its user decides, or until a
// device writes a version that includes both.
type dispute struct {
	id         [16]byte
	clocks     [2]Clock // the winner's and the loser's
	stored     bool
	resolution *string // JSON; nil is what the row has, "" the winner
	resolvedAt *time.Time
}

func (d *dispute) closed() bool { return d.resolvedAt != nil }

// decision is what a user wants to have in place of a dispute's versions.
type decision struct {
	key
	id      [16]byte
	data    []byte
	deleted bool
}

// record prepares a conflict for the database.
func (e *entity) record(c Conflict, id [16]byte) *record {
	if e.policy.Strategy != ManualStrategy {
		return &record{Conflict: c}
	}
	if d := e.disputeOf(id); d != nil {
		return &record{c, d}
	}
	d := &dispute{id: id, clocks: [2]Clock{c.Winner.Clock, c.Loser.Clock}}
	if c.Kind == Stale { // its device has gone on: there is nothing to decide
		d.resolution, d.resolvedAt = new(string), &c.At
	} else {
		e.open = append(e.open, d)
	}
	return &record{c, d}
}

func (e *entity) disputeOf(id [16]byte) *dispute {
	if i := slices.IndexFunc(e.open, func(d *dispute) bool { return d.id == id }); i >= 0 {
		return e.open[i]
	}
	return nil
}

// decide makes a version of a decision, which includes both that were disputed,
// forks too. It gives false where the dispute is over already.
func (e *entity) decide(ev *event) bool {
	d := e.disputeOf(ev.decision.id)
	if d == nil || d.closed() {
		return false
	}
	own := Clock{{decider, e.Clock.Counter(decider) + 1}}
	ev.version.Clock = d.clocks[0].Join(d.clocks[1]).Join(own)
	return true
}

// settle closes the disputes that a version ends: the one that it decides, and
// while the policy is manual those whose versions it includes.
func (e *entity) settle(v *Version, ev *event) {
	for _, d := range e.open {
		decided := ev.decision != nil && ev.decision.id == d.id
		if !decided && e.policy.Strategy != ManualStrategy {
			continue
		}
		if d.closed() || v.Clock.Compare(d.clocks[0]) != After || v.Clock.Compare(d.clocks[1]) != After {
			continue
		}
		d.resolvedAt = &ev.at
		if !decided {
			by, _ := marshal(map[string]any{"superseded_by": map[string]any{ // marshals always
				"device_id": v.Device, "vector_clock": v.Clock, "last_modified": v.LastModified.UTC()}})
			s := string(by)
			d.resolution = &s
		}
	}
}

// readDecisions reads, by id, the conflicts that rows of the inbox tell of.
func readDecisions(ctx context.Context, tx pgx.Tx, rows []reactors.Row) (map[string]*decision, error) {
	var ids []string
	for i := range rows {
		if rows[i].Watch == watchConflicts {
			if id, ok := conflictKey(&rows[i]); ok {
				ids = append(ids, id)
			}
		}
	}
	if ids == nil {
		return nil, nil
	}
	found, err := tx.Query(ctx, `select c.id, c.user_id, c.entity_type, c.entity_id,
			(case when w.version is null then c.resolution -> 'data' else nullif(w.version -> 'data', 'null') end)::text,
			coalesce((coalesce(w.version, c.resolution) ->> 'deleted')::boolean, false)
		from public.sync_conflicts c
		left join lateral (select c.versions -> (c.resolution ->> 'winner')::int as version) w on true
		where c.id = any($1::text[]::uuid[]) and c.strategy = 'manual' and not c.resolved
			and jsonb_typeof(c.resolution) = 'object'`, ids)
	if err != nil {
		return nil, fmt.Errorf("read resolutions: %w", err)
	}
	decisions := map[string]*decision{}
	var d decision
	_, err = pgx.ForEachRow(found, []any{&d.id, &d.user, &d.typ, &d.entity, &d.data, &d.deleted}, func() error {
		c := d
		c.data = slices.Clone(d.data)
		decisions[uuid.UUID(d.id).String()] = &c
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read resolutions: %w", err)
	}
	return decisions, nil
}

func conflictKey(row *reactors.Row) (id string, ok bool) {
	key, _ := row.InboxKey()
	var k struct{ ID uuid.UUID }
	if json.Unmarshal(key, &k) != nil {
		return "", false
	}
	return k.ID.String(), true
}

// readDecision makes an event of a resolution; ok is false where the conflict is
// gone or resolved.
func (e event) readDecision(row *reactors.Row, decisions map[string]*decision) (event, bool, error) {
	id, _ := conflictKey(row)
	d := decisions[id]
	if d == nil {
		return e, false, nil
	}
	e.key, e.decision = d.key, d
	e.version = Version{Device: decider, LastModified: e.at, Deleted: d.deleted, Data: d.data}
	e.version.Content = ContentHash(d.data, d.deleted)
	return e, true, nil
}

// loadDisputes reads the open conflicts of entities that are resolved by hand,
// or that a decision is about.
func loadDisputes(ctx context.Context, tx pgx.Tx, entities map[key]*entity, events []event) error {
	wanted := map[key]bool{}
	for i := range events {
		if events[i].decision != nil {
			wanted[events[i].key] = true
		}
	}
	var keys keyColumns
	for k, e := range entities {
		if !e.large && (e.policy.Strategy == ManualStrategy || wanted[k]) {
			keys.add(k)
		}
	}
	if len(keys.user) == 0 {
		return nil
	}
	rows, err := tx.Query(ctx, `select k.n, c.id, (c.versions -> 0 -> 'vector_clock')::text, (c.versions -> 1 -> 'vector_clock')::text
		from unnest($1::uuid[], $2::text[], $3::uuid[]) with ordinality as k (user_id, entity_type, entity_id, n)
		join public.sync_conflicts c using (user_id, entity_type, entity_id)
		where not c.resolved and c.strategy = 'manual'
			and jsonb_typeof(c.versions -> 0 -> 'vector_clock') = 'object' and jsonb_typeof(c.versions -> 1 -> 'vector_clock') = 'object'`,
		keys.user, keys.typ, keys.entity)
	if err != nil {
		return fmt.Errorf("load open conflicts: %w", err)
	}
	var n int64
	var id [16]byte
	var clocks [2][]byte
	_, err = pgx.ForEachRow(rows, []any{&n, &id, &clocks[0], &clocks[1]}, func() (err error) {
		d := &dispute{id: id, stored: true}
		for i := range clocks {
			if d.clocks[i], err = storedClock(clocks[i]); err != nil {
				return err
			}
		}
		e := entities[keys.at(n)]
		e.open = append(e.open, d)
		return nil
	})
	if err != nil {
		return fmt.Errorf("load open conflicts: %w", err)
	}
	return nil
}

// disputeColumns are stored disputes that are over.
type disputeColumns struct {
	id         [][16]byte
	resolution []*string
	at         []time.Time
}

func (c *disputeColumns) add(d *dispute) {
	c.id, c.resolution, c.at = append(c.id, d.id), append(c.resolution, d.resolution), append(c.at, *d.resolvedAt)
}

// queue keeps what a user set meanwhile beside what ended the dispute.
func (c *disputeColumns) queue(batch *pgx.Batch) {
	batch.Queue(`update public.sync_conflicts c set resolved = true, resolved_at = p.at,
			resolution = case when p.resolution is null then c.resolution else coalesce(c.resolution, '{}') || p.resolution::jsonb end
		from unnest($1::uuid[], $2::text[], $3::timestamptz[]) as p (id, resolution, at)
		where c.id = p.id and not c.resolved`, c.id, c.resolution, c.at)
}
