package sync

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
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
		if rows[i].Value(colData).Kind == replication.Unchanged || rows[i].Value(colVectorClock).Kind == replication.Unchanged {
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

// largeClock is the stored size in bytes, mostly compressed, past which an
// entity is loaded by itself.
const largeClock = 1000

// load reads the entities that the events are about. Those of accounts that are
// gone are left out. No data is read: a merge needs clocks and hashes only, and
// an entity's data may be far larger than the change.
//
// Unless large is set, entities with a clock of more than largeClock are not
// loaded but marked, so that a batch of them passes in little memory.
func load(ctx context.Context, tx pgx.Tx, events []event, large bool) (map[key]*entity, error) {
	var keys keyColumns
	users := map[[16]byte]bool{}
	entities := make(map[key]*entity, len(events))
	for i := range events {
		k := events[i].key
		if entities[k] == nil {
			entities[k] = &entity{key: k}
			keys.add(k)
			users[k.user] = false
		}
	}
	userIDs := make([][16]byte, 0, len(users))
	for u := range users {
		userIDs = append(userIDs, u)
	}
	batch := &pgx.Batch{}
	batch.Queue("select id from auth.users where id = any($1::uuid[])", userIDs).Query(func(rows pgx.Rows) error {
		var id [16]byte
		_, err := pgx.ForEachRow(rows, []any{&id}, func() error {
			users[id] = true
			return nil
		})
		return err
	})
	batch.Queue(`select k.n, case when l.now then e.vector_clock end, e.last_modified, e.deleted, e.resolution,
			e.revision, e.updated_at, e.device_id, case when l.now then e.version_clock end, e.content_hash,
			case when l.now then e.seen end
		from unnest($1::uuid[], $2::text[], $3::uuid[]) with ordinality as k (user_id, entity_type, entity_id, n)
		join public.sync_entities e using (user_id, entity_type, entity_id)
		cross join lateral (select $4 or pg_column_size(e.vector_clock) <= $5 as now) l`,
		keys.user, keys.typ, keys.entity, large, largeClock).Query(func(rows pgx.Rows) error {
		var n int64
		var s State
		var w Version
		var clock, versionClock, seen []byte
		_, err := pgx.ForEachRow(rows, []any{&n, &clock, &w.LastModified, &w.Deleted, &s.Resolution, &s.Revision,
			&s.Updated, &w.Device, &versionClock, &w.Content, &seen}, func() (err error) {
			e := entities[keys.at(n)]
			if clock == nil {
				e.large = true
				return nil
			}
			if s.Clock, err = ParseClock(clock); err != nil {
				return err
			}
			w.Clock = s.Clock
			if versionClock != nil {
				if w.Clock, err = ParseClock(versionClock); err != nil {
					return err
				}
			}
			if s.Seen, err = parseSeen(seen); err != nil {
				return err
			}
			w.Place = InEntity
			s.Versions = Antichain{w}
			e.State, e.loaded, e.stored, e.storedID = s, s.Revision, true, w.ID()
			return nil
		})
		return err
	})
	// After the entities: the winner comes first.
	batch.Queue(`select k.n, s.version, s.device_id, s.clock, s.content_hash, s.last_modified, s.deleted
		from unnest($1::uuid[], $2::text[], $3::uuid[]) with ordinality as k (user_id, entity_type, entity_id, n)
		join helix.sync_siblings s using (user_id, entity_type, entity_id)
		where $4 or exists (select from public.sync_entities e where (e.user_id, e.entity_type, e.entity_id) =
			(s.user_id, s.entity_type, s.entity_id) and pg_column_size(e.vector_clock) <= $5)`,
		keys.user, keys.typ, keys.entity, large, largeClock).Query(func(rows pgx.Rows) error {
		var n int64
		var v Version
		var id string
		var clock []byte
		_, err := pgx.ForEachRow(rows, []any{&n, &id, &v.Device, &clock, &v.Content, &v.LastModified, &v.Deleted}, func() (err error) {
			e := entities[keys.at(n)]
			if v.Clock, err = ParseClock(clock); err != nil {
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
	for k := range entities {
		if !users[k.user] {
			delete(entities, k)
		}
	}
	return entities, nil
}

// store writes what changed: conflicts and siblings first, while the data that
// they take from the old rows is still there.
func store(ctx context.Context, tx pgx.Tx, touched []*entity) error {
	var put, keep entityColumns
	var conflicts conflictColumns
	var siblings siblingColumns
	var dropped siblingColumns
	for _, e := range touched {
		for i := range e.conflicts {
			conflicts.add(e, &e.conflicts[i])
		}
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
		case e.stored && e.Versions[0].ID() == e.storedID:
			keep.add(e)
		default:
			put.add(e)
		}
	}
	batch := &pgx.Batch{}
	if len(conflicts.id) > 0 {
		conflicts.queue(batch)
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
	if batch.Len() == 0 {
		return nil
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("store entities: %w", err)
	}
	return nil
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
		left join public.sync_entities e on p.place = 1
			and (e.user_id, e.entity_type, e.entity_id) = (p.user_id, p.entity_type, p.entity_id)
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
	versionColumns // of the winners
	id             [][16]byte
	joined         []string
	ownClock       []*string
	resolution     []string
	revision       []int64
	updated        []time.Time
	seen           []string
}

func (c *entityColumns) add(e *entity) {
	w := &e.Versions[0]
	c.keyColumns.add(e.key)
	c.versionColumns.add(w.ID(), w)
	c.id = append(c.id, e.key.id())
	c.joined = append(c.joined, clockJSON(e.Clock))
	var own *string
	if w.Clock.Compare(e.Clock) != Equal {
		s := clockJSON(w.Clock)
		own = &s
	}
	c.ownClock = append(c.ownClock, own)
	c.resolution, c.revision = append(c.resolution, string(e.Resolution)), append(c.revision, e.Revision)
	c.updated, c.seen = append(c.updated, e.Updated), append(c.seen, seenJSON(e.Seen))
}

func (c *entityColumns) queueUpsert(batch *pgx.Batch) {
	batch.Queue(`insert into public.sync_entities (user_id, entity_type, entity_id, id, data, vector_clock,
			last_modified, deleted, resolution, revision, updated_at, device_id, version_clock, content_hash, seen)
		select p.user_id, p.entity_type, p.entity_id, p.id,
			case p.place when 2 then s.data else p.data::jsonb end, p.vector_clock::jsonb,
			p.last_modified, p.deleted, p.resolution, p.revision, p.updated_at, p.device_id,
			p.version_clock::jsonb, p.content_hash, p.seen::jsonb
		from unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::text[], $6::int[], $7::text[], $8::text[],
			$9::timestamptz[], $10::bool[], $11::text[], $12::bigint[], $13::timestamptz[], $14::text[],
			$15::text[], $16::text[], $17::text[])
			as p (user_id, entity_type, entity_id, id, data, place, version, vector_clock,
				last_modified, deleted, resolution, revision, updated_at, device_id,
				version_clock, content_hash, seen)
		left join helix.sync_siblings s on p.place = 2
			and (s.user_id, s.entity_type, s.entity_id, s.version) = (p.user_id, p.entity_type, p.entity_id, p.version)
		on conflict (user_id, entity_type, entity_id) do update set
			data = excluded.data, vector_clock = excluded.vector_clock, last_modified = excluded.last_modified,
			deleted = excluded.deleted, resolution = excluded.resolution, revision = excluded.revision,
			updated_at = excluded.updated_at, device_id = excluded.device_id,
			version_clock = excluded.version_clock, content_hash = excluded.content_hash, seen = excluded.seen`,
		c.user, c.typ, c.entity, c.id, c.data, c.place, c.version, c.joined, c.modified, c.deleted,
		c.resolution, c.revision, c.updated, c.device, c.ownClock, c.content, c.seen)
}

// queueUpdate writes rows whose data stays: it is neither sent nor rewritten.
func (c *entityColumns) queueUpdate(batch *pgx.Batch) {
	batch.Queue(`update public.sync_entities e set
			vector_clock = p.vector_clock::jsonb, last_modified = p.last_modified, resolution = p.resolution,
			revision = p.revision, updated_at = p.updated_at, device_id = p.device_id,
			version_clock = p.version_clock::jsonb, seen = p.seen::jsonb
		from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::timestamptz[], $6::text[], $7::bigint[],
			$8::timestamptz[], $9::text[], $10::text[], $11::text[])
			as p (user_id, entity_type, entity_id, vector_clock, last_modified, resolution, revision,
				updated_at, device_id, version_clock, seen)
		where (e.user_id, e.entity_type, e.entity_id) = (p.user_id, p.entity_type, p.entity_id)`,
		c.user, c.typ, c.entity, c.joined, c.modified, c.resolution, c.revision, c.updated, c.device, c.ownClock, c.seen)
}

// conflictColumns are conflicts as parameters. The loser is kept with its data:
// this may be the last place that has it. The winner's data and clock are there
// where they are small: it stands in sync_entities, and one winner may beat
// thousands.
type conflictColumns struct {
	keyColumns
	loser      dataColumns
	winner     dataColumns
	id         [][16]byte
	kind       []string
	at         []time.Time
	loserJSON  []string
	winnerJSON []string
}

// smallWinner is the size in bytes up to which a conflict holds the winner's data
// or clock.
const smallWinner = 4096

// omitted is the Place of data that is not to be written.
const omitted Place = -1

func (c *conflictColumns) add(e *entity, f *Conflict) {
	c.keyColumns.add(e.key)
	winner := f.Winner
	if len(winner.Data) > smallWinner {
		winner.Place, winner.Data = omitted, nil
	}
	c.loser.add(&f.Loser)
	c.winner.add(&winner)
	c.id = append(c.id, e.conflictID(f))
	c.kind, c.at = append(c.kind, string(f.Kind)), append(c.at, f.At)
	c.loserJSON = append(c.loserJSON, f.Loser.summary(false, json.RawMessage(clockJSON(f.Loser.Clock))))
	var clock json.RawMessage
	if f.Winner.Clock.size() <= smallWinner {
		clock = json.RawMessage(clockJSON(f.Winner.Clock))
	}
	c.winnerJSON = append(c.winnerJSON, f.Winner.summary(true, clock))
}

func (c *conflictColumns) queue(batch *pgx.Batch) {
	batch.Queue(fmt.Sprintf(`insert into public.sync_conflicts
			(id, user_id, entity_type, entity_id, versions, strategy, kind, resolved, resolution, created_at, resolved_at)
		select p.id, p.user_id, p.entity_type, p.entity_id, jsonb_build_array(
				p.winner::jsonb || case p.winner_place
					when 0 then jsonb_build_object('data', p.winner_data::jsonb)
					when 1 then case when coalesce(octet_length(e.data::text), 0) <= %[1]d then jsonb_build_object('data', e.data) else '{}' end
					when 2 then case when coalesce(octet_length(w.data::text), 0) <= %[1]d then jsonb_build_object('data', w.data) else '{}' end
					else '{}' end,
				p.loser::jsonb || jsonb_build_object('data', case p.loser_place
					when 0 then p.loser_data::jsonb when 1 then e.data else l.data end)),
			'last_write_wins', p.kind, true, p.winner::jsonb, p.at, p.at
		from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::text[], $6::timestamptz[],
			$7::text[], $8::int[], $9::text[], $10::text[], $11::text[], $12::int[], $13::text[], $14::text[])
			as p (id, user_id, entity_type, entity_id, kind, at,
				winner, winner_place, winner_version, winner_data, loser, loser_place, loser_version, loser_data)
		left join public.sync_entities e on 1 in (p.winner_place, p.loser_place)
			and (e.user_id, e.entity_type, e.entity_id) = (p.user_id, p.entity_type, p.entity_id)
		left join helix.sync_siblings w on p.winner_place = 2
			and (w.user_id, w.entity_type, w.entity_id, w.version) = (p.user_id, p.entity_type, p.entity_id, p.winner_version)
		left join helix.sync_siblings l on p.loser_place = 2
			and (l.user_id, l.entity_type, l.entity_id, l.version) = (p.user_id, p.entity_type, p.entity_id, p.loser_version)
		on conflict (id) do nothing`, smallWinner),
		c.id, c.user, c.typ, c.entity, c.kind, c.at,
		c.winnerJSON, c.winner.place, c.winner.version, c.winner.data,
		c.loserJSON, c.loser.place, c.loser.version, c.loser.data)
}

// dataColumns say where versions' data is.
type dataColumns struct {
	place   []int32
	version []*string // of a sibling; only then, since a large clock makes it dear
	data    []*string
}

func (c *dataColumns) add(v *Version) {
	var version *string
	if v.Place == InSibling {
		id := v.ID()
		version = &id
	}
	c.place, c.version, c.data = append(c.place, int32(v.Place)), append(c.version, version), append(c.data, text(v.Data))
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

// ID gives the id of an entity's row in sync_entities.
func ID(user uuid.UUID, entityType string, entityID uuid.UUID) uuid.UUID {
	return key{user, entityType, entityID}.id()
}
