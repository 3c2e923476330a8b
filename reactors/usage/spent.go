package usage

import (
	"fmt"
	"time"
)

// Spent is the error of a request that would pass a budget's stop.
type Spent struct {
	Purpose string
	Scope   string // ScopeAll or ScopeUser
	Unit    string // UnitTokens or UnitRequests
	Limit   int64  // of a day; it stops at 90% of it
	Used    int64  // what is held counts
	Asked   int64  // by this request
	Until   time.Time
	Setting string // that has the limit; may be empty
}

// Never reports whether the request is too large for the budget on any day.
func (s *Spent) Never() bool { return s.Asked > soft(s.Limit) }

// Error is one sentence that a person can act on.
func (s *Spent) Error() string {
	whose := "for this user"
	if s.Scope == ScopeAll {
		whose = "for all users"
	}
	raise := s.Setting
	if raise == "" {
		raise = "the budget"
	}
	switch {
	case s.Never():
		return fmt.Sprintf("this request may take %d %s, which is more than 90%% of the budget of %d %s a day %s: raise %s",
			s.Asked, s.Unit, s.Limit, s.Unit, whose, raise)
	case s.Used >= soft(s.Limit):
		return fmt.Sprintf("today's budget of %d %s %s is spent to 90%%; it begins anew at 00:00 UTC, or raise %s", s.Limit, s.Unit, whose, raise)
	}
	return fmt.Sprintf("today's budget of %d %s %s has %d left until 90%% of it are spent, and this request may take %d; it begins anew at 00:00 UTC, or raise %s",
		s.Limit, s.Unit, whose, soft(s.Limit)-s.Used, s.Asked, raise)
}
