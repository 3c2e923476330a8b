package usage_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/reactors/usage"
)

func TestHold(t *testing.T) {
	b := newBench(t)
	prices, err := usage.ParsePrices("anthropic=3/15")
	if err != nil {
		t.Fatal(err)
	}
	l := b.ledger(t, nil, prices)
	alice := b.User(t)
	h := hold(t, l, alice, "analysis", "anthropic opus", 1000)
	b.want(t, "Held", "hold 21 analysis anthropic opus 1000\ntotal 21 analysis anthropic opus 1 0 0 1000 0\nuser 21 analysis anthropic opus 1 0 0 1000 0")
	settle(t, h, 400, 200)
	const settled = "total 21 analysis anthropic opus 1 400 200 0 0.0042\nuser 21 analysis anthropic opus 1 400 200 0 0.0042"
	b.want(t, "Settled", settled)
	settle(t, h, 400, 200)
	if err := h.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.want(t, "OnceOnly", settled)
	h = hold(t, l, alice, "analysis", "anthropic opus", 1000)
	if err := h.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.want(t, "Released", settled)
	h = hold(t, l, b.User(t), "analysis", "other", 10)
	settle(t, h, math.MaxInt64, -5) // a provider's numbers are anybody's
	b.want(t, "Unpriced", "total 21 analysis anthropic opus 1 400 200 0 0.0042\ntotal 21 analysis other 1 1000000000 0 0 ?\n"+
		"user 21 analysis anthropic opus 1 400 200 0 0.0042\nuser 21 analysis other 1 1000000000 0 0 ?")
	if _, err := l.Hold(t.Context(), uuid.New(), "analysis", "x", 1); !errors.Is(err, usage.ErrNoUser) {
		t.Errorf("of nobody: error %v", err)
	}
	long := hold(t, l, alice, "analysis", strings.Repeat("ü", 150)+"\x00", 1)
	settle(t, long, 1, 1)
	if n := get[int](t, b.Admin, "select max(octet_length(provider)) from helix.usage"); n != 200 {
		t.Errorf("a provider's name of %d bytes", n)
	}
}

// TestSettleWithoutItsContext: what was spent is written though the work was called off.
func TestSettleWithoutItsContext(t *testing.T) {
	b := newBench(t)
	l := b.ledger(t, nil, nil)
	h := hold(t, l, b.User(t), "skill", "p", 10)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.Settle(ctx, 3, 4); err != nil {
		t.Fatal(err)
	}
	b.want(t, "Settled", "total 21 skill p 1 3 4 0 ?\nuser 21 skill p 1 3 4 0 ?")
}

func TestSettleIn(t *testing.T) {
	b := newBench(t)
	l := b.ledger(t, nil, nil)
	h := hold(t, l, b.User(t), "skill", "p", 10)
	before := b.books(t)
	tx, err := b.Admin.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := h.SettleIn(t.Context(), tx, 3, 4); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.want(t, "RolledBack", before)
	if tx, err = b.Admin.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := h.SettleIn(t.Context(), tx, 3, 4); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.want(t, "Committed", "total 21 skill p 1 3 4 0 ?\nuser 21 skill p 1 3 4 0 ?")
}

