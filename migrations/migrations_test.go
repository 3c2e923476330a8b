package migrations_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/sql/triggers"
	"github.com/helixd/helixd/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// up migrates and gives the files that were applied.
func up(t testing.TB, conn *pgx.Conn) []string {
	t.Helper()
	var files []string
	if err := migrations.Up(t.Context(), conn, func(m migrations.Migration) { files = append(files, m.File()) }); err != nil {
		t.Fatal(err)
	}
	return files
}

// migrated is a new database with helixd's schema.
func migrated(t testing.TB) (*testenv.Database, *pgx.Conn) {
	t.Helper()
	db := testenv.New(t)
	conn := db.Connect(t, "postgres")
	up(t, conn)
	return db, conn
}

func pending(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	all, err := migrations.Pending(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, m := range all {
		files = append(files, m.File())
	}
	return files
}

func run(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
		t.Fatal(err)
	}
}

func get[T any](t testing.TB, conn *pgx.Conn, sql string, args ...any) T {
	t.Helper()
	return testenv.Get[T](t, conn, sql, args...)
}

func names() []string {
	var files []string
	for _, m := range migrations.All() {
		files = append(files, m.File())
	}
	return files
}

func TestAll(t *testing.T) {
	t.Run("NamedForTheSupabaseCLI", func(t *testing.T) {
		for _, name := range names() {
			if !regexp.MustCompile(`^\d{14}_[a-z][a-z_]*\.sql$`).MatchString(name) {
				t.Errorf("file %s", name)
			}
		}
	})
	t.Run("InOrderTriggersLast", func(t *testing.T) {
		all := names()
		if !slices.IsSorted(all) || all[len(all)-1] != triggers.Version+"_helix_triggers.sql" {
			t.Errorf("files %v", all)
		}
	})
}

