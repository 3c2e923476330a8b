package sync

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// mergeColumns are what merged entities keep, as parameters.
type mergeColumns struct {
	versions deltaColumns
	dropped  siblingKeys
	roots    rootColumns
	others   keyColumns // they merge no more
}

type siblingKeys struct {
	keyColumns
	version []string
}

type deltaColumns struct {
	siblingKeys
	device, clock, content, writes []string
	counter, revision              []int64
	wall, logical                  []int64
	modified                       []time.Time
	deleted, apart                 []bool
	data                           []*string
}

type rootColumns struct {
	keyColumns
	clock, registers        []string
	wall, logical, revision []int64
	live, sealed            []bool
}

func (c *mergeColumns) add(e *entity) {
	m := e.merge
	if m == nil {
		if e.changed && e.merged {
			c.others.add(e.key)
		}
		return
	}
	for _, d := range m.kept {
		if d.stored {
			continue
		}
		v := &c.versions
		v.keyColumns.add(e.key)
		v.version, v.device, v.clock = append(v.version, d.id), append(v.device, d.Device), append(v.clock, clockJSON(d.Clock))
		v.counter, v.content = append(v.counter, int64(d.counter)), append(v.content, d.Content)
		v.modified, v.deleted, v.revision = append(v.modified, d.LastModified), append(v.deleted, d.Deleted), append(v.revision, d.revision)
		v.wall, v.logical, v.apart = append(v.wall, d.Wall), append(v.logical, d.Logical), append(v.apart, d.apart)
		v.writes, v.data = append(v.writes, d.writes.json(false)), append(v.data, d.data)
	}
	for _, id := range m.dropped {
		c.dropped.keyColumns.add(e.key)
		c.dropped.version = append(c.dropped.version, id)
	}
	if r := &m.root; r.changed {
		c.roots.keyColumns.add(e.key)
		c.roots.clock, c.roots.registers = append(c.roots.clock, clockJSON(r.Clock)), append(c.roots.registers, r.Registers.json(true))
		c.roots.wall, c.roots.logical = append(c.roots.wall, r.Last.Wall), append(c.roots.logical, r.Last.Logical)
		c.roots.revision = append(c.roots.revision, r.Revision)
		c.roots.live, c.roots.sealed = append(c.roots.live, r.Live), append(c.roots.sealed, r.Sealed)
	}
}

func (c *mergeColumns) queue(batch *pgx.Batch) {
	if v := &c.versions; len(v.version) > 0 {
		batch.Queue(`insert into helix.sync_versions (user_id, entity_type, entity_id, version, device_id, clock, counter,
				content_hash, last_modified, deleted, revision, wall, logical, apart, writes, data)
			select user_id, entity_type, entity_id, version, device_id, clock::jsonb, counter,
				content_hash, last_modified, deleted, revision, wall, logical, apart, writes::jsonb, data::jsonb
			from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[],
				$9::timestamptz[], $10::bool[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bool[], $15::text[], $16::text[])
				as p (user_id, entity_type, entity_id, version, device_id, clock, counter, content_hash, last_modified, deleted,
					revision, wall, logical, apart, writes, data)
			on conflict (user_id, entity_type, entity_id, version) do update set
				device_id = excluded.device_id, clock = excluded.clock, counter = excluded.counter, last_modified = excluded.last_modified,
				wall = excluded.wall, logical = excluded.logical, apart = excluded.apart, writes = excluded.writes`,
			v.user, v.typ, v.entity, v.version, v.device, v.clock, v.counter, v.content,
			v.modified, v.deleted, v.revision, v.wall, v.logical, v.apart, v.writes, v.data)
	}
	if d := &c.dropped; len(d.version) > 0 {
		batch.Queue(`delete from helix.sync_versions v
			using unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[]) as p (user_id, entity_type, entity_id, version)
			where (v.user_id, v.entity_type, v.entity_id, v.version) = (p.user_id, p.entity_type, p.entity_id, p.version)`,
			d.user, d.typ, d.entity, d.version)
	}
	if r := &c.roots; len(r.user) > 0 {
		batch.Queue(`insert into helix.sync_roots (user_id, entity_type, entity_id, clock, wall, logical, revision, live, sealed, registers)
			select user_id, entity_type, entity_id, clock::jsonb, wall, logical, revision, live, sealed, registers::jsonb
			from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bool[], $9::bool[], $10::text[])
				as p (user_id, entity_type, entity_id, clock, wall, logical, revision, live, sealed, registers)
			on conflict (user_id, entity_type, entity_id) do update set clock = excluded.clock, wall = excluded.wall,
				logical = excluded.logical, revision = excluded.revision, live = excluded.live, sealed = excluded.sealed,
				registers = excluded.registers`,
			r.user, r.typ, r.entity, r.clock, r.wall, r.logical, r.revision, r.live, r.sealed, r.registers)
	}
	if k := &c.others; len(k.user) > 0 {
		for _, table := range []string{"sync_versions", "sync_roots"} {
			batch.Queue(fmt.Sprintf(`delete from helix.%s t
				using unnest($1::uuid[], $2::text[], $3::uuid[]) as p (user_id, entity_type, entity_id)
				where (t.user_id, t.entity_type, t.entity_id) = (p.user_id, p.entity_type, p.entity_id)`, table), k.user, k.typ, k.entity)
		}
	}
}

// clashColumns are clashes as parameters.
type clashColumns struct {
	keyColumns
	id                         [][16]byte
	kind, versions, resolution []string
	at                         []time.Time
	known                      map[[16]byte]bool
	bytes                      int // of versions
}

// maxClashBytes bounds a statement that stores clashes.
const maxClashBytes = 4 << 20

// flush stores them.
func (c *clashColumns) flush(ctx context.Context, tx pgx.Tx, recorded map[[16]byte]bool) error {
	batch := &pgx.Batch{}
	c.queue(batch, recorded)
	*c = clashColumns{known: c.known}
	return tx.SendBatch(ctx, batch).Close()
}

func (c *clashColumns) add(e *entity, f *Clash) error {
	id := e.clashID(f)
	if c.known[id] {
		return nil
	}
	if c.known == nil {
		c.known = map[[16]byte]bool{}
	}
	c.known[id] = true
	versions, err := f.MarshalJSON()
	if err != nil {
		return err
	}
	c.bytes += len(versions)
	c.keyColumns.add(e.key)
	c.id, c.kind, c.at = append(c.id, id), append(c.kind, string(f.Kind)), append(c.at, f.At)
	c.versions, c.resolution = append(c.versions, string(versions)), append(c.resolution, f.winnerSummary())
	return nil
}

func (c *clashColumns) queue(batch *pgx.Batch, recorded map[[16]byte]bool) {
	batch.Queue(`insert into public.sync_conflicts
			(id, user_id, entity_type, entity_id, versions, strategy, kind, resolved, resolution, created_at, resolved_at)
		select id, user_id, entity_type, entity_id, versions::jsonb, 'merge', kind, true, resolution::jsonb, at, at
		from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::timestamptz[])
			as p (id, user_id, entity_type, entity_id, versions, kind, resolution, at)
		on conflict (id) do nothing returning id`,
		c.id, c.user, c.typ, c.entity, c.versions, c.kind, c.resolution, c.at).Query(collect(recorded))
}
