package sync

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
)

// content is what a sync_state row has now.
type content struct {
	data, clock replication.Value
	modified    pgtype.Timestamptz
	deleted     bool
	key         [4]string // user, entity type, entity, device: an id may be used again
}

// describes reports whether the row still is as the change left it, as far as
// the change tells.
func (c *content) describes(row *reactors.Row) bool {
	same := func(sent, now replication.Value) bool {
		return sent.Kind == replication.Unchanged || sent.Kind == now.Kind && string(sent.Data) == string(now.Data)
	}
	modified, err := readTime(row, colLastModified)
	deleted, _ := row.Text(colDeleted)
	for i, col := range []int{colUserID, colEntityType, colEntityID, colDeviceID} {
		if string(row.Value(col).Data) != c.key[i] {
			return false
		}
	}
	return err == nil && (deleted == "t") == c.deleted && modified.Equal(bounded(c.modified, row.Committed)) &&
		same(row.Value(colData), c.data) && same(row.Value(colVectorClock), c.clock)
}

// readUnchanged reads, by id, the rows whose change left a TOASTed value out.
func readUnchanged(ctx context.Context, tx pgx.Tx, rows []reactors.Row) (map[string]content, error) {
	var ids []string
	for i := range rows {
		if leavesOut(&rows[i]) {
			id, _ := rows[i].Text(colID)
			ids = append(ids, id)
		}
	}
	if ids == nil {
		return nil, nil
	}
	found, err := tx.Query(ctx, `select id::text, data::text, vector_clock::text, last_modified, coalesce(deleted, false),
			user_id::text, entity_type, entity_id::text, device_id
		from public.sync_state where id = any($1::text[]::uuid[])`, ids)
	if err != nil {
		return nil, fmt.Errorf("read unchanged values: %w", err)
	}
	defer found.Close()
	current := map[string]content{}
	for found.Next() {
		var id string
		var data, clock []byte
		var modified pgtype.Timestamptz
		var deleted bool
		var k [4]string
		if err := found.Scan(&id, &data, &clock, &modified, &deleted, &k[0], &k[1], &k[2], &k[3]); err != nil {
			return nil, fmt.Errorf("read unchanged values: %w", err)
		}
		current[id] = content{textValue(data), textValue(clock), modified, deleted, k}
	}
	return current, found.Err()
}

func textValue(b []byte) replication.Value {
	if b == nil {
		return replication.Value{Kind: replication.Null}
	}
	return replication.Value{Kind: replication.Text, Data: b}
}

// storedClock reads a clock of helixd's own. One that cannot be read is its
// entity's fault, and must stop nobody else.
func storedClock(src []byte) (Clock, error) {
	c, err := ParseClock(src)
	if err != nil {
		return c, fmt.Errorf("%w: %w", reactors.ErrData, err)
	}
	return c, nil
}

// largeClock is the stored size in bytes, mostly compressed, past which an
// entity is loaded by itself.
const largeClock = 1000

