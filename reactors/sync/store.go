package sync

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// store writes what changed: conflicts and siblings first, while the data that
// they take from the old rows is still there. It gives the ids of the conflicts
// that were not recorded before.
func store(ctx context.Context, tx pgx.Tx, touched []*entity) (recorded map[[16]byte]bool, err error) {
	recorded = map[[16]byte]bool{}
	var put, keep entityColumns
	var clashes clashColumns
	var merges mergeColumns
	var disputes disputeColumns
	var conflicts conflictColumns
	var siblings siblingColumns
	var dropped siblingColumns
	for _, e := range touched {
		for _, c := range e.conflicts {
			conflicts.add(e, c)
		}
		for i := range e.clashes {
			if err := clashes.add(e, &e.clashes[i]); err != nil {
				return nil, fmt.Errorf("store entities: %w", err)
			}
			if clashes.bytes > maxClashBytes {
				if err := clashes.flush(ctx, tx, recorded); err != nil {
					return nil, fmt.Errorf("store conflicts: %w", err)
				}
			}
		}
		for _, d := range e.open {
			if d.stored && d.closed() {
				disputes.add(d)
			}
		}
		merges.add(e)
		stands := map[string]bool{}
		for i := range e.Versions {
			if i == 0 {
				continue
			}
			v := &e.Versions[i]
			id := v.ID()
			stands[id] = true
			if !e.siblings[id] || v.Place != InSibling {
				siblings.add(e.key, id, v)
			}
		}
		for id := range e.siblings {
			if !stands[id] {
				dropped.add(e.key, id, &Version{})
			}
		}
		switch {
		case !e.changed:
		case e.stored && (e.Versions[0].Place == InEntity || e.Versions[0].same(&e.winner)):
			keep.add(e)
		default:
			put.add(e)
		}
	}
	batch := &pgx.Batch{}
	if len(conflicts.id) > 0 {
		conflicts.queue(batch, recorded)
	}
	if len(clashes.id) > 0 {
		clashes.queue(batch, recorded)
	}
	if len(disputes.id) > 0 {
		disputes.queue(batch)
	}
	if len(siblings.version) > 0 {
		siblings.queueInsert(batch)
	}
	if len(put.user) > 0 {
		put.queueUpsert(batch)
	}
	if len(keep.user) > 0 {
		keep.queueUpdate(batch)
	}
	if len(dropped.version) > 0 {
		dropped.queueDelete(batch)
	}
	merges.queue(batch)
	if batch.Len() == 0 {
		return recorded, nil
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("store entities: %w", err)
	}
	return recorded, nil
}

// keyColumns are the entities' keys as parameters of a set-based statement.
type keyColumns struct {
	user   [][16]byte
	typ    []string
	entity [][16]byte
}

func (c *keyColumns) add(k key) {
	c.user, c.typ, c.entity = append(c.user, k.user), append(c.typ, k.typ), append(c.entity, k.entity)
}

func (c *keyColumns) at(n int64) key { return key{c.user[n-1], c.typ[n-1], c.entity[n-1]} }

// versionColumns are versions as parameters; data where it is Here.
type versionColumns struct {
	version  []string
	device   []string
	clock    []string
	content  []string
	modified []time.Time
	deleted  []bool
	data     []*string
	place    []int32
}

func (c *versionColumns) add(id string, v *Version) {
	c.version, c.device = append(c.version, id), append(c.device, v.Device)
	c.clock, c.content = append(c.clock, clockJSON(v.Clock)), append(c.content, v.Content)
	c.modified, c.deleted = append(c.modified, v.LastModified), append(c.deleted, v.Deleted)
	c.data, c.place = append(c.data, text(v.Data)), append(c.place, int32(v.Place))
}

type siblingColumns struct {
	keyColumns
	versionColumns
}

func (c *siblingColumns) add(k key, id string, v *Version) {
	c.keyColumns.add(k)
	c.versionColumns.add(id, v)
}

func (c *siblingColumns) queueInsert(batch *pgx.Batch) {
	batch.Queue(`insert into helix.sync_siblings
			(user_id, entity_type, entity_id, version, device_id, clock, content_hash, last_modified, deleted, data)
		select p.user_id, p.entity_type, p.entity_id, p.version, p.device_id, p.clock::jsonb, p.content_hash,
			p.last_modified, p.deleted, case p.place when 1 then e.data else p.data::jsonb end
		from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[],
			$8::timestamptz[], $9::bool[], $10::text[], $11::int[])
			as p (user_id, entity_type, entity_id, version, device_id, clock, content_hash, last_modified, deleted, data, place)
		left join lateral (select data from public.sync_entities e where p.place = 1
			and (e.user_id, e.entity_type, e.entity_id) = (p.user_id, p.entity_type, p.entity_id) limit 1) e on true
		on conflict (user_id, entity_type, entity_id, version) do update set
			device_id = excluded.device_id, last_modified = excluded.last_modified`,
		c.user, c.typ, c.entity, c.version, c.device, c.clock, c.content, c.modified, c.deleted, c.data, c.place)
}

func (c *siblingColumns) queueDelete(batch *pgx.Batch) {
	batch.Queue(`delete from helix.sync_siblings s
		using unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[]) as p (user_id, entity_type, entity_id, version)
		where (s.user_id, s.entity_type, s.entity_id, s.version) = (p.user_id, p.entity_type, p.entity_id, p.version)`,
		c.user, c.typ, c.entity, c.version)
}

