package usage_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/reactors/reactortest"
	"github.com/helixd/helixd/reactors/usage"
	"github.com/helixd/helixd/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// noon is when tests begin.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// bench is a project.
type bench struct {
	reactortest.Project
	now time.Time
}

func newBench(t *testing.T) *bench {
	t.Helper()
	return &bench{Project: reactortest.NewProject(t), now: noon}
}

// ledger is that of one more process.
func (b *bench) ledger(t *testing.T, budgets map[string]usage.Budget, prices usage.Prices) *usage.Ledger {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), b.DB.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	l := usage.NewLedger(pool, budgets, prices)
	l.Now = func() time.Time { return b.now }
	return l
}

// hold takes one that must be given.
func hold(t *testing.T, l *usage.Ledger, user uuid.UUID, purpose, provider string, tokens int64) *usage.Hold {
	t.Helper()
	h, err := l.Hold(t.Context(), user, purpose, provider, tokens)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// settle ends one.
func settle(t *testing.T, h *usage.Hold, input, output int64) {
	t.Helper()
	if err := h.Settle(t.Context(), input, output); err != nil {
		t.Fatal(err)
	}
}

// spent asks for what must be refused.
func spent(t *testing.T, l *usage.Ledger, user uuid.UUID, purpose string, tokens int64) *usage.Spent {
	t.Helper()
	_, err := l.Hold(t.Context(), user, purpose, "p", tokens)
	var s *usage.Spent
	if !errors.As(err, &s) {
		t.Fatalf("error %v, want *usage.Spent", err)
	}
	return s
}

func get[T any](t *testing.T, conn *pgx.Conn, sql string, args ...any) T {
	t.Helper()
	return testenv.Get[T](t, conn, sql, args...)
}

// books is what the tables say, a line a row.
func (b *bench) books(t *testing.T) string {
	t.Helper()
	return get[string](t, b.Admin, `select coalesce(string_agg(line, E'\n' order by line), '') from (
		select concat_ws(' ', 'user', to_char(day, 'DD'), purpose, provider, requests, input_tokens, output_tokens, held_tokens, coalesce(trim_scale(cost_usd)::text, '?')) as line from helix.usage
		union all select concat_ws(' ', 'total', to_char(day, 'DD'), purpose, provider, requests, input_tokens, output_tokens, held_tokens, coalesce(trim_scale(cost_usd)::text, '?')) from helix.usage_totals
		union all select concat_ws(' ', 'hold', to_char(day, 'DD'), purpose, provider, tokens) from helix.usage_holds) b`)
}

func (b *bench) want(t *testing.T, what, books string) {
	t.Helper()
	if got := b.books(t); got != books {
		t.Errorf("%s: the books are\n%s\nwant\n%s", what, got, books)
	}
}
