package reactors_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
	"github.com/helixd/helixd/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// copier is a reactor that copies source into target; n = 0 violates a
// constraint, n = -1 is rejected, and note goes along.
type copier struct {
	enqueue bool
	fail    string // SQLSTATE to raise, "" for none
}

func (copier) Name() string     { return "copier" }
func (copier) Writes() []string { return []string{"public.target"} }

func (copier) Watches() []reactors.Watch {
	return []reactors.Watch{
		{Table: "public.source", Ops: []replication.Op{replication.Insert, replication.Update}, Columns: []string{"id", "n"}},
		{Table: "public.target", Ops: []replication.Op{replication.Insert}, Columns: []string{"id", "n"}},
		{Table: "public.settings", Ops: []replication.Op{replication.Update, replication.Delete}},
	}
}

func (c copier) React(ctx context.Context, tx *reactors.Tx, rows []reactors.Row) error {
	for i := range rows {
		if rows[i].Watch == 2 {
			key, user := rows[i].InboxKey()
			if _, err := tx.Exec(ctx, "insert into target select ($1::text::jsonb->>'id')::int, $2::text::int", string(key), user); err != nil {
				return err
			}
			continue
		}
		id, _ := rows[i].Text(0)
		n, _ := rows[i].Text(1)
		if rows[i].Watch == 1 {
			id += "000" // what an app's trigger wrote into target
		}
		switch {
		case c.fail != "":
			if _, err := tx.Exec(ctx, "do $$ begin raise exception using errcode = '"+c.fail+"'; end $$"); err != nil {
				return err
			}
		case n == "-1":
			tx.Reject(rows[i], fmt.Errorf("n is negative"))
			continue
		}
		if _, err := tx.Exec(ctx, "insert into target (id, n) values ($1::text::int, $2::text::int)", id, n); err != nil {
			return err
		}
		if c.enqueue {
			tx.Enqueue(reactors.PruneInbox{Slot: "job-" + id}, nil)
		}
	}
	return nil
}

// bench is a database with source and target and a dispatcher on it.
type bench struct {
	db     *testenv.Database
	admin  *pgx.Conn
	pool   *pgxpool.Pool
	d      *reactors.Dispatcher
	slot   string
	source *replication.Relation
	target *replication.Relation
	lsn    replication.LSN
}

func newBench(t *testing.T, r ...reactors.Reactor) *bench {
	t.Helper()
	b := &bench{db: testenv.New(t), lsn: 1000}
	b.admin, b.slot = b.db.Connect(t, "postgres"), b.db.SlotName("d")
	if err := migrations.Up(t.Context(), b.admin, func(migrations.Migration) {}); err != nil {
		t.Fatal(err)
	}
	b.exec(t, "create table source (id int primary key, n int); create table target (id int primary key, n int check (n <> 0))")
	b.exec(t, fmt.Sprintf("insert into helix.checkpoints (slot, system_identifier, lsn, epoch) values ('%s', '1', '0/0', 0)", b.slot))
	var err error
	if b.pool, err = pgxpool.New(t.Context(), b.db.URL("postgres")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.pool.Close)
	b.d = b.dispatcher(t, r...)
	b.source, b.target = relation("source"), relation("target")
	return b
}

func (b *bench) dispatcher(t *testing.T, r ...reactors.Reactor) *reactors.Dispatcher {
	t.Helper()
	jobs, err := reactors.NewJobs(b.pool, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := reactors.NewDispatcher(t.Context(), b.pool, b.slot, jobs, zerolog.New(zerolog.NewTestWriter(t)), r...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Abandon)
	if _, err := d.Lead(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	return d
}

func relation(name string) *replication.Relation {
	return &replication.Relation{Namespace: "public", Name: name, Columns: []replication.Column{{Name: "id", Key: true}, {Name: "n"}}}
}

// row is an inserted row of a relation.
func row(rel *replication.Relation, id, n int) replication.Change {
	return replication.Change{Op: replication.Insert, Relation: rel, New: replication.Tuple{
		{Kind: replication.Text, Data: fmt.Append(nil, id)}, {Kind: replication.Text, Data: fmt.Append(nil, n)}}}
}

// transaction makes a committed one of changes.
func (b *bench) transaction(changes ...replication.Change) replication.Transaction {
	b.lsn += 100
	return replication.Transaction{CommitLSN: b.lsn, EndLSN: b.lsn + 50, CommitTime: time.Now(), Changes: changes}
}

func batch(txs ...replication.Transaction) *replication.Batch {
	return &replication.Batch{Transactions: txs, EndLSN: txs[len(txs)-1].EndLSN}
}

func (b *bench) exec(t *testing.T, sql string) {
	t.Helper()
	if _, err := b.admin.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func query[T any](t *testing.T, b *bench, sql string, args ...any) T {
	t.Helper()
	return testenv.Get[T](t, b.admin, sql, args...)
}

func (b *bench) log() zerolog.Logger { return zerolog.Nop() }
