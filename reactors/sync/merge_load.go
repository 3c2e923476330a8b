package sync

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors"
)

// Merged entities are loaded a few at a time, and large ones alone: unlike last
// write wins, a merge needs what was written.
const (
	mergeGroup = 64
	largeMerge = 256 << 10 // bytes as stored, mostly compressed
	maxSeed    = 4 << 20   // bytes of an entity's siblings that begin a merge, of the newest
)

// resolveMerges applies the events of entities that merge.
func (r Reactor) resolveMerges(ctx context.Context, tx *reactors.Tx, entities []*entity, events map[key][]event) error {
	if len(entities) == 0 {
		return nil
	}
	sizes, err := mergeSizes(ctx, tx, entities)
	if err != nil {
		return err
	}
	for len(entities) > 0 {
		n, bytes := 0, int64(0)
		for n < len(entities) && n < mergeGroup && (n == 0 || bytes+sizes[entities[n]] <= largeMerge) {
			bytes += sizes[entities[n]]
			n++
		}
		group := entities[:n]
		entities = entities[n:]
		if err := loadMerges(ctx, tx, group); err != nil {
			return err
		}
		var touched []*entity
		for _, e := range group {
			for i := range events[e.key] {
				e.take(tx, &events[e.key][i])
			}
			if len(e.Versions) > 0 || e.merge.dirty {
				e.merge.Finish(&e.State)
			}
			if e.touched() {
				touched = append(touched, e)
			}
		}
		if err := r.keep(ctx, tx, touched); err != nil {
			return err
		}
		for _, e := range group { // what it took is free again
			e.merge, e.Versions, e.clashes = nil, nil, nil
		}
	}
	return nil
}

func keysOf(entities []*entity) (keys keyColumns) {
	for _, e := range entities {
		keys.add(e.key)
	}
	return keys
}