// load reads the entities that the events are about. Those of accounts that are
// gone are left out. No data is read: a merge needs clocks and hashes only, and
// an entity's data may be far larger than the change.
//
// The tables are looked up key by key (lateral), there and wherever entities are
// stored: the plan of a join is kept, and one that was made while a table was small
// reads all of it for each batch, until autovacuum comes to see how it has grown.
//
// Unless large is set, entities with a clock of more than largeClock are not
// loaded but marked, so that a batch of them passes in little memory.
func load(ctx context.Context, tx pgx.Tx, events []event, large bool) (map[key]*entity, error) {
	var keys keyColumns
	users := map[[16]byte]bool{}
	types := map[string]bool{}
	policies := map[typeKey]Policy{}
	entities := make(map[key]*entity, len(events))
	for i := range events {
		k := events[i].key
		if entities[k] == nil {
			entities[k] = &entity{key: k}
			keys.add(k)
			users[k.user] = false
			types[k.typ] = true
		}
	}
	userIDs := make([][16]byte, 0, len(users))
	for u := range users {
		userIDs = append(userIDs, u)
	}
	batch := &pgx.Batch{}
	batch.Queue(`select u.id, p.entity_type, p.strategy, p.options::text
		from auth.users u left join public.sync_policies p on p.user_id = u.id and p.entity_type = any($2::text[])
		where u.id = any($1::uuid[])`, userIDs, slices.Collect(maps.Keys(types))).Query(func(rows pgx.Rows) error {
		var id [16]byte
		var typ, strategy *string
		var options []byte
		_, err := pgx.ForEachRow(rows, []any{&id, &typ, &strategy, &options}, func() error {
			users[id] = true
			if typ != nil {
				policies[typeKey{id, *typ}] = ParsePolicy(*strategy, options)
			}
			return nil
		})
		return err
	})
	batch.Queue(`select k.n, case when l.now then e.vector_clock end, e.last_modified, e.deleted, e.resolution,
			e.revision, e.updated_at, e.device_id, case when l.now then e.version_clock end, e.content_hash,
			case when l.now then e.seen end, e.merged
		from unnest($1::uuid[], $2::text[], $3::uuid[]) with ordinality as k (user_id, entity_type, entity_id, n)
		cross join lateral (select * from public.sync_entities e
			where (e.user_id, e.entity_type, e.entity_id) = (k.user_id, k.entity_type, k.entity_id) limit 1) e
		cross join lateral (select $4 or pg_column_size(e.vector_clock) <= $5 as now) l`,
		keys.user, keys.typ, keys.entity, large, largeClock).Query(func(rows pgx.Rows) error {
		var n int64
		var s State
		var w Version
		var clock, versionClock, seen []byte
		var merged bool
		_, err := pgx.ForEachRow(rows, []any{&n, &clock, &w.LastModified, &w.Deleted, &s.Resolution, &s.Revision,
			&s.Updated, &w.Device, &versionClock, &w.Content, &seen, &merged}, func() (err error) {
			e := entities[keys.at(n)]
			e.merged = merged
			if clock == nil {
				e.large = true
				return nil
			}
			if s.Clock, err = storedClock(clock); err != nil {
				return err
			}
			w.Clock = s.Clock
			if versionClock != nil {
				if w.Clock, err = storedClock(versionClock); err != nil {
					return err
				}
			}
			if s.Seen, err = parseSeen(seen); err != nil {
				return fmt.Errorf("%w: %w", reactors.ErrData, err)
			}
			w.Place = InEntity
			s.Versions = Antichain{w}
			e.State, e.loaded, e.stored, e.winner = s, s.Revision, true, w
			return nil
		})
		return err
	})
	// After the entities: the winner comes first.
	batch.Queue(`select k.n, s.version, s.device_id, s.clock, s.content_hash, s.last_modified, s.deleted
		from unnest($1::uuid[], $2::text[], $3::uuid[]) with ordinality as k (user_id, entity_type, entity_id, n)
		cross join lateral (select * from helix.sync_siblings s
			where (s.user_id, s.entity_type, s.entity_id) = (k.user_id, k.entity_type, k.entity_id) offset 0) s
		where $4 or exists (select from public.sync_entities e where (e.user_id, e.entity_type, e.entity_id) =
			(s.user_id, s.entity_type, s.entity_id) and pg_column_size(e.vector_clock) <= $5)`,
		keys.user, keys.typ, keys.entity, large, largeClock).Query(func(rows pgx.Rows) error {
		var n int64
		var v Version
		var id string
		var clock []byte
		_, err := pgx.ForEachRow(rows, []any{&n, &id, &v.Device, &clock, &v.Content, &v.LastModified, &v.Deleted}, func() (err error) {
			e := entities[keys.at(n)]
			if v.Clock, err = storedClock(clock); err != nil {
				return err
			}
			v.Place = InSibling
			e.Versions = append(e.Versions, v)
			if e.siblings == nil {
				e.siblings = map[string]bool{}
			}
			e.siblings[id] = true
			return nil
		})
		return err
	})
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("load entities: %w", err)
	}
	for k, e := range entities {
		if !users[k.user] {
			delete(entities, k)
		}
		if len(policies) > 0 {
			e.policy = policies[typeKey{k.user, k.typ}]
			e.Strategy = e.policy.Strategy
		}
	}
	return entities, nil
}

// typeKey names what a policy is for.
type typeKey struct {
	user [16]byte
	typ  string
}
