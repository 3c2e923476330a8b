package main_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/testenv"
)

// patient is a helixd that streams, to which things happen.
type patient struct {
	*process
	db    *testenv.Database
	admin *pgx.Conn
	user  string
	slot  string
	known uuid.UUID // an entity that is there from the beginning
	n     int       // versions of it
}

func streaming(t *testing.T, db *testenv.Database, env ...string) *patient {
	t.Helper()
	x := &patient{db: db, admin: migrated(t, db), user: db.NewUser(t).ID, slot: db.SlotName("s"), known: uuid.New()}
	x.process = start(t, db.URL("postgres"), append([]string{"HELIX_DRIFT_INTERVAL=100ms"}, env...), "run", "--slot", x.slot)
	x.says(t, `"streaming"`)
	x.passes(t)
	return x
}

// edit writes the known entity's next version into a table, without any word
// to helixd other than the stream.
func (x *patient) edit(t *testing.T, table string) {
	t.Helper()
	x.n++
	exec1(t, x.admin, fmt.Sprintf(`insert into %s (user_id, entity_type, entity_id, device_id, data, vector_clock)
		values ($1, 'note', $2, 'phone', jsonb_build_object('text', $3::text), jsonb_build_object('phone', $4::int))
		on conflict (user_id, entity_type, entity_id, device_id) do update
		set data = excluded.data, vector_clock = excluded.vector_clock, last_modified = now()`, table), x.user, x.known, x.text(), x.n)
}

func (x *patient) text() string { return fmt.Sprintf("version %d", x.n) }

// passes sees an edit through.
func (x *patient) passes(t *testing.T) {
	t.Helper()
	x.edit(t, "sync_state")
	resolvedTo(t, x.admin, x.known, x.text())
}

func (x *patient) says(t *testing.T, text string) {
	t.Helper()
	until(t, "it to say "+text, func() bool { return strings.Contains(x.log.String(), text) })
}

// repairs is how often all rows were read again.
func (x *patient) repairs(t *testing.T) int {
	t.Helper()
	return get[int](t, x.admin, "select repairs from helix.checkpoints where slot = $1", x.slot)
}

// unseen runs steps while helixd does not look.
func (x *patient) unseen(t *testing.T, steps func()) {
	t.Helper()
	if err := x.Cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer x.Cmd.Process.Signal(syscall.SIGCONT) //nolint:errcheck // the test then waits in vain
	steps()
}

