package reactors_test

import (
	"testing"
	"time"

	"github.com/helixd/helixd/replication"
	"github.com/helixd/helixd/testenv"
)

// TestNotYetVisible: the stream may tell of a transaction before others can see
// it. Nothing is applied until they can.
func TestNotYetVisible(t *testing.T) {
	b := newBench(t, copier{})
	app := b.db.Connect(t, "postgres")
	tx, err := app.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var xid int64
	if err := tx.QueryRow(t.Context(), "select (pg_current_xact_id()::text::bigint & x'ffffffff'::bigint)").Scan(&xid); err != nil {
		t.Fatal(err)
	}
	source := b.transaction(row(b.source, 1, 1))
	source.XID = uint32(xid)
	applied := make(chan error, 1)
	go func() { applied <- b.d.Apply(t.Context(), batch(source)) }()
	// It looks again and again meanwhile.
	until(t, "the apply to look", func() bool {
		return query[bool](t, b, `select exists (select from pg_stat_activity
			where datname = current_database() and query like '%pg_current_snapshot%' and state = 'idle in transaction')`)
	})
	select {
	case err := <-applied:
		t.Fatalf("applied before the transaction had ended: %v", err)
	default:
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-applied; err != nil {
		t.Fatal(err)
	}
	if n := query[int](t, b, "select count(*) from target"); n != 1 {
		t.Errorf("%d rows were applied", n)
	}
}

// TestInbox: what an AFTER trigger put into the inbox reaches those who watch
// that table and operation.
func TestInbox(t *testing.T) {
	b := newBench(t, copier{})
	inbox := &replication.Relation{Namespace: "helix", Name: "inbox", Columns: []replication.Column{
		{Name: "id", Key: true}, {Name: "table_name"}, {Name: "op"}, {Name: "key"}, {Name: "user_id"}}}
	tell := func(table, op, id, user string) replication.Change {
		c := replication.Change{Op: replication.Insert, Relation: inbox}
		for _, v := range []string{"1", table, op, `{"id": ` + id + `}`, user} {
			c.New = append(c.New, replication.Value{Kind: replication.Text, Data: []byte(v)})
		}
		return c
	}
	err := b.d.Apply(t.Context(), batch(b.transaction(
		tell("settings", "INSERT", "1", "5"), // not watched
		tell("settings", "UPDATE", "2", "6"),
		tell("settings", "DELETE", "3", "7"),
		tell("source", "DELETE", "4", "8"), // not watched
		tell("settings", "UPDATE", "9", ""),
	)))
	if err != nil {
		t.Fatal(err)
	}
	if got := query[string](t, b, "select string_agg(id || '/' || n, ' ' order by id) from target"); got != "2/6 3/7" {
		t.Errorf("target has %s", got)
	}
	if got := query[string](t, b, "select table_name || ' ' || op || ' ' || (key->>'id') from helix.dead_letters"); got != "public.settings UPDATE 9" {
		t.Errorf("the dead letter is %s", got)
	}
	if _, streamed := b.d.Tables()["public.settings"]; streamed {
		t.Error("a table that the inbox tells of is streamed")
	}
}

func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	testenv.Until(t, 30*time.Second, what, cond)
}
