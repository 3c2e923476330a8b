package stream_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/replication/stream"
	"github.com/helixd/helixd/testenv"
)

func TestEnsurePublication(t *testing.T) {
	db := testenv.New(t)
	conn := db.Connect(t, "postgres")
	db.Exec(t, "postgres", `create table a (id int primary key, wide bytea, "Odd ""name" text);
		create table b (id int, k int not null unique, v text); alter table b replica identity using index b_k_key;
		create table f (id int primary key, v text, w text); alter table f replica identity full`)
	tables := map[string][]string{"public.a": {`Odd "name`}, "public.b": {"v"}, "public.f": {"v"}}
	ensure := func(t *testing.T) bool {
		t.Helper()
		changed, err := stream.EnsurePublication(t.Context(), conn, "p", tables, func() error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		return changed
	}
	published := func(t *testing.T) string {
		t.Helper()
		rows, err := conn.Query(t.Context(), `select tablename || array_to_string(attnames, ',', '') from pg_publication_tables
			where pubname = 'p' order by 1`)
		if err != nil {
			t.Fatal(err)
		}
		got, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(got, " ")
	}
	const want = `aid,Odd "name bk,v fid,v,w`
	t.Run("Created", func(t *testing.T) {
		if !ensure(t) {
			t.Error("nothing changed")
		}
		if got := published(t); got != want {
			t.Errorf("published: %s, want %s", got, want)
		}
		if ensure(t) {
			t.Error("it changed again")
		}
	})
	for name, sql := range map[string]string{
		"TableDropped":  "alter publication p drop table b",
		"TableAdded":    "create table if not exists extra (id int primary key); alter publication p add table extra",
		"ColumnsCut":    `alter publication p set table a (id), b (k, v), f`,
		"RowsFiltered":  `alter publication p set table a (id, "Odd ""name"), b (k, v) where (k > 1), f`,
		"OtherOps":      "alter publication p set (publish = 'insert, delete')",
		"ViaRoot":       "alter publication p set (publish_via_partition_root = false)",
		"IdentityFull":  "alter table a replica identity full",
		"IdentityBack":  "alter table a replica identity default",
		"FullWithList":  "alter publication p set table a (id, \"Odd \"\"name\"), b (k, v), f (id, v)",
		"AllTablesGone": "drop publication p",
	} {
		t.Run(name, func(t *testing.T) {
			db.Exec(t, "postgres", "alter table a replica identity default")
			ensure(t)
			if name == "IdentityBack" {
				db.Exec(t, "postgres", "alter table a replica identity full")
				ensure(t)
			}
			db.Exec(t, "postgres", sql)
			if !ensure(t) {
				t.Error("it was not noticed")
			}
			if ensure(t) {
				t.Error("it was not mended")
			}
			db.Exec(t, "postgres", "update a set wide = null; update b set v = null; update f set v = null")
		})
	}
	t.Run("GapIsKnownBeforeItIsMended", func(t *testing.T) {
		// Whoever dies between the two must leave a sign.
		db.Exec(t, "postgres", "alter publication p drop table b")
		failed := errors.New("died")
		_, err := stream.EnsurePublication(t.Context(), conn, "p", tables, func() error { return failed })
		if !errors.Is(err, failed) || strings.Contains(published(t), "bk,v") {
			t.Errorf("EnsurePublication: %v; published: %s", err, published(t))
		}
		if !ensure(t) {
			t.Error("nothing changed")
		}
	})
	t.Run("ForAllTables", func(t *testing.T) {
		db.Exec(t, "supabase_admin", "drop publication p; create publication p for all tables; alter publication p owner to postgres")
		if !ensure(t) || ensure(t) {
			t.Error("it was not mended")
		}
	})
	t.Run("Partitioned", func(t *testing.T) {
		db.Exec(t, "postgres", `alter table a rename to a_old;
			create table a (id int primary key, wide bytea, "Odd ""name" text) partition by range (id);
			create table a_1 partition of a for values from (0) to (100);
			create table heir () inherits (b)`)
		if !ensure(t) || ensure(t) {
			t.Error("it was not mended")
		}
		if got := published(t); got != want {
			t.Errorf("published: %s, want %s", got, want)
		}
		db.Exec(t, "postgres", "create table a_2 partition of a for values from (100) to (200); insert into a values (1), (101); update a set wide = null")
		if ensure(t) {
			t.Error("a new partition belongs to its table")
		}
	})
	t.Run("TableMissing", func(t *testing.T) {
		var setup *stream.SetupError
		_, err := stream.EnsurePublication(t.Context(), conn, "p", map[string][]string{"public.nowhere": {"id"}}, func() error { return nil })
		if !errors.As(err, &setup) || !strings.Contains(setup.Hint, "helixd migrate") {
			t.Errorf("EnsurePublication: %v", err)
		}
	})
	t.Run("ColumnMissing", func(t *testing.T) {
		var setup *stream.SetupError
		_, err := stream.EnsurePublication(t.Context(), conn, "p", map[string][]string{"public.a": {"id", "gone"}}, func() error { return nil })
		if !errors.As(err, &setup) || !strings.Contains(setup.Problem, "gone") {
			t.Errorf("EnsurePublication: %v", err)
		}
	})
	t.Run("NotAllowed", func(t *testing.T) {
		db.Exec(t, "supabase_admin", "create table theirs (id int primary key)")
		var setup *stream.SetupError
		_, err := stream.EnsurePublication(t.Context(), conn, "p", map[string][]string{"public.theirs": {"id"}}, func() error { return nil })
		if !errors.As(err, &setup) || !strings.Contains(setup.Hint, "alter publication") {
			t.Errorf("EnsurePublication: %v", err)
		}
	})
}
