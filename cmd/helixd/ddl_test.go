package main_test

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/helixd/helixd/testenv"
)

// TestSchemaChanges changes the streamed table in ways that leave what helixd
// watches, while a device keeps writing: each write is applied once, and no
// repair is needed.
func TestSchemaChanges(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	db.Exec(t, "postgres", "create table helix_audit (entity_id uuid, device_id text, counter bigint, applied int, primary key (entity_id, device_id, counter))")
	x := streaming(t, db, "HELIX_AUDIT=1")
	entity := uuid.New()
	conn := db.Connect(t, "postgres")
	var written, refused atomic.Int64
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for n := 1; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			_, err := conn.Exec(t.Context(), `insert into sync_state (user_id, entity_type, entity_id, device_id, data, vector_clock)
				values ($1, 'note', $2, 'phone', '{}', jsonb_build_object('phone', $3::int))
				on conflict (user_id, entity_type, entity_id, device_id) do update
				set vector_clock = excluded.vector_clock, last_modified = now()`, x.user, entity, n)
			var pgErr *pgconn.PgError
			if errors.As(err, &pgErr) && pgErr.Code == "42P10" { // the list hides a part of the replica identity
				refused.Add(1)
				n--
				continue
			}
			if err != nil {
				t.Errorf("write %d: %v", n, err)
				return
			}
			written.Store(int64(n))
		}
	}()
	flows := func() {
		t.Helper()
		goal := written.Load() + 20
		until(t, "writes to go on", func() bool { return written.Load() >= goal })
	}
	flows()
	for _, sql := range []string{
		"alter table sync_state add extra text",
		"alter table sync_state add volatile uuid default gen_random_uuid()", // rewrites the table
		"alter table sync_state rename extra to extras",
		"alter table sync_state alter volatile type text", // rewrites the table
		"alter table sync_state drop volatile",
		"create index on sync_state (device_id)",
		"vacuum full sync_state",
		"cluster sync_state using sync_state_pkey",
		"alter table sync_state set (fillfactor = 50)",
		"alter table sync_state add volatile uuid default gen_random_uuid(), drop extras",
		"alter table sync_state replica identity full",
		"alter table sync_state replica identity default",
		"grant select on sync_state to service_role",
		"create table child () inherits (sync_state)",
	} {
		exec1(t, x.admin, sql)
		flows()
	}
	// What the owner truncates is no delete of anybody's device: results stay.
	exec1(t, x.admin, "truncate sync_state")
	flows()
	close(stop)
	<-ended
	until(t, "all writes to be applied", func() bool {
		return get[int64](t, x.admin, "select count(*) from helix_audit where entity_id = $1", entity) == written.Load()
	})
	if n := get[int](t, x.admin, "select count(*) from helix_audit where applied <> 1 and entity_id = $1", entity); n != 0 {
		t.Errorf("%d writes were applied more than once", n)
	}
	if refused.Load() == 0 {
		t.Error("no update was refused: this Postgres may not need the drift check for REPLICA IDENTITY FULL")
	}
	resolvedTo(t, x.admin, x.known, x.text())
	if n := x.repairs(t); n != 0 {
		t.Errorf("%d repairs", n)
	}
	x.stop(t)
}
