package main_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/helixd/helixd/testenv"
)

// TestPoison: rows that no guard has seen, as an adopted table may hold, go to
// the dead letters alone; their neighbours in the same transaction are applied.
func TestPoison(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	owner := db.NewUser(t).ID
	slot := db.SlotName("poison")
	exec1(t, admin, "alter table sync_state disable trigger a_helix_guard")
	// The database refuses this one, not the reactor.
	exec1(t, admin, "alter table sync_entities add check (entity_type <> 'refused')")
	p := start(t, db.URL("postgres"), nil, "run", "--slot", slot)
	until(t, "the stream", func() bool { return strings.Contains(p.log.String(), `"streaming"`) })

	clocks := []string{`[1]`, `"x"`, `7`, `null`, `{"phone": -1}`, `{"phone": 9007199254740992}`, `{"phone": 1.5}`,
		`{"phone": "1"}`, `{"clocks": {"phone": {}}}`, `{"phone": 1e400}`}
	tx, err := admin.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	insert := func(entityType, clock string) {
		t.Helper()
		_, err := tx.Exec(t.Context(), `insert into sync_state (user_id, entity_type, entity_id, device_id, data, vector_clock)
			values ($1, $2, gen_random_uuid(), 'phone', '{}', $3)`, owner, entityType, clock)
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, clock := range clocks {
		insert("note", clock)
		insert("note", `{"phone": 1}`)
	}
	insert("refused", `{"phone": 1}`)
	insert("note", `{"phone": 1}`)
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	good, bad := len(clocks)+1, len(clocks)+1
	until(t, "the good rows", func() bool { return get[int](t, admin, "select count(*) from sync_entities") == good })
	if n := get[int](t, admin, `select count(*) from helix.dead_letters d join sync_state s on s.id::text = d.key->>'id'
		where d.reactor = 'sync' and d.table_name = 'public.sync_state' and d.user_id = s.user_id and d.lsn > '0/0' and d.error <> ''
			and (coalesce(d.sqlstate, '') = '23514') = (s.entity_type = 'refused')`); n != bad {
		t.Errorf("%d of %d bad rows are in the dead letters", n, bad)
	}
	// The stream goes on.
	insertGood := uuid.New()
	exec1(t, admin, `insert into sync_state (user_id, entity_type, entity_id, device_id, data, vector_clock)
		values ($1, 'note', $2, 'phone', '{"text": "after"}', '{"phone": 1}')`, owner, insertGood)
	resolvedTo(t, admin, insertGood, "after")
	p.stop(t)
}

// TestLargeValues: what the guard lets through must pass.
func TestLargeValues(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	app := db.AsUser(t, db.NewUser(t).ID)
	p := start(t, db.URL("postgres"), nil, "run", "--slot", db.SlotName("large"))
	large, wide := uuid.New(), uuid.New()
	text := strings.Repeat("0123456789", 1<<20)
	write(t, app, large, "phone", `{"phone": 1}`, text)
	until(t, "10 MB of data", func() bool {
		return get[bool](t, admin, "select exists (select from sync_entities where entity_id = $1 and data->>'text' = $2)", large, text)
	})
	// Not sent in the stream, since it stays as it is: it must stay here too.
	exec1(t, app, `update sync_state set vector_clock = '{"phone": 2}', deleted = false where entity_id = $1`, large)
	until(t, "the second revision", func() bool {
		return get[bool](t, admin, "select exists (select from sync_entities where entity_id = $1 and revision = 2 and data->>'text' = $2)", large, text)
	})
	var clock strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&clock, `, "device-%d": %d`, i, i+1)
	}
	write(t, app, wide, "phone", `{"phone": 1`+clock.String()+`}`, "wide")
	resolvedTo(t, admin, wide, "wide")
	write(t, app, wide, "phone", `{"phone": 2`+clock.String()+`}`, "wider")
	resolvedTo(t, admin, wide, "wider")
	if n := get[int](t, admin, "select count(*) from sync_entities, jsonb_object_keys(vector_clock) where entity_id = $1", wide); n != 10_001 {
		t.Errorf("the clock has %d devices", n)
	}
	p.stop(t)
}