type entityColumns struct {
	keyColumns
	dataColumns // of the winners
	id          [][16]byte
	device      []string
	content     []string
	modified    []time.Time
	deleted     []bool
	joined      []string
	ownClock    []*string
	resolution  []string
	revision    []int64
	updated     []time.Time
	seen        []string
	merged      []bool
}

func (c *entityColumns) add(e *entity) {
	w := &e.Versions[0]
	c.keyColumns.add(e.key)
	c.dataColumns.add(w)
	c.id = append(c.id, e.key.id())
	c.device, c.content = append(c.device, w.Device), append(c.content, w.Content)
	c.modified, c.deleted = append(c.modified, w.LastModified), append(c.deleted, w.Deleted)
	c.joined = append(c.joined, clockJSON(e.Clock))
	var own *string
	if w.Clock.Compare(e.Clock) != Equal {
		s := clockJSON(w.Clock)
		own = &s
	}
	c.ownClock = append(c.ownClock, own)
	c.resolution, c.revision = append(c.resolution, string(e.Resolution)), append(c.revision, e.Revision)
	c.updated, c.seen = append(c.updated, e.Updated), append(c.seen, seenJSON(e.Seen))
	c.merged = append(c.merged, e.merge != nil)
}

func (c *entityColumns) queueUpsert(batch *pgx.Batch) {
	batch.Queue(`insert into public.sync_entities (user_id, entity_type, entity_id, id, data, vector_clock,
			last_modified, deleted, resolution, revision, updated_at, device_id, version_clock, content_hash, seen, merged)
		select p.user_id, p.entity_type, p.entity_id, p.id,
			case p.place when 2 then s.data else p.data::jsonb end, p.vector_clock::jsonb,
			p.last_modified, p.deleted, p.resolution, p.revision, p.updated_at, p.device_id,
			p.version_clock::jsonb, p.content_hash, p.seen::jsonb, p.merged
		from unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::text[], $6::int[], $7::text[], $8::text[],
			$9::timestamptz[], $10::bool[], $11::text[], $12::bigint[], $13::timestamptz[], $14::text[],
			$15::text[], $16::text[], $17::text[], $18::bool[])
			as p (user_id, entity_type, entity_id, id, data, place, version, vector_clock,
				last_modified, deleted, resolution, revision, updated_at, device_id,
				version_clock, content_hash, seen, merged)
		left join lateral (select data from helix.sync_siblings s where p.place = 2
			and (s.user_id, s.entity_type, s.entity_id, s.version) = (p.user_id, p.entity_type, p.entity_id, p.version) limit 1) s on true
		on conflict (user_id, entity_type, entity_id) do update set
			data = excluded.data, vector_clock = excluded.vector_clock, last_modified = excluded.last_modified,
			deleted = excluded.deleted, resolution = excluded.resolution, revision = excluded.revision,
			updated_at = excluded.updated_at, device_id = excluded.device_id,
			version_clock = excluded.version_clock, content_hash = excluded.content_hash, seen = excluded.seen,
			merged = excluded.merged`,
		c.user, c.typ, c.entity, c.id, c.data, c.place, c.version, c.joined, c.modified, c.deleted,
		c.resolution, c.revision, c.updated, c.device, c.ownClock, c.content, c.seen, c.merged)
}

// queueUpdate writes rows whose data stays: it is neither sent nor rewritten.
func (c *entityColumns) queueUpdate(batch *pgx.Batch) {
	batch.Queue(`update public.sync_entities e set
			vector_clock = p.vector_clock::jsonb, last_modified = p.last_modified, resolution = p.resolution,
			revision = p.revision, updated_at = p.updated_at, device_id = p.device_id,
			version_clock = p.version_clock::jsonb, seen = p.seen::jsonb, merged = p.merged
		from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::timestamptz[], $6::text[], $7::bigint[],
			$8::timestamptz[], $9::text[], $10::text[], $11::text[], $12::bool[])
			as p (user_id, entity_type, entity_id, vector_clock, last_modified, resolution, revision,
				updated_at, device_id, version_clock, seen, merged)
		where (e.user_id, e.entity_type, e.entity_id) = (p.user_id, p.entity_type, p.entity_id)`,
		c.user, c.typ, c.entity, c.joined, c.modified, c.resolution, c.revision, c.updated, c.device, c.ownClock, c.seen, c.merged)
}

func text(b []byte) *string {
	if b == nil {
		return nil
	}
	s := string(b)
	return &s
}

func clockJSON(c Clock) string {
	b, _ := c.MarshalJSON() // strings and numbers always marshal
	return string(b)
}

// parseSeen and seenJSON are sync_entities.seen: {"device": [counter, content hash]}.
func parseSeen(src []byte) (map[string]Dot, error) {
	var raw map[string][2]json.RawMessage
	if err := json.Unmarshal(src, &raw); err != nil {
		return nil, fmt.Errorf("sync_entities.seen: %w", err)
	}
	seen := make(map[string]Dot, len(raw))
	for device, pair := range raw {
		var d Dot
		if err := json.Unmarshal(pair[0], &d.Counter); err != nil {
			return nil, fmt.Errorf("sync_entities.seen: %w", err)
		}
		if err := json.Unmarshal(pair[1], &d.Content); err != nil {
			return nil, fmt.Errorf("sync_entities.seen: %w", err)
		}
		seen[device] = d
	}
	return seen, nil
}

func seenJSON(seen map[string]Dot) string {
	raw := make(map[string][2]any, len(seen))
	for device, d := range seen {
		raw[device] = [2]any{d.Counter, d.Content}
	}
	b, _ := json.Marshal(raw) // strings and numbers always marshal
	return string(b)
}
