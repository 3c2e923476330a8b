package usage

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Ledger is the books of a project. Several goroutines may use it, and several
// processes have one, with the same budgets.
type Ledger struct {
	Now func() time.Time // the clock; to be set before use

	pool    *pgxpool.Pool
	budgets map[string]Budget
	prices  Prices

	mu     sync.Mutex
	secret []byte // of the instance; empty: not read yet
}

// NewLedger makes the ledger of a project. Budgets are by purpose; a purpose that
// has none is counted only.
func NewLedger(pool *pgxpool.Pool, budgets map[string]Budget, prices Prices) *Ledger {
	return &Ledger{Now: time.Now, pool: pool, budgets: budgets, prices: prices}
}

// together are the purposes that spend a budget with this one, and the budget's name.
func (l *Ledger) together(purpose string) ([]string, string) {
	of := l.budgets[purpose].Setting
	if of == "" {
		return []string{purpose}, purpose
	}
	var all []string
	for p, b := range l.budgets {
		if b.Setting == of {
			all = append(all, p)
		}
	}
	slices.Sort(all)
	return all, of
}

// sums are of what counts: $1 is the day, $2 the user, $3 the purposes.
const sums = `a as (
		select coalesce(sum(input_tokens + output_tokens + held_tokens), 0)::bigint as tokens, coalesce(sum(requests), 0)::bigint as requests
		from helix.usage_totals where day = $1 and purpose = any ($3)),
	u as (
		select coalesce(sum(input_tokens + output_tokens + held_tokens), 0)::bigint as tokens, coalesce(sum(requests), 0)::bigint as requests
		from helix.usage where user_id = $2 and day = $1 and purpose = any ($3))`

// Check says whether the least request would pass a budget: *Spent, or nil. It
// holds nothing.
func (l *Ledger) Check(ctx context.Context, user uuid.UUID, purpose string) error {
	day := midnight(l.Now())
	purposes, _ := l.together(purpose)
	var u used
	err := l.pool.QueryRow(ctx, "with "+sums+" select a.tokens, a.requests, u.tokens, u.requests from a, u", day, user, purposes).
		Scan(&u.allTokens, &u.allRequests, &u.userTokens, &u.userRequests)
	if err != nil {
		return fmt.Errorf("look at the budget: %w", err)
	}
	if spent := l.budgets[purpose].spent(purpose, u, 1, day); spent != nil {
		return spent
	}
	return nil
}

// keepHolds is how long a hold can be settled. It is the age of answers that
// nobody waits for any more, many times over.
const keepHolds = 24 * time.Hour

// Hold sets aside a request, and the most tokens that it may take. It gives *Spent
// where that would pass a budget, and ErrNoUser where the account is gone.
func (l *Ledger) Hold(ctx context.Context, user uuid.UUID, purpose, provider string, atMost int64) (*Hold, error) {
	now := l.Now()
	budget := l.budgets[purpose]
	h := &Hold{ledger: l, id: uuid.New(), user: user, purpose: plain(purpose), provider: plain(provider)}
	h.price = l.prices.Of(h.purpose, h.provider)
	u, held, err := h.take(ctx, budget, tokens(atMost), now)
	if err != nil {
		return nil, err
	}
	if held {
		return h, nil
	}
	if spent := budget.spent(purpose, u, tokens(atMost), midnight(now)); spent != nil {
		return nil, spent
	}
	return nil, fmt.Errorf("hold a budget: the database refuses what is not spent: %+v of %+v", u, budget)
}

