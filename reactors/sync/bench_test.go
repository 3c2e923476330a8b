package sync_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/sync"
	"github.com/helixd/helixd/replication"
	"github.com/helixd/helixd/replication/pgoutput"
	"github.com/helixd/helixd/replication/stream"
	"github.com/helixd/helixd/testenv"
)

// bench is a migrated database, a slot on it, and a dispatcher to which the
// slot's changes are delivered by hand.
type bench struct {
	db    *testenv.Database
	admin *pgx.Conn
	user  testenv.User
	app   *pgx.Conn // the user's
	d     *reactors.Dispatcher
	slot  string
	log   *bytes.Buffer // of the dispatcher
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{db: testenv.New(t), log: &bytes.Buffer{}}
	b.slot, b.admin = b.db.SlotName("sync"), b.db.Connect(t, "postgres")
	if err := migrations.Up(t.Context(), b.admin, func(migrations.Migration) {}); err != nil {
		t.Fatal(err)
	}
	b.user = b.db.NewUser(t)
	b.app = b.db.AsUser(t, b.user.ID)
	pool, err := pgxpool.New(t.Context(), b.db.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	jobs, err := reactors.NewJobs(pool, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if b.d, err = reactors.NewDispatcher(t.Context(), pool, b.slot, jobs, zerolog.New(b.log), sync.Reactor{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.d.Abandon)
	if _, err := stream.EnsurePublication(t.Context(), pool, "helix", b.d.Tables(), func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	b.exec(t, "select pg_create_logical_replication_slot($1, 'pgoutput')", b.slot)
	b.exec(t, "insert into helix.checkpoints (slot, system_identifier, lsn, epoch) values ($1, '1', '0/0', 0)", b.slot)
	b.rewind(t)
	return b
}

func (b *bench) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := b.admin.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// as runs a statement of the user's.
func (b *bench) as(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := b.app.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%.200s: %v", sql, err)
	}
}

func query[T any](t *testing.T, conn *pgx.Conn, sql string, args ...any) T {
	t.Helper()
	return testenv.Get[T](t, conn, sql, args...)
}

// upsert is PostgREST's, without the conflict keys in SET.
const upsert = `insert into sync_state (entity_type, entity_id, device_id, data, vector_clock, last_modified, deleted, base_revision)
	values ($1, $2, $3, $4::text::jsonb, $5::text::jsonb, $6, $7, nullif($8::bigint, 0))
	on conflict (user_id, entity_type, entity_id, device_id) do update set data = excluded.data,
		vector_clock = excluded.vector_clock, last_modified = excluded.last_modified, deleted = excluded.deleted,
		base_revision = excluded.base_revision`

// send upserts a device's version of an entity.
func (b *bench) send(t *testing.T, entity uuid.UUID, v *sync.Version) {
	t.Helper()
	b.sendUpon(t, entity, v, 0)
}

// sendUpon tells the revision that the device had merged, too.
func (b *bench) sendUpon(t *testing.T, entity uuid.UUID, v *sync.Version, base int64) {
	t.Helper()
	clk, err := v.Clock.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var data *string
	if v.Data != nil {
		s := string(v.Data)
		data = &s
	}
	b.as(t, upsert, entityType, entity, v.Device, data, string(clk), v.LastModified, v.Deleted, base)
}

const entityType = "note"

// messages are what the slot says was committed since the last call.
func (b *bench) messages(t *testing.T) [][]byte {
	t.Helper()
	rows, err := b.admin.Query(t.Context(), `select data from pg_logical_slot_get_binary_changes($1, null, null,
		'proto_version', '1', 'publication_names', 'helix', 'messages', 'true')`, b.slot)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// deliver applies messages, and begins a new batch after those that cut names.
func (b *bench) deliver(t *testing.T, messages [][]byte, cut func(i int) bool) {
	t.Helper()
	a := pgoutput.NewAssembler(0)
	for i, m := range messages {
		if err := a.Add(m); err != nil {
			t.Fatal(err)
		}
		if !cut(i) && i < len(messages)-1 {
			continue
		}
		if batch := a.Take(); batch != nil {
			if err := b.d.Apply(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func never(int) bool  { return false }
func always(int) bool { return true }

// deliverNow applies what was just committed.
func (b *bench) deliverNow(t *testing.T) {
	t.Helper()
	b.deliver(t, b.messages(t), never)
}

// rewind lets the same messages be delivered again.
func (b *bench) rewind(t *testing.T) {
	t.Helper()
	b.exec(t, "update helix.checkpoints set lsn = '0/0'")
	if _, err := b.d.Lead(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
}

// reset forgets all results.
func (b *bench) reset(t *testing.T) {
	t.Helper()
	b.exec(t, "truncate sync_entities, sync_conflicts, helix.sync_siblings, helix.sync_versions, helix.sync_roots, helix.dead_letters")
	b.rewind(t)
}

// dump is all rows of a table.
func (b *bench) dump(t *testing.T, table string) string {
	t.Helper()
	return query[string](t, b.admin, fmt.Sprintf(
		`select coalesce(string_agg(to_jsonb(r)::text, E'\n' order by to_jsonb(r)::text), '') from %s r`, table))
}

func (b *bench) dumpAll(t *testing.T) string {
	t.Helper()
	var all []string
	for _, table := range []string{"sync_entities", "sync_conflicts", "helix.sync_siblings", "helix.sync_versions", "helix.sync_roots", "helix.dead_letters"} {
		all = append(all, table+"\n"+b.dump(t, table))
	}
	return strings.Join(all, "\n")
}

// state reads what the database has of an entity.
func (b *bench) state(t *testing.T, entity uuid.UUID) *sync.State {
	t.Helper()
	s := &sync.State{Seen: map[string]sync.Dot{}}
	var w sync.Version
	var joined, own, seen []byte
	var data *string
	err := b.admin.QueryRow(t.Context(), `select data::text, vector_clock, last_modified, deleted, resolution, revision,
			updated_at, device_id, coalesce(version_clock, vector_clock), content_hash, seen
		from sync_entities where entity_id = $1`, entity).Scan(&data, &joined, &w.LastModified, &w.Deleted,
		&s.Resolution, &s.Revision, &s.Updated, &w.Device, &own, &w.Content, &seen)
	if err != nil {
		t.Fatal(err)
	}
	s.Clock, w.Clock, w.Data = parse(t, joined), parse(t, own), bytesOf(data)
	s.Versions = sync.Antichain{w}
	var dots map[string][2]any
	if err := json.Unmarshal(seen, &dots); err != nil {
		t.Fatal(err)
	}
	for device, d := range dots {
		s.Seen[device] = sync.Dot{Counter: uint64(d[0].(float64)), Content: d[1].(string)}
	}
	rows, err := b.admin.Query(t.Context(), `select device_id, clock, content_hash, last_modified, deleted, data::text
		from helix.sync_siblings where entity_id = $1`, entity)
	if err != nil {
		t.Fatal(err)
	}
	var v sync.Version
	_, err = pgx.ForEachRow(rows, []any{&v.Device, &own, &v.Content, &v.LastModified, &v.Deleted, &data}, func() error {
		v.Clock, v.Data = parse(t, own), bytesOf(data)
		s.Versions = append(s.Versions, v)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func parse(t *testing.T, src []byte) sync.Clock {
	t.Helper()
	c, err := sync.ParseClock(src)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func bytesOf(s *string) []byte {
	if s == nil {
		return nil
	}
	return []byte(*s)
}

// changes are the row changes in messages.
func changes(t *testing.T, messages [][]byte) (all []replication.Change, committed []time.Time) {
	t.Helper()
	a := pgoutput.NewAssembler(0)
	for _, m := range messages {
		if err := a.Add(m); err != nil {
			t.Fatal(err)
		}
	}
	batch := a.Take()
	if batch == nil {
		return nil, nil
	}
	for _, tx := range batch.Transactions {
		for _, c := range tx.Changes {
			if c.Relation != nil {
				all, committed = append(all, c), append(committed, tx.CommitTime)
			}
		}
	}
	return all, committed
}

func (b *bench) count(t *testing.T, table string) int {
	t.Helper()
	return query[int](t, b.admin, "select count(*) from "+table)
}

// backfill reads all rows again, as a repair does.
func (b *bench) backfill(t *testing.T) {
	t.Helper()
	conn := b.db.Connect(t, "postgres")
	tx, err := conn.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context()) //nolint:errcheck // it only reads
	var snapshot string
	at := replication.Checkpoint{Slot: b.slot, SystemIdentifier: "1"}
	if err := tx.QueryRow(t.Context(), "select pg_export_snapshot(), pg_current_wal_insert_lsn()").Scan(&snapshot, &at.LSN); err != nil {
		t.Fatal(err)
	}
	if err := b.d.Backfill(t.Context(), snapshot, at, "test", func(string, int) {}); err != nil {
		t.Fatal(err)
	}
}