// TestAmplification: what is small to send must not become large here. The
// neighbour's write must pass meanwhile.
func TestAmplification(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	hostile, neighbour := db.AsUser(t, db.NewUser(t).ID), db.AsUser(t, db.NewUser(t).ID)
	p := start(t, db.URL("postgres"), nil, "run", "--slot", db.SlotName("amplify"))
	until(t, "the stream", func() bool { return strings.Contains(p.log.String(), `"streaming"`) })
	passes := func(what string) {
		t.Helper()
		entity := uuid.New()
		write(t, neighbour, entity, "phone", `{"phone": 1}`, what)
		resolvedTo(t, admin, entity, what)
	}
	// jsonb keeps a number in twelve bytes that prints 131,072 digits.
	for _, column := range []string{"data", "vector_clock"} {
		for _, value := range []string{`{"a": 1e131071}`, `{"a": [[0e-16383]]}`, `{"clocks": {"a": 1}, "b": -1e131071}`} {
			_, err := hostile.Exec(t.Context(), fmt.Sprintf(`insert into sync_state (entity_type, entity_id, device_id, %s)
				values ('note', gen_random_uuid(), 'phone', '%s')`, column, value))
			var pgErr *pgconn.PgError
			if !errors.As(err, &pgErr) || pgErr.Code != "23514" {
				t.Errorf("%s %s: %v", column, value, err)
			}
		}
	}
	passes("after long numbers")
	// One version with a large clock beats thousands.
	entity := uuid.New()
	var clock strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&clock, `, "x%d": 1`, i)
	}
	write(t, hostile, entity, "winner", `{"winner": 1`+clock.String()+`}`, "wins")
	exec1(t, hostile, "update sync_state set last_modified = now() + interval '4 minutes' where entity_id = $1", entity)
	exec1(t, hostile, `insert into sync_state (entity_type, entity_id, device_id, data, vector_clock)
		select 'note', $1, 'd' || n, '{}', jsonb_build_object('d' || n, 1) from generate_series(1, 1000) n`, entity)
	passes("after a winner of thousands")
	if n := get[int](t, admin, "select max(pg_column_size(versions)) from sync_conflicts"); n > 10_000 {
		t.Errorf("a conflict takes %d bytes", n)
	}
	// Clocks that grow at every write.
	for i := range 20 {
		exec1(t, hostile, `insert into sync_state (entity_type, entity_id, device_id, data, vector_clock)
			select 'note', $1, 'grow' || $2::int, '{}', (select jsonb_object_agg('k' || $2::int || '-' || n, 1) from generate_series(1, 10000) n)`, entity, i)
	}
	passes("after growing clocks")
	if n := get[int](t, admin, "select octet_length(vector_clock::text) from sync_entities where entity_id = $1", entity); n > 2<<20 {
		t.Errorf("the joined clock has %d bytes", n)
	}
	if n := get[int](t, admin, "select count(*) from helix.dead_letters where error like '%would have more than%'"); n == 0 {
		t.Error("no dead letter tells of a clock that grew too large")
	}
	p.stop(t)
}

// TestFullDisk fills the file system that sync_entities is on. Good rows must
// wait, not become dead letters.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "helix-full-disk-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=24m,mode=0777", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no file system of its own can be mounted here (%s); TestApply/NotTheRowsFault covers SQLSTATE 53100", strings.TrimSpace(string(out)))
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
	cluster := testenv.StartCluster(t, testenv.Options{})
	if !cluster.Local() {
		t.Skip("the server is in a container, and cannot be given a file system of this machine; TestApply/NotTheRowsFault covers SQLSTATE 53100")
	}
	db := testenv.NewOn(t, cluster)
	if pg, err := user.Lookup("postgres"); err == nil {
		uid, _ := strconv.Atoi(pg.Uid)
		gid, _ := strconv.Atoi(pg.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	admin := migrated(t, db)
	db.Exec(t, "supabase_admin", "create tablespace small location '"+dir+"'")
	db.Exec(t, "supabase_admin", "alter table sync_entities set tablespace small")
	app := db.AsUser(t, db.NewUser(t).ID)
	p := start(t, db.URL("postgres"), nil, "run", "--slot", db.SlotName("disk"))
	until(t, "the stream", func() bool { return strings.Contains(p.log.String(), `"streaming"`) })
	ballast := dir + "/ballast"
	if err := os.WriteFile(ballast, make([]byte, 22<<20), 0o666); err != nil {
		t.Fatal(err)
	}
	exec1(t, app, `insert into sync_state (entity_type, entity_id, device_id, data, vector_clock)
		select 'note', gen_random_uuid(), 'phone', jsonb_build_object('n', n), '{"phone": 1}' from generate_series(1, 20000) n`)
	until(t, "the disk to be full", func() bool { return strings.Contains(p.log.String(), "53100") })
	if n := get[int](t, admin, "select count(*) from helix.dead_letters"); n != 0 {
		t.Errorf("%d dead letters of a full disk", n)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	until(t, "all rows once there is room", func() bool { return get[int](t, admin, "select count(*) from sync_entities") == 20_000 })
	if n := get[int](t, admin, "select count(*) from helix.dead_letters"); n != 0 {
		t.Errorf("%d dead letters of a full disk", n)
	}
	p.stop(t)
}
