package stream_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/replication/stream"
	"github.com/helixd/helixd/testenv"
)

func TestDrift(t *testing.T) {
	db := testenv.New(t)
	conn := db.Connect(t, "postgres")
	db.Exec(t, "postgres", `create table a (id int primary key, v text, w text); create table b (id int primary key, v text);
		insert into a values (1); insert into b values (1)`)
	tables := map[string][]string{"public.a": {"v"}, "public.b": {"v"}}
	check := func(t *testing.T) *stream.Publication {
		t.Helper()
		p, err := stream.CheckPublication(t.Context(), conn, "p", tables)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	// good makes all as it must be.
	good := func(t *testing.T) stream.Fingerprint {
		t.Helper()
		db.Exec(t, "postgres", "alter table a replica identity default; alter table b replica identity default")
		if _, err := stream.EnsurePublication(t.Context(), conn, "p", tables, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		p := check(t)
		if p.Fault != "" || p.Misfits != nil || p.Unidentified != nil {
			t.Fatalf("%+v", p)
		}
		return stream.ParseFingerprint(p.Fingerprint.String())
	}
	for name, c := range map[string]struct{ sql, altered string }{
		"DroppedAndAdded":    {"alter publication p drop table a; alter publication p add table only a (id, v)", "public.a"},
		"FilteredAndNot":     {"alter publication p set table a (id, v), b (id, v) where (false); alter publication p set table a (id, v), b (id, v)", "public.b"},
		"NoUpdatesForAWhile": {"alter publication p set (publish = 'insert'); alter publication p set (publish = 'insert, update')", "its settings"},
		"MadeAgain": {"drop publication p; create publication p for table a (id, v), b (id, v) with (publish = 'insert, update', publish_via_partition_root)",
			"its settings, public.a, public.b"},
		"SetToTheSame": {"alter publication p set table a (id, v), b (id, v)", ""},
		"Unrelated":    {"alter table a add x int; alter table a drop x; alter table a alter w type varchar(9); comment on publication p is 'x'", ""},
		"Frozen":       {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			last := good(t)
			if c.sql == "" {
				for _, sql := range []string{"vacuum full pg_publication", "vacuum freeze pg_publication_rel", "vacuum full pg_publication_rel"} {
					db.Exec(t, "supabase_admin", sql)
				}
			} else {
				db.Exec(t, "postgres", c.sql)
			}
			p := check(t)
			if p.Fault != "" {
				t.Errorf("fault: %s", p.Fault)
			}
			if got := p.Fingerprint.Altered(last); got != c.altered {
				t.Errorf("altered: %q, want %q", got, c.altered)
			}
		})
	}
	t.Run("Fit", func(t *testing.T) {
		last := good(t)
		fit := func(keep func(pgx.Tx, stream.Fingerprint) error) error {
			return stream.FitPublication(t.Context(), conn, "p", tables, last, keep)
		}
		updates := func() error {
			_, err := db.Connect(t, "postgres").Exec(t.Context(), "update a set w = 'x'; update b set v = 'x'")
			return err
		}
		db.Exec(t, "postgres", "alter table a replica identity full")
		if p := check(t); p.Fault != "" || len(p.Misfits) != 1 || p.Misfits[0] != "public.a" || updates() == nil {
			t.Fatalf("%+v", p)
		}
		var kept stream.Fingerprint
		if err := fit(func(_ pgx.Tx, f stream.Fingerprint) error { kept = f; return nil }); err != nil {
			t.Fatal(err)
		}
		if p := check(t); p.Fault != "" || p.Misfits != nil || p.Fingerprint.Altered(kept) != "" || kept.Altered(last) != "public.a" {
			t.Errorf("%+v, altered %s", p, kept.Altered(last))
		}
		if err := updates(); err != nil {
			t.Error(err)
		}
		// Whatever anybody altered in between must not become the good state.
		db.Exec(t, "postgres", `alter table a replica identity default;
			alter publication p drop table a; alter publication p add table only a`)
		last = kept
		if err := fit(func(pgx.Tx, stream.Fingerprint) error { t.Error("kept"); return nil }); !errors.Is(err, stream.ErrAltered) {
			t.Errorf("FitPublication: %v", err)
		}
		last = check(t).Fingerprint
		failed := errors.New("no")
		if err := fit(func(pgx.Tx, stream.Fingerprint) error { return failed }); !errors.Is(err, failed) || check(t).Fingerprint.Altered(last) != "" {
			t.Errorf("FitPublication: %v", err)
		}
	})
	t.Run("NoIdentity", func(t *testing.T) {
		good(t)
		for _, sql := range []string{"alter table a replica identity nothing",
			"alter table a replica identity default; alter table a drop constraint a_pkey"} {
			db.Exec(t, "postgres", sql)
			if p := check(t); p.Fault != "" || len(p.Unidentified) != 1 || p.Unidentified[0] != "public.a" {
				t.Errorf("after %q: %+v", sql, p)
			}
		}
	})
}