func mergeSizes(ctx context.Context, tx pgx.Tx, entities []*entity) (map[*entity]int64, error) {
	sizes := make(map[*entity]int64, len(entities))
	if len(entities) == 1 {
		return sizes, nil
	}
	keys := keysOf(entities)
	rows, err := tx.Query(ctx, `select k.n, coalesce(sum(s.bytes), 0)
		from unnest($1::uuid[], $2::text[], $3::uuid[]) with ordinality as k (user_id, entity_type, entity_id, n)
		cross join lateral (
			select pg_column_size(e.data) as bytes from public.sync_entities e
				where (e.user_id, e.entity_type, e.entity_id) = (k.user_id, k.entity_type, k.entity_id)
			union all select pg_column_size(v.writes) + coalesce(pg_column_size(v.data), 0) + pg_column_size(v.clock) from helix.sync_versions v
				where (v.user_id, v.entity_type, v.entity_id) = (k.user_id, k.entity_type, k.entity_id)
			union all select pg_column_size(r.registers) from helix.sync_roots r
				where (r.user_id, r.entity_type, r.entity_id) = (k.user_id, k.entity_type, k.entity_id)
			union all select pg_column_size(b.data) from helix.sync_siblings b
				where (b.user_id, b.entity_type, b.entity_id) = (k.user_id, k.entity_type, k.entity_id)) s
		group by k.n`, keys.user, keys.typ, keys.entity)
	if err != nil {
		return nil, fmt.Errorf("size merged entities: %w", err)
	}
	var n, bytes int64
	_, err = pgx.ForEachRow(rows, []any{&n, &bytes}, func() error {
		sizes[entities[n-1]] = bytes
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("size merged entities: %w", err)
	}
	return sizes, nil
}

// loadMerges reads what entities keep to merge upon; where they were resolved
// otherwise so far, what that has left.
func loadMerges(ctx context.Context, tx pgx.Tx, entities []*entity) error {
	var merged, seeds []*entity
	for _, e := range entities {
		e.merge = &Merge{}
		switch {
		case e.stored && e.merged:
			merged = append(merged, e)
		case e.stored:
			seeds = append(seeds, e)
		}
	}
	batch := &pgx.Batch{}
	if len(merged) > 0 {
		queueRoots(batch, merged)
		queueVersions(batch, merged)
	}
	if len(seeds) > 0 {
		queueSeeds(batch, seeds)
	}
	if batch.Len() > 0 {
		if err := tx.SendBatch(ctx, batch).Close(); err != nil {
			return fmt.Errorf("load merged entities: %w", err)
		}
	}
	for _, e := range merged {
		e.merge.relate()
	}
	for _, e := range seeds {
		e.merge.Seed(&e.State, e.policy)
		e.changed = true
	}
	return nil
}

func queueRoots(batch *pgx.Batch, entities []*entity) {
	keys := keysOf(entities)
	batch.Queue(`select k.n, r.clock::text, r.wall, r.logical, r.revision, r.live, r.sealed, r.registers::text
		from unnest($1::uuid[], $2::text[], $3::uuid[]) with ordinality as k (user_id, entity_type, entity_id, n)
		join helix.sync_roots r using (user_id, entity_type, entity_id)`, keys.user, keys.typ, keys.entity).Query(func(rows pgx.Rows) error {
		var n int64
		var r root
		var clock []byte
		var registers string
		_, err := pgx.ForEachRow(rows, []any{&n, &clock, &r.Last.Wall, &r.Last.Logical, &r.Revision, &r.Live, &r.Sealed, &registers}, func() (err error) {
			if r.Clock, err = storedClock(clock); err != nil {
				return err
			}
			if r.Registers, err = readRegisters(registers, true, hlc{}, ""); err != nil {
				return err
			}
			r.any = true
			entities[n-1].merge.root = r
			return nil
		})
		return err
	})
}

func queueVersions(batch *pgx.Batch, entities []*entity) {
	keys := keysOf(entities)
	batch.Queue(`select k.n, v.version, v.device_id, v.clock::text, v.counter, v.content_hash, v.last_modified, v.deleted,
			v.revision, v.wall, v.logical, v.apart, v.writes::text, v.data::text
		from unnest($1::uuid[], $2::text[], $3::uuid[]) with ordinality as k (user_id, entity_type, entity_id, n)
		join helix.sync_versions v using (user_id, entity_type, entity_id)
		order by v.revision, v.version`, keys.user, keys.typ, keys.entity).Query(func(rows pgx.Rows) error {
		var n int64
		var d delta
		var clock []byte
		var writes string
		_, err := pgx.ForEachRow(rows, []any{&n, &d.id, &d.Device, &clock, &d.counter, &d.Content, &d.LastModified, &d.Deleted,
			&d.revision, &d.Wall, &d.Logical, &d.apart, &writes, &d.data}, func() (err error) {
			v := d
			if v.Clock, err = storedClock(clock); err != nil {
				return err
			}
			if v.writes, err = readRegisters(writes, false, v.hlc, v.Device); err != nil {
				return err
			}
			v.stored = true
			v.measure()
			m := entities[n-1].merge
			m.kept = append(m.kept, &v)
			return nil
		})
		return err
	})
}

func queueSeeds(batch *pgx.Batch, entities []*entity) {
	keys := keysOf(entities)
	read := func(rows pgx.Rows) error {
		var n int64
		var id, data *string
		_, err := pgx.ForEachRow(rows, []any{&n, &id, &data}, func() error {
			versions := entities[n-1].Versions
			i := 0 // the winner, which is in the entity
			if id != nil {
				i = slices.IndexFunc(versions, func(v Version) bool { return v.Place == InSibling && v.ID() == *id })
			}
			if i < 0 {
				return nil
			}
			if data != nil {
				versions[i].Data = []byte(*data)
			}
			if i > 0 {
				versions[i].Place = Here
			}
			return nil
		})
		return err
	}
	batch.Queue(`select k.n, null::text, e.data::text
		from unnest($1::uuid[], $2::text[], $3::uuid[]) with ordinality as k (user_id, entity_type, entity_id, n)
		join public.sync_entities e using (user_id, entity_type, entity_id)`, keys.user, keys.typ, keys.entity).Query(read)
	// As stored first, so that little is taken out of its compression in vain.
	batch.Queue(`select n, version, data::text from (
			select *, sum(octet_length(data::text)) over newest as bytes from (
				select k.n, s.version, s.data, s.last_modified, sum(coalesce(pg_column_size(s.data), 0)) over newest as stored
				from unnest($1::uuid[], $2::text[], $3::uuid[]) with ordinality as k (user_id, entity_type, entity_id, n)
				join helix.sync_siblings s using (user_id, entity_type, entity_id)
				window newest as (partition by k.n order by s.last_modified desc, s.version)) s
			where stored <= $4
			window newest as (partition by n order by last_modified desc, version)) s
		where bytes is null or bytes <= $4`, keys.user, keys.typ, keys.entity, maxSeed).Query(read)
}