// take writes a hold where its budget lets it.
func (h *Hold) take(ctx context.Context, b Budget, asked int64, now time.Time) (u used, held bool, err error) {
	purposes, name := h.ledger.together(h.purpose)
	batch := begin()
	queueAccount(batch, h.user)
	batch.Queue("select pg_advisory_xact_lock(hashtext('helix.usage'), hashtext($1))", name)
	// Its own statement: it must see what was committed until it had the lock.
	var known bool
	batch.Queue("with "+sums+`,
		account as (select from auth.users where id = $2),
		total as (
			insert into helix.usage_totals as t (day, purpose, provider, requests, held_tokens, cost_usd)
			select $1, $4, $5, 1, $6, case when $7 then 0 end from a, u, account
			where a.tokens <= $8::bigint - $6::bigint and a.requests < $9 and u.tokens <= $10::bigint - $6::bigint and u.requests < $11
			on conflict (day, purpose, provider) do update set requests = t.requests + 1, held_tokens = t.held_tokens + excluded.held_tokens,
				cost_usd = coalesce(t.cost_usd, excluded.cost_usd)
			returning 1),
		own as (
			insert into helix.usage as t (user_id, day, purpose, provider, requests, held_tokens, cost_usd)
			select $2, $1, $4, $5, 1, $6, case when $7 then 0 end from total
			on conflict (user_id, day, purpose, provider) do update set requests = t.requests + 1, held_tokens = t.held_tokens + excluded.held_tokens,
				cost_usd = coalesce(t.cost_usd, excluded.cost_usd)
			returning 1),
		hold as (
			insert into helix.usage_holds (id, user_id, day, purpose, provider, tokens, made_at)
			select $12, $2, $1, $4, $5, $6, $13 from own returning 1)
		select a.tokens, a.requests, u.tokens, u.requests, exists (select from account), exists (select from hold) from a, u`,
		midnight(now), h.user, purposes, h.purpose, h.provider, asked, h.price != nil,
		stop(b.Tokens), stop(b.Requests), stop(b.UserTokens), stop(b.UserRequests), h.id, now).
		QueryRow(func(row pgx.Row) error {
			return row.Scan(&u.allTokens, &u.allRequests, &u.userTokens, &u.userRequests, &known, &held)
		})
	batch.Queue(`delete from helix.usage_holds where id in (
		select id from helix.usage_holds where made_at < $1 order by made_at limit 100 for update skip locked)`, now.Add(-keepHolds))
	if err := h.ledger.commit(ctx, batch); err != nil {
		return u, false, fmt.Errorf("hold a budget: %w", err)
	}
	if !known {
		return u, false, ErrNoUser
	}
	return u, held, nil
}

// keepUsage is how long a user's days are kept: this month and the same one a year ago
// can be compared. The totals stay: they name nobody, and are a few rows a day.
const keepUsage = 400 * 24 * time.Hour

// Forget removes what is older, a portion at a time: never in the way of an account's
// deletion, which locks the same rows in another order.
func (l *Ledger) Forget(ctx context.Context) error {
	_, err := l.pool.Exec(ctx, `delete from helix.usage where (user_id, day, purpose, provider) in (
		select user_id, day, purpose, provider from helix.usage where day < $1 order by day limit 10000 for update skip locked)`,
		midnight(l.Now()).Add(-keepUsage))
	if err != nil {
		return fmt.Errorf("forget old usage: %w", err)
	}
	return nil
}

// begin and commit are around what is written in one round trip: a process that is
// stopped in the middle of it has nobody wait. The isolation is named since sums
// must be those of after the lock, whatever the project's default is.
func begin() *pgx.Batch {
	batch := &pgx.Batch{}
	batch.Queue("begin isolation level read committed")
	return batch
}

func (l *Ledger) commit(ctx context.Context, batch *pgx.Batch) error {
	batch.Queue("commit")
	return l.pool.SendBatch(ctx, batch).Close()
}

// queueAccount locks the account's row, as its deletion does before all that is the
// account's.
func queueAccount(batch *pgx.Batch, user uuid.UUID) {
	batch.Queue("select from auth.users where id = $1 for key share", user)
}

// stop is where a limit stops what is held, as Budget.spent has it.
func stop(limit int64) int64 {
	if limit <= 0 {
		return 1<<63 - 1
	}
	return soft(limit)
}
