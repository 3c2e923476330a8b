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

// dispute asks the user for one of two versions that stand: the one that is shown,
// or the other. It is open while both stand and the first is shown.
type dispute struct {
	id         [16]byte
	versions   [2]string // IDs of the winner and the loser; "" of a record, which asks nothing
	clocks     [2]Clock  // theirs
	stored     bool
	resolution *string // JSON; nil is what the row has, "" the winner
	resolvedAt *time.Time
}

func (d *dispute) closed() bool { return d.resolvedAt != nil }

// supersede closes d, for a version that came between.
func (d *dispute) supersede(by *Version, at time.Time) {
	version := map[string]any{"device_id": by.Device, "last_modified": by.LastModified.UTC()}
	if by.Clock.size() <= smallWinner { // it may supersede many
		version["vector_clock"] = by.Clock
	}
	b, _ := marshal(map[string]any{"superseded_by": version}) // marshals always
	s := string(b)
	d.resolution, d.resolvedAt = &s, &at
}

// decision is what a user wants to have in place of a dispute's versions.
type decision struct {
	key
	id      [16]byte
	data    []byte
	deleted bool
}

// record keeps a conflict that is over, once for each loser. Under manual, one
// whose loser stands is not over: settle asks.
func (e *entity) record(c Conflict) {
	id := e.conflictID(c.Loser.ID())
	manual := e.policy.Strategy == ManualStrategy
	if e.lost[id] || manual && e.Versions.has(&c.Loser) {
		return
	}
	r := &record{Conflict: c, id: id}
	if manual {
		r.dispute = &dispute{id: id, resolution: new(string), resolvedAt: &c.At}
	}
	e.hold(r)
}

// hold keeps a record until it is stored.
func (e *entity) hold(r *record) {
	if e.lost == nil {
		e.lost = map[[16]byte]bool{}
	}
	e.lost[e.conflictID(r.Loser.ID())] = true
	if r.asks() { // it is sure to be stored, with the winner's data
		e.lost[e.conflictID(r.Winner.ID())] = true
	}
	e.conflicts = append(e.conflicts, r)
}

// decide makes a version of a decision, which includes both that were disputed.
// It gives false where the dispute is over already, or one of them stands no more.
func (e *entity) decide(ev *event) bool {
	i := slices.IndexFunc(e.open, func(d *dispute) bool { return d.id == ev.decision.id })
	if i < 0 || e.open[i].closed() {
		return false
	}
	d := e.open[i]
	if stands := e.standing(); e.merge == nil && len(stands) > 0 && !(stands[d.versions[0]] && stands[d.versions[1]]) {
		return false
	}
	// A client may have counted so far under this name that there is no next number.
	own := Clock{{decider, min(e.Clock.Counter(decider)+1, MaxCounter)}}
	ev.version.Clock = d.clocks[0].Join(d.clocks[1]).Join(own)
	return true
}

// standing are the IDs of the versions that stand.
func (e *entity) standing() map[string]bool {
	stands := make(map[string]bool, len(e.Versions))
	for i := range e.Versions {
		stands[e.Versions[i].ID()] = true
	}
	return stands
}

// settle closes the disputes that an event ends: the one that v decides, and
// those of which a version stands no more. Under manual it closes those against
// another winner too, and asks about each version beside the winner, so that as
// many are open as stand beside it. Where v is nil nothing was decided.
func (e *entity) settle(v *Version, ev *event) {
	manual := e.policy.Strategy == ManualStrategy
	if !manual && ev.decision == nil || len(e.Versions) == 1 && len(e.open) == 0 {
		return
	}
	stands := e.standing()
	shown, by := e.Versions[0].ID(), &e.Versions[0]
	if v != nil {
		if i := slices.IndexFunc(e.Versions, func(m Version) bool { return m.same(v) }); i >= 0 {
			by = &e.Versions[i]
		}
	}
	asked := map[string]bool{}
	for _, d := range e.open {
		switch {
		case d.closed():
		case v != nil && ev.decision != nil && ev.decision.id == d.id:
			d.resolvedAt = &ev.at
		case e.merge != nil: // what stands is one version
		case stands[d.versions[0]] && stands[d.versions[1]] && (!manual || d.versions[0] == shown):
			asked[d.versions[1]] = true
		default:
			d.supersede(by, ev.at)
		}
	}
	if !manual {
		return
	}
	for i := 1; i < len(e.Versions); i++ {
		if loser := e.Versions[i].ID(); !asked[loser] {
			e.ask(Conflict{ConcurrentWrites, e.Versions[0], e.Versions[i], ev.at}, [2]string{shown, loser})
		}
	}
}

// ask opens a dispute. The same two versions may be asked about again, when the
// one has come to be shown again; no two times are of one revision.
func (e *entity) ask(c Conflict, versions [2]string) {
	id := e.conflictID(fmt.Sprintf("%s %s %d", versions[0], versions[1], e.Revision))
	d := &dispute{id: id, versions: versions, clocks: [2]Clock{c.Winner.Clock, c.Loser.Clock}}
	e.open = append(e.open, d)
	e.hold(&record{c, id, d})
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
		left join lateral (select c.versions -> (c.resolution ->> 'winner')::numeric::int as version) w on true
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
	rows, err := tx.Query(ctx, `select k.n, c.id, (c.versions -> 0 -> 'vector_clock')::text, (c.versions -> 1 -> 'vector_clock')::text,
			coalesce(c.versions -> 0 ->> 'version', ''), coalesce(c.versions -> 1 ->> 'version', '')
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
	var versions [2]string
	_, err = pgx.ForEachRow(rows, []any{&n, &id, &clocks[0], &clocks[1], &versions[0], &versions[1]}, func() (err error) {
		d := &dispute{id: id, versions: versions, stored: true}
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