func TestUp(t *testing.T) {
	db := testenv.New(t)
	conn := db.Connect(t, "postgres")
	if got := pending(t, conn); !slices.Equal(got, names()) {
		t.Errorf("pending on a fresh database: %v", got)
	}
	t.Run("FreshDatabase", func(t *testing.T) {
		if got := up(t, conn); !slices.Equal(got, names()) {
			t.Errorf("applied %v, want all", got)
		}
		if got := pending(t, conn); len(got) != 0 {
			t.Errorf("pending %v", got)
		}
	})
	before := schema(t, conn)
	t.Run("AgainOnlyTheTriggers", func(t *testing.T) {
		if got, want := up(t, conn), names()[len(names())-1:]; !slices.Equal(got, want) {
			t.Errorf("applied %v, want %v", got, want)
		}
		same(t, before, schema(t, conn))
	})
	t.Run("EachFileTwice", func(t *testing.T) {
		user := db.NewUser(t)
		app := db.AsUser(t, user.ID)
		run(t, app, `insert into sync_state (entity_type, entity_id, device_id) values ('note', gen_random_uuid(), 'phone')`)
		rows := get[string](t, conn, "select to_jsonb(s)::text from sync_state s")
		secret := get[string](t, conn, "select secret from helix.instance")
		for _, m := range migrations.All() {
			for range 2 {
				tx, err := conn.Begin(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				run(t, conn, m.SQL)
				if err := tx.Commit(t.Context()); err != nil {
					t.Fatalf("%s: %v", m.File(), err)
				}
			}
		}
		same(t, before, schema(t, conn))
		if got := get[string](t, conn, "select to_jsonb(s)::text from sync_state s"); got != rows {
			t.Errorf("a row became %s, was %s", got, rows)
		}
		if got := get[string](t, conn, "select secret from helix.instance"); got != secret {
			t.Error("the instance has another secret")
		}
	})
	t.Run("OldTriggersVersionRecorded", func(t *testing.T) {
		run(t, conn, "delete from helix.migrations where version = '"+triggers.Version+"'; insert into helix.migrations values ('20260101000000', 'helix_triggers')")
		if got, want := pending(t, conn), names()[len(names())-1:]; !slices.Equal(got, want) {
			t.Errorf("pending %v, want %v", got, want)
		}
	})
}

// TestUpAtOnce: two migrates wait for each other.
func TestUpAtOnce(t *testing.T) {
	db := testenv.New(t)
	conns := []*pgx.Conn{db.Connect(t, "postgres"), db.Connect(t, "postgres")}
	errs := make(chan error)
	for _, conn := range conns {
		go func() { errs <- migrations.Up(t.Context(), conn, func(migrations.Migration) {}) }()
	}
	for range conns {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func TestExport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "supabase", "migrations")
	written, err := migrations.Export(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("WritesAll", func(t *testing.T) {
		if len(written) != len(migrations.All()) {
			t.Errorf("wrote %v", written)
		}
		for _, m := range migrations.All() {
			if got, err := os.ReadFile(filepath.Join(dir, m.File())); err != nil || string(got) != m.SQL {
				t.Errorf("%s is not the migration: %v", m.File(), err)
			}
		}
	})
	t.Run("AgainWritesNothing", func(t *testing.T) {
		if again, err := migrations.Export(dir); err != nil || len(again) != 0 {
			t.Errorf("wrote %v, %v", again, err)
		}
	})
	t.Run("RestoresAChangedFile", func(t *testing.T) {
		if err := os.WriteFile(written[0], []byte("select 1"), 0o644); err != nil {
			t.Fatal(err)
		}
		if again, err := migrations.Export(dir); err != nil || !slices.Equal(again, written[:1]) {
			t.Errorf("wrote %v, %v; want %s", again, err, written[0])
		}
	})
	t.Run("LeavesOtherFiles", func(t *testing.T) {
		other := filepath.Join(dir, "20250101000000_mine.sql")
		if err := os.WriteFile(other, []byte("select 1"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := migrations.Export(dir); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(other); err != nil || string(got) != "select 1" {
			t.Errorf("%s, %v", got, err)
		}
		if err := os.Remove(other); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("PlainSQLLeavesNothingPending", func(t *testing.T) {
		_, want := migrated(t)
		conn := testenv.New(t).Connect(t, "postgres")
		files, err := filepath.Glob(filepath.Join(dir, "*.sql")) // sorted
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			sql, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			run(t, conn, string(sql))
		}
		if got := pending(t, conn); len(got) != 0 {
			t.Errorf("pending %v", got)
		}
		same(t, schema(t, want), schema(t, conn))
	})
}

func TestRiver(t *testing.T) {
	db, conn := migrated(t)
	t.Run("ValidForThisRiver", func(t *testing.T) {
		pool, err := pgxpool.New(t.Context(), db.URL("postgres"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(pool.Close)
		migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Schema: "helix"})
		if err != nil {
			t.Fatal(err)
		}
		result, err := migrator.Validate(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if !result.OK {
			t.Errorf("run go generate ./migrations: %v", result.Messages)
		}
		want := len(migrator.AllVersions())
		if got := get[int](t, conn, "select count(*) from helix.river_migration where line = 'main'"); got != want {
			t.Errorf("%d versions are recorded, this River has %d", got, want)
		}
	})
	// Each statement that River itself would run is in the file, in its order,
	// but for the value that the generator moves.
	t.Run("FileIsWhatTheGeneratorWrites", func(t *testing.T) {
		file, err := os.ReadFile("20261120000100_river.sql")
		if err != nil {
			t.Fatal(err)
		}
		migrator, err := rivermigrate.New(riverpgxv5.New(nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		rest := string(file)
		for _, m := range migrator.AllVersions() {
			sql := strings.TrimSpace(strings.ReplaceAll(m.SQLUp, "/* TEMPLATE: schema */", "helix."))
			if m.Version == 2 {
				sql = strings.Replace(sql, "  'discarded',\n", "  'discarded',\n  'pending',\n", 1)
			}
			_, after, found := strings.Cut(rest, sql)
			if !found {
				t.Fatalf("version %d is not in the file as River has it: run go generate ./migrations", m.Version)
			}
			rest = after
		}
	})
	// The same tables as River would have made in an empty schema.
	t.Run("SameAsRiversOwn", func(t *testing.T) {
		pool, err := pgxpool.New(t.Context(), db.URL("postgres"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(pool.Close)
		run(t, conn, "create schema river")
		migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Schema: "river"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil); err != nil {
			t.Fatal(err)
		}
		const shape = `select string_agg(line, E'\n' order by line) from (
			select format('%s %s %s %s %s', table_name, column_name, udt_name, is_nullable, replace(column_default, $1 || '.', '')) as line
			from information_schema.columns where table_schema = $1 and table_name like 'river%'
			union all select replace(indexdef, $1 || '.', '') from pg_indexes where schemaname = $1 and tablename like 'river%'
			union all select replace(conrelid::regclass || ' ' || pg_get_constraintdef(oid), $1 || '.', '') from pg_constraint
				where conrelid::regclass::text like $1 || '.river%'
			union all select 'state ' || e.enumlabel from pg_enum e join pg_type t on t.oid = e.enumtypid
				where t.typnamespace = to_regnamespace($1)) s`
		same(t, get[string](t, conn, shape, "river"), get[string](t, conn, shape, "helix"))
	})
}

// TestNewerSchema: what a later release has migrated is left as it is, its triggers too.
func TestNewerSchema(t *testing.T) {
	_, conn := migrated(t)
	run(t, conn, "insert into helix.migrations (version, name) values ('20261120999999', 'helix_triggers')")
	if files := pending(t, conn); len(files) != 0 {
		t.Errorf("triggers of an older release: pending %q", files)
	}
	run(t, conn, "insert into helix.migrations (version, name) values ('29991231000000', 'later')")
	_, err := migrations.Pending(t.Context(), conn)
	var newer *migrations.NewerError
	if !errors.As(err, &newer) || newer.File != "29991231000000_later.sql" {
		t.Errorf("pending: %v", err)
	}
	err = migrations.Up(t.Context(), conn, func(m migrations.Migration) { t.Errorf("applied %s", m.File()) })
	if !errors.As(err, &newer) {
		t.Errorf("up: %v", err)
	}
}
