package usage

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Columns that a report can be by.
var Columns = []string{"day", "provider", "user", "purpose"}

// DB is a pool, a connection or a transaction.
type DB interface {
	Querier
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Query says what a report is of.
type Query struct {
	From, To time.Time // days in UTC, both included
	By       []string  // of Columns, in this order
	User     uuid.UUID // uuid.Nil: all
}

// Line is what was used under one key of a report.
type Line struct {
	Day      string `json:"day,omitempty"`
	Provider string `json:"provider,omitempty"`
	User     string `json:"user,omitempty"` // Gone stands for accounts that are
	Purpose  string `json:"purpose,omitempty"`

	Requests  int64        `json:"requests"`
	Input     int64        `json:"input_tokens"`
	Output    int64        `json:"output_tokens"`
	Unsettled int64        `json:"unsettled_tokens"` // the most that requests may have taken whose end is not known
	Cost      *json.Number `json:"cost_usd"`         // null: no price is known
	Unpriced  int64        `json:"unpriced_tokens"`  // of input and output, without a known price
}

// Gone is the user of a line of deleted accounts.
const Gone = "deleted accounts"

// The rows of a report; $1 and $2 are its days. One whose requests were all released
// tells of nothing.
const (
	rowsOfTotals = `select to_char(day, 'YYYY-MM-DD') as day, purpose, provider, '' as "user", requests, input_tokens, output_tokens, held_tokens, cost_usd
		from helix.usage_totals where day between $1 and $2 and requests > 0`
	rowsOfUsers = `select to_char(day, 'YYYY-MM-DD') as day, purpose, provider, user_id::text as "user", requests, input_tokens, output_tokens, held_tokens, cost_usd
		from helix.usage where day between $1 and $2 and requests > 0`
	// What the totals have more than all users is of accounts that are gone.
	rowsOfGone = `select day, purpose, provider, '` + Gone + `', t.requests - coalesce(u.requests, 0), t.input_tokens - coalesce(u.input_tokens, 0),
			t.output_tokens - coalesce(u.output_tokens, 0), t.held_tokens - coalesce(u.held_tokens, 0), t.cost_usd - coalesce(u.cost_usd, 0)
		from (` + rowsOfTotals + `) t left join (
			select day, purpose, provider, sum(requests) as requests, sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens,
				sum(held_tokens) as held_tokens, sum(cost_usd) as cost_usd
			from users group by day, purpose, provider) u using (day, purpose, provider)
		where t.requests > coalesce(u.requests, 0)`
)

// Report gives a line for each key, in the keys' order, and one of all.
func Report(ctx context.Context, db DB, q Query) ([]Line, Line, error) {
	from, args := rowsOfTotals, []any{midnight(q.From), midnight(q.To)}
	if q.User != uuid.Nil {
		from, args = rowsOfUsers+" and user_id = $3", append(args, q.User)
	} else if slices.Contains(q.By, "user") {
		from = "with users as materialized (" + rowsOfUsers + ") select * from users union all " + rowsOfGone
	}
	key := map[string]string{"day": "''", "provider": "''", "user": "''", "purpose": "''"}
	for _, c := range q.By {
		if key[c] != "''" {
			return nil, Line{}, fmt.Errorf("a report is by %s, each once", strings.Join(Columns, ", "))
		}
		key[c] = pgx.Identifier{c}.Sanitize()
	}
	by, order := "", ""
	for i, c := range q.By {
		if i == 0 {
			order = "order by grouping(" + key[c] + ")"
		} else {
			by += ", "
		}
		by += key[c]
		order += ", " + key[c] + ` collate "C"`
	}
	rows, err := db.Query(ctx, fmt.Sprintf(`select coalesce(%s, ''), coalesce(%s, ''), coalesce(%s, ''), coalesce(%s, ''),
			coalesce(sum(requests), 0)::bigint, coalesce(sum(input_tokens), 0)::bigint, coalesce(sum(output_tokens), 0)::bigint,
			coalesce(sum(held_tokens), 0)::bigint, trim_scale(sum(cost_usd))::text,
			coalesce(sum(input_tokens + output_tokens) filter (where cost_usd is null), 0)::bigint
		from (%s) used group by grouping sets ((%s), ()) %s`, key["day"], key["provider"], key["user"], key["purpose"], from, by, order), args...)
	if err != nil {
		return nil, Line{}, fmt.Errorf("read the usage: %w", err)
	}
	lines, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (l Line, err error) {
		var cost *string
		err = row.Scan(&l.Day, &l.Provider, &l.User, &l.Purpose, &l.Requests, &l.Input, &l.Output, &l.Unsettled, &cost, &l.Unpriced)
		l.Cost = (*json.Number)(cost)
		return l, err
	})
	if err != nil {
		return nil, Line{}, fmt.Errorf("read the usage: %w", err)
	}
	last := len(lines) - 1 // of all; it is there without any usage, too
	return lines[:last], lines[last], nil
}

// Limit is one of today's, with what is used of it.
type Limit struct {
	Setting string `json:"setting"`
	Scope   string `json:"scope"` // ScopeAll or ScopeUser
	Unit    string `json:"unit"`  // UnitTokens or UnitRequests
	Limit   int64  `json:"limit"`
	Stop    int64  `json:"stop"` // where nothing more is asked
	Used    int64  `json:"used"` // with what is held; of ScopeUser by the user, or by who used the most
}

// Limits gives today's limits that are set; those of one user are of the user, or of
// who used the most of it where that is uuid.Nil.
func (l *Ledger) Limits(ctx context.Context, user uuid.UUID) ([]Limit, error) {
	day := midnight(l.Now())
	all := []Limit{}
	seen := map[string]bool{}
	for _, purpose := range slices.Sorted(maps.Keys(l.budgets)) {
		b := l.budgets[purpose]
		purposes, name := l.together(purpose)
		if seen[name] {
			continue
		}
		seen[name] = true
		var u used
		var of *uuid.UUID
		if user != uuid.Nil {
			of = &user
		}
		err := l.pool.QueryRow(ctx, `with a as (
				select coalesce(sum(input_tokens + output_tokens + held_tokens), 0)::bigint as tokens, coalesce(sum(requests), 0)::bigint as requests
				from helix.usage_totals where day = $1 and purpose = any ($3)),
			u as (
				select sum(input_tokens + output_tokens + held_tokens)::bigint as tokens, sum(requests)::bigint as requests
				from helix.usage where day = $1 and purpose = any ($3) and ($2::uuid is null or user_id = $2) group by user_id)
			select a.tokens, a.requests, coalesce((select max(tokens) from u), 0), coalesce((select max(requests) from u), 0) from a`, day, of, purposes).
			Scan(&u.allTokens, &u.allRequests, &u.userTokens, &u.userRequests)
		if err != nil {
			return nil, fmt.Errorf("look at the budgets: %w", err)
		}
		for _, k := range []Limit{
			{Scope: ScopeAll, Unit: UnitTokens, Limit: b.Tokens, Used: u.allTokens},
			{Scope: ScopeAll, Unit: UnitRequests, Limit: b.Requests, Used: u.allRequests},
			{Scope: ScopeUser, Unit: UnitTokens, Limit: b.UserTokens, Used: u.userTokens},
			{Scope: ScopeUser, Unit: UnitRequests, Limit: b.UserRequests, Used: u.userRequests},
		} {
			if k.Limit > 0 {
				k.Setting, k.Stop = setting(b.Setting, k.Scope, k.Unit), soft(k.Limit)
				all = append(all, k)
			}
		}
	}
	return all, nil
}