// TestDrift alters, while helixd streams, what it depends on, and writes
// meanwhile. Nothing may be lost, and it must say what it found.
func TestDrift(t *testing.T) {
	const again = "and altered it back"
	for name, c := range map[string]struct {
		before, after string // what is done to the schema, and undone where helixd cannot
		table         string // that takes the edit in between
		unseen        bool
		says          string
		repairs       int
	}{
		"TableLeaves":        {before: "alter publication helix drop table sync_state", says: "it lacks public.sync_state", repairs: 1},
		"TableJoins":         {before: "create table x (id int primary key); alter publication helix add table x", says: "it carries public.x", repairs: 1},
		"RowsFiltered":       {before: "alter publication helix set table sync_state where (false), helix.inbox", says: "filters the rows of public.sync_state", repairs: 1},
		"ColumnsCut":         {before: "alter publication helix set table sync_state (id), helix.inbox", says: "lacks columns of public.sync_state", repairs: 1},
		"NoUpdates":          {before: "alter publication helix set (publish = 'insert')", says: "does not publish just insert, update", repairs: 1},
		"PublicationDropped": {before: "drop publication helix", says: "it is not there", repairs: 1},
		"InboxLeaves":        {before: "alter publication helix drop table helix.inbox", says: "it lacks helix.inbox", repairs: 1},
		"NoUpdatesAndBack": {before: "alter publication helix set (publish = 'insert')", after: "alter publication helix set (publish = 'insert, update')",
			unseen: true, says: again, repairs: 1},
		"TableLeavesAndIsBack": {before: "alter publication helix drop table sync_state", after: `do $$ begin execute (
				select format('alter publication helix add table only sync_state (%s)', string_agg(attname, ', ')) from pg_attribute
				where attrelid = 'sync_state'::regclass and attnum > 0 and attname <> 'created_at'); end $$`,
			unseen: true, says: again, repairs: 1},
		"TableRenamed": {before: "alter table sync_state rename to x", table: "x", after: "alter table x rename to sync_state",
			says: "table public.sync_state is not there", repairs: -1},
		"TableMoved": {before: "create schema x; alter table sync_state set schema x", table: "x.sync_state", after: "alter table x.sync_state set schema public",
			says: "table public.sync_state is not there", repairs: -1},
		"TableRenamedUnseen": {before: "alter table sync_state rename to x", table: "x", after: "alter table x rename to sync_state",
			unseen: true, says: "public.x is streamed, which no reactor watches", repairs: 1},
		"ColumnRenamed": {before: "alter table sync_state disable trigger user; alter table sync_state rename deleted to x",
			after: "alter table sync_state rename x to deleted; alter table sync_state enable trigger user",
			says:  "table public.sync_state has no column deleted", repairs: -1},
		"ColumnRenamedUnseen": {before: "alter table sync_state disable trigger user; alter table sync_state rename deleted to x",
			after:  "alter table sync_state rename x to deleted; alter table sync_state enable trigger user",
			unseen: true, says: "public.sync_state is streamed without column deleted", repairs: 1},
		"ColumnDropped": {before: "alter table sync_state disable trigger user; alter table sync_state drop deleted cascade",
			after: "alter table sync_state add deleted boolean not null default false; alter table sync_state enable trigger user",
			says:  "table public.sync_state has no column deleted", repairs: 1},
		"NoIdentity": {before: "alter table sync_state replica identity nothing", after: "alter table sync_state replica identity default",
			table: "-", says: "alter table public.sync_state replica identity default", repairs: 0},
		"IdentityFull": {before: "alter table sync_state replica identity full", table: "-", says: "critical: the replica identity of tables was changed", repairs: 0},
		"IdentityIsAnIndex": {before: "create unique index x on sync_state (created_at, id); alter table sync_state replica identity using index x",
			after: "alter table sync_state replica identity default", table: "-", says: "critical: the replica identity of tables was changed", repairs: 0},
		"Partitioned": {before: `begin; alter table sync_state rename to x; alter table x drop constraint sync_state_device_key;
				create table sync_state (like x including defaults, primary key (user_id, id),
					constraint sync_state_device_key unique (user_id, entity_type, entity_id, device_id)) partition by hash (user_id);
				create table sync_state_1 partition of sync_state for values with (modulus 2, remainder 0);
				create table sync_state_2 partition of sync_state for values with (modulus 2, remainder 1);
				insert into sync_state select * from x; commit`, says: "it carries public.x, it lacks public.sync_state", repairs: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := streaming(t, testenv.New(t))
			meanwhile := func() {
				exec1(t, x.admin, c.before)
				switch c.table {
				case "": // what helixd sees later passes in the meantime
					x.edit(t, "sync_state")
				case "-": // clients cannot update now
				default:
					x.edit(t, c.table)
				}
				if !c.unseen {
					x.says(t, c.says)
				}
				if c.after != "" {
					exec1(t, x.admin, c.after)
				}
			}
			if c.unseen {
				x.unseen(t, meanwhile)
			} else {
				meanwhile()
			}
			resolvedTo(t, x.admin, x.known, x.text())
			x.says(t, c.says)
			if c.table == "-" { // updates pass again
				until(t, "updates to pass", func() bool {
					_, err := x.admin.Exec(t.Context(), "update sync_state set created_at = now()")
					return err == nil
				})
			}
			x.passes(t)
			if n := x.repairs(t); n != c.repairs && c.repairs >= 0 {
				t.Errorf("%d repairs, want %d", n, c.repairs)
			}
			if n := get[int](t, x.admin, "select count(*) from helix.dead_letters"); n != 0 {
				t.Errorf("%d dead letters", n)
			}
			x.stop(t)
		})
	}
	t.Run("WhileDown", func(t *testing.T) {
		t.Parallel()
		x := streaming(t, testenv.New(t))
		x.stop(t)
		exec1(t, x.admin, "alter publication helix set (publish = 'insert')")
		x.edit(t, "sync_state")
		exec1(t, x.admin, "alter publication helix set (publish = 'insert, update'); alter table sync_state replica identity full")
		x.process = start(t, x.db.URL("postgres"), nil, "run", "--slot", x.slot)
		resolvedTo(t, x.admin, x.known, x.text())
		x.says(t, "altered and altered back, and changes may not have been streamed: its settings")
		x.stop(t)
		exec1(t, x.admin, "alter table sync_state replica identity default")
		x.process = start(t, x.db.URL("postgres"), nil, "run", "--slot", x.slot)
		x.passes(t)
		if n := x.repairs(t); n != 1 {
			t.Errorf("%d repairs; a replica identity that went back needs none", n)
		}
		x.stop(t)
	})
	t.Run("TableDroppedAndMadeAgain", func(t *testing.T) {
		t.Parallel()
		x := streaming(t, testenv.New(t))
		exec1(t, x.admin, "drop table sync_state")
		x.says(t, "delete from helix.migrations")
		exec1(t, x.admin, "delete from helix.migrations")
		if err := migrations.Up(t.Context(), x.admin, func(migrations.Migration) {}); err != nil {
			t.Fatal(err)
		}
		x.passes(t)
		x.stop(t)
	})
}
