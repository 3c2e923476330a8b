// Package usage knows what was asked of providers, by whom and for how much, and
// what may still be.
//
// A Hold is taken before a request and settled after it:
//
//	        Hold                      Settle: what it took
//	budget ──────▶ held_tokens ──┬──▶ input_tokens, output_tokens
//	                             ├──▶ nothing, by Release: it was certainly not sent
//	                             └──▶ held_tokens for good: nobody settled it in a day
//
// What is held counts from the moment it is, in the same rows as what was used. So
// a process that dies between asking and settling leaves the most that its request
// may have taken, and nobody has to notice that it died.
//
// Budgets are for a day in UTC, of a user and in all, and stop at 90%. Holds of one
// budget come one after the other, over all processes, by an advisory lock that
// their transaction has. Row locks would not do: the day's first hold has no row to
// lock, and the sum over providers is in no one row. All who write lock in this
// order: the account's row, as its deletion does; the budget; the hold; the total;
// the user's row.
package usage

import (
	"errors"
	"strings"
	"time"
)

// Budget is what may be asked in a day; 0 is any.
type Budget struct {
	Tokens, Requests         int64 // of all users
	UserTokens, UserRequests int64

	// Setting begins the names of the settings that it comes from, HELIX_LLM.
	// Purposes whose budgets have the same one spend it together.
	Setting string
}

// What providers are asked for.
const (
	PurposeAnalysis  = "analysis"
	PurposeEmbedding = "embedding"
	PurposeSkill     = "skill"
)

// Of a budget.
const (
	ScopeAll  = "all"
	ScopeUser = "user"

	UnitTokens   = "tokens"
	UnitRequests = "requests"
)

// ErrNoUser says that the account is gone: nothing is to be sent for it.
var ErrNoUser = errors.New("the user's account is gone")

// soft is how far a budget may be spent.
func soft(limit int64) int64 {
	return max(limit/10*9+limit%10*9/10, 1) // limit*9 may be none that there is
}

// plain makes a name that Postgres takes, of at most 200 bytes.
func plain(name string) string {
	name = strings.ToValidUTF8(strings.ReplaceAll(name, "\x00", ""), "\uFFFD")
	if len(name) > 200 {
		name = strings.ToValidUTF8(name[:200], "")
	}
	return name
}

// most is more than any request takes. Numbers of tokens come from providers.
const most = 1_000_000_000

func tokens(n int64) int64 { return min(max(n, 0), most) }

// midnight is when the day began.
func midnight(at time.Time) time.Time { return at.UTC().Truncate(24 * time.Hour) }

// used is what was used and is held, in all and by a user.
type used struct {
	allTokens, allRequests, userTokens, userRequests int64
}

// spent says which limit a request would pass; nil: none. Those of all users come
// first: nothing but a larger one helps there.
func (b Budget) spent(purpose string, u used, asked int64, day time.Time) *Spent {
	for _, l := range []struct {
		scope, unit         string
		limit, used, asking int64
	}{
		{ScopeAll, UnitTokens, b.Tokens, u.allTokens, asked},
		{ScopeAll, UnitRequests, b.Requests, u.allRequests, 1},
		{ScopeUser, UnitTokens, b.UserTokens, u.userTokens, asked},
		{ScopeUser, UnitRequests, b.UserRequests, u.userRequests, 1},
	} {
		if l.limit > 0 && l.used > soft(l.limit)-l.asking {
			return &Spent{Purpose: purpose, Scope: l.scope, Unit: l.unit, Limit: l.limit, Used: l.used, Asked: l.asking,
				Until: day.Add(24 * time.Hour), Setting: setting(b.Setting, l.scope, l.unit)}
		}
	}
	return nil
}

// setting is the name of a limit's own, HELIX_LLM_USER_DAILY_TOKENS.
func setting(of, scope, unit string) string {
	if of == "" {
		return ""
	}
	if scope == ScopeUser {
		of += "_USER"
	}
	return of + "_DAILY_" + strings.ToUpper(unit)
}
