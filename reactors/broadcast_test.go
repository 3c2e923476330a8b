package reactors_test

import (
	"context"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
)

// crier broadcasts each row of source to the user in n.
type crier struct{ users []string }

func (crier) Name() string     { return "crier" }
func (crier) Writes() []string { return nil }

func (crier) Watches() []reactors.Watch {
	return []reactors.Watch{{Table: "public.source", Ops: []replication.Op{replication.Insert}, Columns: []string{"id", "n"}}}
}

func (c crier) React(_ context.Context, tx *reactors.Tx, rows []reactors.Row) error {
	for i := range rows {
		id, _ := rows[i].Text(0)
		n, _ := rows[i].Text(1)
		op := replication.Insert
		if strings.HasPrefix(id, "9") {
			op, id = replication.Update, id[1:]
		}
		tx.Broadcast(reactors.Broadcast{UserID: c.users[n[0]-'0'], Op: op, Table: "things",
			Key: map[string]string{"name": id}, ID: id, Record: func() any { return map[string]string{"n": n} }})
	}
	return nil
}

func TestBroadcast(t *testing.T) {
	c := crier{users: make([]string, 3)}
	b := newBench(t, c)
	for i := range c.users {
		c.users[i] = b.db.NewUser(t).ID
	}
	sent := func(user int) string {
		t.Helper()
		return query[string](t, b, `select coalesce(string_agg(concat_ws(' ', payload->>'op', payload->>'id', payload->'key'->>'name',
			payload->'record'->>'n', payload->>'rows', event, extension, private), e'\n' order by inserted_at, payload->>'id'), '')
			from realtime.messages where topic = $1`, "helix:"+c.users[user])
	}
	t.Run("LastOfEachRow", func(t *testing.T) {
		err := b.d.Apply(t.Context(), batch(
			b.transaction(row(b.source, 1, 0), row(b.source, 2, 0)),
			b.transaction(row(b.source, 91, 0)), // made and updated: it is new to the client
		))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := sent(0), "INSERT 1 1 0 things broadcast t\nINSERT 2 2 0 things broadcast t"; got != want {
			t.Errorf("sent:\n%s\nwant:\n%s", got, want)
		}
	})
	t.Run("ManyRowsAreOneMessage", func(t *testing.T) {
		tx := b.transaction(row(b.source, 500, 2))
		for id := range 20 {
			tx.Changes = append(tx.Changes, row(b.source, 10+id, 1))
		}
		if err := b.d.Apply(t.Context(), batch(tx)); err != nil {
			t.Fatal(err)
		}
		if got, want := sent(1), "UPDATE 20 things broadcast t"; got != want {
			t.Errorf("sent:\n%s\nwant:\n%s", got, want)
		}
		if got := sent(2); !strings.HasPrefix(got, "INSERT 500") {
			t.Errorf("another user's message: %s", got)
		}
	})
	t.Run("NothingIsSentWithoutTheCommit", func(t *testing.T) {
		before := query[int](t, b, "select count(*) from realtime.messages")
		b.exec(t, "update helix.checkpoints set epoch = epoch + 1")
		if err := b.d.Apply(t.Context(), batch(b.transaction(row(b.source, 7, 0)))); err == nil {
			t.Fatal("applied")
		}
		if n := query[int](t, b, "select count(*) from realtime.messages"); n != before {
			t.Errorf("%d messages of an apply that failed", n-before)
		}
		if _, err := b.d.Lead(t.Context(), "test"); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("FailureOfRealtimeFailsNothing", func(t *testing.T) {
		b.db.Exec(t, "supabase_admin", "revoke insert on realtime.messages from postgres")
		if err := b.d.Apply(t.Context(), batch(b.transaction(row(b.source, 8, 0)))); err != nil {
			t.Errorf("Apply: %v", err)
		}
	})
	t.Run("WithoutRealtime", func(t *testing.T) {
		b.db.Exec(t, "supabase_admin", "drop function realtime.send(jsonb, text, text, boolean)")
		d := b.dispatcher(t, c)
		if err := d.Apply(t.Context(), batch(b.transaction(row(b.source, 9, 0)))); err != nil {
			t.Errorf("Apply: %v", err)
		}
	})
}