func TestSpent(t *testing.T) {
	const whole = "HELIX_LLM"
	b := newBench(t)
	for name, tt := range map[string]struct {
		budget usage.Budget
		use    []int64 // tokens of holds before, of the same user
		others []int64 // and of another
		ask    int64
		want   string // empty: it is given
		never  bool
	}{
		"Unlimited":       {ask: math.MaxInt64},
		"ToTheStop":       {budget: usage.Budget{UserTokens: 100}, use: []int64{40}, ask: 50},
		"PastTheStop":     {budget: usage.Budget{UserTokens: 100}, use: []int64{40}, ask: 51, want: "today's budget of 100 tokens for this user has 50 left until 90% of it are spent, and this request may take 51; it begins anew at 00:00 UTC, or raise the budget"},
		"AtTheStop":       {budget: usage.Budget{UserTokens: 100, Setting: whole}, use: []int64{40, 50}, ask: 1, want: "today's budget of 100 tokens for this user is spent to 90%; it begins anew at 00:00 UTC, or raise HELIX_LLM_USER_DAILY_TOKENS"},
		"TooLarge":        {budget: usage.Budget{UserTokens: 100, Setting: whole}, ask: 91, want: "this request may take 91 tokens, which is more than 90% of the budget of 100 tokens a day for this user: raise HELIX_LLM_USER_DAILY_TOKENS", never: true},
		"OfAll":           {budget: usage.Budget{Tokens: 100, UserTokens: 100, Setting: whole}, use: []int64{10}, others: []int64{80}, ask: 1, want: "today's budget of 100 tokens for all users is spent to 90%; it begins anew at 00:00 UTC, or raise HELIX_LLM_DAILY_TOKENS"},
		"OthersAreOthers": {budget: usage.Budget{UserTokens: 100}, others: []int64{90}, ask: 90},
		"Requests":        {budget: usage.Budget{UserRequests: 2, Setting: whole}, use: []int64{1}, ask: 1, want: "today's budget of 2 requests for this user is spent to 90%; it begins anew at 00:00 UTC, or raise HELIX_LLM_USER_DAILY_REQUESTS"},
		"RequestsOfAll":   {budget: usage.Budget{Requests: 10, Setting: whole}, others: []int64{1, 1, 1, 1, 1, 1, 1, 1, 1}, ask: 1, want: "today's budget of 10 requests for all users is spent to 90%; it begins anew at 00:00 UTC, or raise HELIX_LLM_DAILY_REQUESTS"},
		"OneRequest":      {budget: usage.Budget{Requests: 1}, ask: 1},
		"LargestLimit":    {budget: usage.Budget{Tokens: math.MaxInt64}, ask: math.MaxInt64},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := b.Admin.Exec(t.Context(), "truncate helix.usage, helix.usage_totals, helix.usage_holds"); err != nil {
				t.Fatal(err)
			}
			l := b.ledger(t, map[string]usage.Budget{"analysis": tt.budget}, nil)
			user, other := b.User(t), b.User(t)
			for _, n := range tt.use {
				hold(t, l, user, "analysis", "p", n)
			}
			for _, n := range tt.others {
				hold(t, l, other, "analysis", "p2", n)
			}
			before := b.books(t)
			if tt.want == "" {
				if err := l.Check(t.Context(), user, "analysis"); err != nil {
					t.Errorf("Check: %v", err)
				}
				hold(t, l, user, "analysis", "p", tt.ask)
				return
			}
			s := spent(t, l, user, "analysis", tt.ask)
			if s.Error() != tt.want || s.Never() != tt.never || s.Purpose != "analysis" || !s.Until.Equal(time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)) {
				t.Errorf("%+v: %s", s, s)
			}
			b.want(t, "Refused", before)
			if err := l.Check(t.Context(), user, "analysis"); (err != nil) != (tt.ask == 1) {
				t.Errorf("Check: %v", err)
			}
			b.want(t, "Checked", before)
		})
	}
}

// TestSharedBudget: purposes with settings of the same name spend one budget.
func TestSharedBudget(t *testing.T) {
	b := newBench(t)
	llm := usage.Budget{Tokens: 100, Setting: "HELIX_LLM"}
	l := b.ledger(t, map[string]usage.Budget{"analysis": llm, "skill": llm, "embedding": {Tokens: 100, Setting: "HELIX_EMBEDDINGS"}}, nil)
	user := b.User(t)
	hold(t, l, user, "analysis", "p", 60)
	hold(t, l, user, "skill", "p", 30)
	spent(t, l, user, "analysis", 1)
	spent(t, l, b.User(t), "skill", 1)
	hold(t, l, user, "embedding", "p", 90)
}

