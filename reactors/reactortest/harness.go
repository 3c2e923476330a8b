package reactortest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
	"github.com/helixd/helixd/replication/stream"
	"github.com/helixd/helixd/testenv"
)

// holder leads the slots of tests.
const holder = "reactortest"

// harness is a database with a recorded history.
type harness struct {
	t          *testing.T
	suite      Suite
	db         *testenv.Database
	admin      *pgx.Conn
	dispatcher *reactors.Dispatcher
	history    []replication.Transaction
	slot       string
}

func newHarness(t *testing.T, s Suite) *harness {
	h := &harness{t: t, suite: s, db: testenv.New(t)}
	h.admin = h.db.Connect(t, "postgres")
	h.slot = h.db.SlotName(holder)
	if err := migrations.Up(t.Context(), h.admin, func(migrations.Migration) {}); err != nil {
		t.Fatal(err)
	}
	if s.Setup != nil {
		s.Setup(t, h.db, h.admin)
	}
	pool, err := pgxpool.New(t.Context(), h.db.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	d, source, from := open(t, h.db, pool, s.Reactor, h.slot, zerolog.New(zerolog.NewTestWriter(t)))
	defer source.Close()
	h.dispatcher = d
	t.Cleanup(d.Abandon)
	h.record(source, from)
	return h
}

// record streams what Write does through the dispatcher and keeps it.
func (h *harness) record(source *stream.Stream, from replication.LSN) {
	t, ctx := h.t, h.t.Context()
	h.suite.Write(t, h.db, h.db.AsUser(t, h.db.NewUser(t).ID))
	// A row of a table that is streamed tells where the history ends.
	if _, err := h.admin.Exec(ctx, "insert into helix.inbox (table_name, op, key) values ($1, 'DELETE', '{}')", endOfHistory); err != nil {
		t.Fatal(err)
	}
	run, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	r := &recorder{sink: h.dispatcher, stop: stop}
	if err := source.Run(run, from, r); err != nil {
		t.Fatal(err)
	}
	if !r.done {
		t.Fatal("the history did not arrive within a minute")
	}
	h.history = r.transactions
	if len(h.history) < 3 {
		t.Fatalf("Write made %d transactions; it takes at least three", len(h.history))
	}
}

// recorder keeps the transactions that pass.
type recorder struct {
	sink         replication.Sink
	stop         context.CancelFunc
	transactions []replication.Transaction
	open         bool
	done         bool
}

func (r *recorder) Apply(ctx context.Context, b *replication.Batch) error {
	for i, tx := range b.Transactions {
		if i == 0 && r.open {
			last := &r.transactions[len(r.transactions)-1]
			last.Changes = append(last.Changes, tx.Changes...)
			last.EndLSN = tx.EndLSN
			continue
		}
		tx.Changes = slices.Clone(tx.Changes)
		r.transactions = append(r.transactions, tx)
	}
	r.open = b.More
	if err := r.sink.Apply(ctx, b); err != nil {
		return err
	}
	if last := len(r.transactions) - 1; last >= 0 && endsHistory(&r.transactions[last]) {
		r.transactions = r.transactions[:last]
		r.done = true
		r.stop()
	}
	return nil
}

// endOfHistory is the table name in the inbox row after the last transaction.
const endOfHistory = "end of history"

func endsHistory(tx *replication.Transaction) bool {
	for _, c := range tx.Changes {
		if c.Relation == nil || c.Relation.Name != "inbox" {
			continue
		}
		for _, v := range c.New {
			if string(v.Data) == endOfHistory {
				return true
			}
		}
	}
	return false
}

func (h *harness) all() *replication.Batch {
	return &replication.Batch{Transactions: h.history, EndLSN: h.history[len(h.history)-1].EndLSN}
}

func (h *harness) apply(t *testing.T, b *replication.Batch) {
	t.Helper()
	if err := h.dispatcher.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func (h *harness) applyAll(t *testing.T) {
	t.Helper()
	h.apply(t, h.all())
}

// applySplit cuts the history into batches anywhere, inside transactions too.
func (h *harness) applySplit(t *testing.T, rng *rand.Rand) {
	t.Helper()
	b := &replication.Batch{}
	for _, tx := range h.history {
		for rest := tx.Changes; ; {
			part := tx
			n := len(rest)
			if n > 1 && rng.IntN(3) == 0 {
				n = 1 + rng.IntN(n-1)
			}
			part.Changes, rest = rest[:n], rest[n:]
			part.Ordinal = len(tx.Changes) - len(rest) - n
			if len(rest) > 0 {
				part.EndLSN = 0
				b.Transactions = append(b.Transactions, part)
				b.More = true
				h.apply(t, b)
				b = &replication.Batch{}
				continue
			}
			b.Transactions = append(b.Transactions, part)
			b.EndLSN = tx.EndLSN
			break
		}
		if rng.IntN(3) == 0 {
			h.apply(t, b)
			b = &replication.Batch{}
		}
	}
	if len(b.Transactions) > 0 {
		h.apply(t, b)
	}
}

func (h *harness) backfill(t *testing.T) {
	t.Helper()
	conn := h.db.Connect(t, "postgres")
	tx, err := conn.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	var name string
	at := replication.Checkpoint{Slot: h.slot, SystemIdentifier: "1"}
	if err := tx.QueryRow(t.Context(), "select pg_export_snapshot(), pg_current_wal_insert_lsn()").Scan(&name, &at.LSN); err != nil {
		t.Fatal(err)
	}
	if err := h.dispatcher.Backfill(t.Context(), name, at, holder, func(string, int) {}); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// reset empties what the reactor writes, and rewinds.
func (h *harness) reset(t *testing.T) {
	t.Helper()
	h.exec(t, "truncate "+strings.Join(h.suite.Reactor.Writes(), ", ")+" cascade")
	h.exec(t, "truncate helix.dead_letters")
	h.rewind(t)
}

// rewind lets the history be applied again from its beginning.
func (h *harness) rewind(t *testing.T) {
	t.Helper()
	h.exec(t, "update helix.checkpoints set lsn = '0/0'")
	if _, err := h.dispatcher.Lead(t.Context(), holder); err != nil {
		t.Fatal(err)
	}
}

// results gives all rows of the tables that the reactor writes, in order.
func (h *harness) results() string {
	var b strings.Builder
	for _, table := range h.suite.Reactor.Writes() {
		var rows string
		err := h.admin.QueryRow(context.Background(), fmt.Sprintf(
			`select coalesce(string_agg(to_jsonb(r)::text, E'\n' order by to_jsonb(r)::text), '') from %s r`, table)).Scan(&rows)
		if err != nil {
			h.t.Fatal(err)
		}
		if rows != "" {
			fmt.Fprintf(&b, "%s:\n%s\n", table, rows)
		}
	}
	return b.String()
}

// same holds the results since the last reset against the stream's own.
func (h *harness) same(t *testing.T, want string) {
	t.Helper()
	h.noDeadLetters(t)
	got := h.results()
	if got == want {
		return
	}
	t.Error("the result differs from the stream's own")
	report := func(what, in, notIn string) {
		others := strings.Split(notIn, "\n")
		for _, line := range strings.Split(in, "\n") {
			if !slices.Contains(others, line) {
				t.Logf("%s: %.1000s", what, line)
			}
		}
	}
	report("got", got, want)
	report("want", want, got)
}

func (h *harness) exec(t *testing.T, sql string) {
	t.Helper()
	if _, err := h.admin.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// noDeadLetters looks for those since the last reset.
func (h *harness) noDeadLetters(t *testing.T) {
	t.Helper()
	var n int
	if err := h.admin.QueryRow(t.Context(), "select count(*) from helix.dead_letters").Scan(&n); err != nil {
		t.Fatal(err)
	}
	if n != 0 {
		t.Errorf("%d dead letters", n)
	}
}
