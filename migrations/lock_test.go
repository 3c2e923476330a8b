package migrations_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/testenv"
)

// TestUpWhileUsersAreLocked: a foreign key to auth.users locks it, and whoever
// signs in waits behind the one who waits for the lock. So each file gives way
// after two seconds, and comes again.
func TestUpWhileUsersAreLocked(t *testing.T) {
	for _, stage := range []struct {
		name  string
		first string // file that is reached with the lock held
	}{
		{"FirstFile", "20261120000000_helix.sql"},
		{"SyncFile", "20261120000200_sync.sql"},
	} {
		t.Run(stage.name, func(t *testing.T) {
			db := testenv.New(t)
			conn := db.Connect(t, "postgres")
			holder, watcher := db.Connect(t, "supabase_auth_admin"), db.Connect(t, "supabase_admin")
			for _, m := range migrations.All() {
				if m.File() == stage.first {
					break
				}
				run(t, conn, m.SQL)
			}
			run(t, holder, "begin; lock table auth.users in row exclusive mode") // as a sign-in has it
			pid := conn.PgConn().PID()
			done, ended := make(chan error, 1), make(chan struct{})
			go func() {
				defer close(ended)
				done <- migrations.Up(t.Context(), conn, func(migrations.Migration) {})
			}()
			t.Cleanup(func() { <-ended }) // before the connections are closed

			first := waitsSince(t, watcher, pid, done, "auth.users", time.Time{})
			again := waitsSince(t, watcher, pid, done, "auth.users", first)
			if again.Sub(first) < 2*time.Second {
				t.Errorf("tried again after %s, before the lock_timeout of 2 s", again.Sub(first))
			}
			run(t, holder, "rollback")
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if left := pending(t, conn); len(left) != 0 {
				t.Errorf("pending %v", left)
			}
		})
	}
}

// TestUpAfterADeadlock: the last file locks all tables, one after the other; an app
// that holds one of them may want one that it has.
func TestUpAfterADeadlock(t *testing.T) {
	db, conn := migrated(t)
	app, watcher := db.Connect(t, "supabase_admin"), db.Connect(t, "supabase_admin")
	// Who has waited for deadlock_timeout looks for a deadlock, and is its victim.
	run(t, app, "set deadlock_timeout = '1h'; begin; lock table public.skills in row exclusive mode")
	pid := conn.PgConn().PID()
	done, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		done <- migrations.Up(t.Context(), conn, func(migrations.Migration) {})
	}()
	t.Cleanup(func() { <-ended })
	waitsSince(t, watcher, pid, done, "public.skills", time.Time{})
	run(t, app, "lock table public.memories in row exclusive mode") // it is had once the other has given way
	run(t, app, "rollback")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// waitsSince waits until the session waits for a table, in a transaction
// that began after a time, and gives when it began.
func waitsSince(t *testing.T, watcher *pgx.Conn, pid uint32, done <-chan error, table string, after time.Time) time.Time {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		rows, err := watcher.Query(t.Context(), `select a.xact_start from pg_locks l join pg_stat_activity a using (pid)
			where pid = $1 and not granted and relation = $2::text::regclass and a.xact_start > $3`, pid, table, after)
		if err != nil {
			t.Fatal(err)
		}
		began, err := pgx.CollectRows(rows, pgx.RowTo[time.Time])
		if err != nil {
			t.Fatal(err)
		}
		if len(began) > 0 {
			return began[0]
		}
		select {
		case err := <-done:
			t.Fatalf("Up ended while the lock was held: %v", err)
		case <-tick.C:
		}
	}
	t.Fatalf("the session did not wait for %s in a transaction after %s: it never gave way, or never tried again", table, after)
	return time.Time{}
}

// TestForeignKeyGivesWay: the key of an adopted table waits for auth.users two
// seconds at a time, alone: also where the Supabase CLI applies the file, which
// does not try again.
func TestForeignKeyGivesWay(t *testing.T) {
	db, conn, alice, _ := project(t, existing)
	all := migrations.All()
	file := indexOf(t, "20261120000500_memories_user.sql")
	for _, m := range all[:file] {
		run(t, conn, m.SQL)
	}
	holder, watcher, app := db.Connect(t, "supabase_auth_admin"), db.Connect(t, "supabase_admin"), db.AsUser(t, alice.ID)
	run(t, holder, "begin; lock table auth.users in row exclusive mode")
	done, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		_, err := conn.PgConn().Exec(t.Context(), all[file].SQL).ReadAll()
		done <- err
	}()
	t.Cleanup(func() { <-ended })
	waitsSince(t, watcher, conn.PgConn().PID(), done, "auth.users", time.Time{})
	// It gives way: the one who comes behind it, for a lock that it holds up, gets it.
	began := time.Now()
	run(t, watcher, "set lock_timeout = '10s'; begin; lock table auth.users in row exclusive mode; rollback")
	if waited := time.Since(began); waited > 4*time.Second {
		t.Errorf("whoever signs in waited %s", waited)
	}
	run(t, app, "select from memories") // the adopted table is not locked meanwhile
	waitsSince(t, watcher, conn.PgConn().PID(), done, "auth.users", time.Time{})
	run(t, holder, "rollback")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if n := get[int](t, conn, "select count(*) from pg_constraint where conrelid = 'memories'::regclass and contype = 'f' and confdeltype = 'c' and not convalidated"); n != 1 {
		t.Errorf("%d keys", n)
	}
}