// TestConcurrentHolds: many workers of two processes, with a request as large as
// every other: never more than the stop, and not one less than would go in.
func TestConcurrentHolds(t *testing.T) {
	b := newBench(t)
	// As an administrator may have it, for what else uses the database.
	b.DB.Exec(t, "supabase_admin", "alter role postgres in database "+b.DB.Name()+" set default_transaction_isolation = 'repeatable read'")
	budgets := map[string]usage.Budget{"analysis": {Tokens: 1000, UserTokens: 500, UserRequests: 40}}
	ledgers := []*usage.Ledger{b.ledger(t, budgets, nil), b.ledger(t, budgets, nil)}
	users := []uuid.UUID{b.User(t), b.User(t), b.User(t)}
	var given [3]atomic.Int64
	var refused atomic.Int64
	var group sync.WaitGroup
	begin := make(chan struct{})
	for i := range 120 {
		group.Go(func() {
			<-begin
			h, err := ledgers[i%2].Hold(t.Context(), users[i%3], "analysis", []string{"a", "b", "c", "d"}[i%4], 10)
			var s *usage.Spent
			switch {
			case errors.As(err, &s):
				refused.Add(1)
			case err != nil:
				t.Error(err)
			default:
				given[i%3].Add(1)
				if i%5 == 0 { // what it took is what was held: the sum stays
					if err := h.Settle(t.Context(), 4, 6); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	close(begin)
	group.Wait()
	sum := int64(0)
	for i := range given {
		n := given[i].Load()
		if sum += n; n > 36 {
			t.Errorf("a user was given %d requests of 40", n)
		}
	}
	if sum != 90 || refused.Load() != 30 {
		t.Errorf("%d holds of 10 tokens are given and %d refused, want 90 of a budget of 1000", sum, refused.Load())
	}
	for _, table := range []string{"helix.usage", "helix.usage_totals"} {
		if got := get[string](t, b.Admin, "select sum(requests) || ' ' || sum(input_tokens + output_tokens + held_tokens) from "+table); got != "90 900" {
			t.Errorf("%s has %s", table, got)
		}
	}
}

// TestConcurrentSettles: holds, settlements and the deletion of accounts, all at
// once, and no deadlock.
func TestConcurrentSettles(t *testing.T) {
	b := newBench(t)
	ledgers := []*usage.Ledger{b.ledger(t, nil, nil), b.ledger(t, nil, nil)}
	users := []uuid.UUID{b.User(t), b.User(t), b.User(t), b.User(t)}
	auth, err := pgxpool.New(t.Context(), b.DB.URL("supabase_auth_admin"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(auth.Close)
	var group sync.WaitGroup
	var made, gone atomic.Int64
	for i := range 16 {
		group.Go(func() {
			for n := range 12 {
				h, err := ledgers[i%2].Hold(t.Context(), users[(i+n)%4], "analysis", "p", 10)
				if errors.Is(err, usage.ErrNoUser) {
					gone.Add(1)
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				made.Add(1)
				if n == 6 && i < 2 {
					if _, err := auth.Exec(t.Context(), "delete from auth.users where id = $1", users[i]); err != nil {
						t.Error(err)
					}
				}
				if err := h.Settle(t.Context(), 5, 5); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if gone.Load() == 0 || made.Load()+gone.Load() != 16*12 {
		t.Errorf("%d holds, %d of accounts that were gone", made.Load(), gone.Load())
	}
	if n := get[int64](t, b.Admin, "select sum(requests)::bigint from helix.usage_totals"); n != made.Load() {
		t.Errorf("%d requests in all, want %d", n, made.Load())
	}
	if n := get[int64](t, b.Admin, "select sum(input_tokens + output_tokens + held_tokens)::bigint from helix.usage_totals"); n != 10*made.Load() {
		t.Errorf("%d tokens in all, want %d", n, 10*made.Load())
	}
	if n := get[int64](t, b.Admin, "select count(*) from helix.usage_holds"); n != 0 {
		t.Errorf("%d holds are left", n)
	}
}

// TestCrash: a process that died between asking and settling has used what it
// held, for ever.
func TestCrash(t *testing.T) {
	b := newBench(t)
	budgets := map[string]usage.Budget{"analysis": {UserTokens: 100}}
	user := b.User(t)
	lost := hold(t, b.ledger(t, budgets, nil), user, "analysis", "p", 90)
	l := b.ledger(t, budgets, nil)
	for _, later := range []time.Duration{0, 14 * time.Minute, 16 * time.Minute, 11 * time.Hour} {
		b.now = noon.Add(later)
		spent(t, l, user, "analysis", 1)
	}
	b.now = noon.Add(25 * time.Hour)
	settle(t, hold(t, l, user, "analysis", "p", 90), 1, 1) // of the next day, and sees to the old hold
	const want = "total 21 analysis p 1 0 0 90 ?\ntotal 22 analysis p 1 1 1 0 ?\nuser 21 analysis p 1 0 0 90 ?\nuser 22 analysis p 1 1 1 0 ?"
	b.want(t, "AfterADay", want)
	settle(t, lost, 1, 1) // nobody's any more
	b.want(t, "TooLate", want)
}

// TestLateAnswer: one that comes after longer than any time-out counts as what it was.
func TestLateAnswer(t *testing.T) {
	b := newBench(t)
	l := b.ledger(t, nil, nil)
	user := b.User(t)
	h := hold(t, l, user, "analysis", "p", 90)
	b.now = noon.Add(20 * time.Minute)
	settle(t, hold(t, l, user, "analysis", "p", 1), 1, 0)
	settle(t, h, 100, 100)
	b.want(t, "Late", "total 21 analysis p 2 101 100 0 ?\nuser 21 analysis p 2 101 100 0 ?")
}

// TestMidnight: the day is UTC's, whatever the clock's zone and the database's; an
// answer counts on the day of its request.
func TestMidnight(t *testing.T) {
	b := newBench(t)
	b.now = time.Date(2026, 11, 22, 9, 59, 59, 999_999_999, time.FixedZone("east", 10*60*60)) // 23:59:59 UTC the day before
	l := b.ledger(t, map[string]usage.Budget{"analysis": {UserTokens: 100}}, nil)
	user := b.User(t)
	h := hold(t, l, user, "analysis", "p", 90)
	if s := spent(t, l, user, "analysis", 1); !s.Until.Equal(b.now.Add(1)) {
		t.Errorf("until %s", s.Until)
	}
	b.now = b.now.Add(1)
	if err := l.Check(t.Context(), user, "analysis"); err != nil {
		t.Error(err)
	}
	hold(t, l, user, "analysis", "p", 90)
	settle(t, h, 10, 10)
	b.want(t, "NextDay", "hold 22 analysis p 90\ntotal 21 analysis p 1 10 10 0 ?\ntotal 22 analysis p 1 0 0 90 ?\nuser 21 analysis p 1 10 10 0 ?\nuser 22 analysis p 1 0 0 90 ?")
}

// TestAccountDeletion: an account leaves nothing, and the day's budget of all does
// not grow back, be its requests settled or not.
func TestAccountDeletion(t *testing.T) {
	b := newBench(t)
	l := b.ledger(t, map[string]usage.Budget{"analysis": {Tokens: 100}}, nil)
	alice, bob := b.User(t), b.User(t)
	settle(t, hold(t, l, alice, "analysis", "p", 50), 20, 20)
	open := hold(t, l, alice, "analysis", "p", 50)
	b.DB.Exec(t, "supabase_auth_admin", "delete from auth.users where id = $1", alice)
	b.want(t, "Deleted", "total 21 analysis p 2 20 20 50 ?")
	settle(t, open, 1, 1)
	b.want(t, "SettledAfterwards", "total 21 analysis p 2 20 20 50 ?")
	spent(t, l, bob, "analysis", 1)
	if n := get[int](t, b.Admin, "select count(*) from helix.usage_totals t where t::text like '%' || $1 || '%'", alice.String()); n != 0 {
		t.Error("the totals know who it was")
	}
}

// TestForget: who spent what is not known for ever; a year ago it was this month is.
func TestForget(t *testing.T) {
	b := newBench(t)
	l := b.ledger(t, nil, nil)
	settle(t, hold(t, l, b.User(t), "analysis", "p", 10), 1, 1)
	books := b.books(t)
	settled := b.now
	for _, later := range []struct {
		years, days int
		user        bool
	}{{1, 31, true}, {1, 36, false}} {
		b.now = settled.AddDate(later.years, 0, later.days)
		if err := l.Forget(t.Context()); err != nil {
			t.Fatal(err)
		}
		want, total := books, strings.SplitAfter(books, "\n")[0]
		if !later.user {
			want = strings.TrimSuffix(total, "\n")
		}
		b.want(t, b.now.Format(time.DateOnly), want)
	}
}
