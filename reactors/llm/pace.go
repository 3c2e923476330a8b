package llm

import (
	"context"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"github.com/helixd/helixd/reactors/outbound"
)

// limiter lets so much through a minute, and a quarter of it at once.
func limiter(perMinute float64) *rate.Limiter {
	if perMinute <= 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(perMinute/60), max(1, int(perMinute/4)))
}

// mostPieces of a quarter of a minute are longer than anybody waits.
const mostPieces = 1000

// pace waits until a request keeps to what a minute may have. Where ctx ends before
// that, nothing is taken of the minute, and the error says so at once.
func (l *line) pace(ctx context.Context, tokens int64) error {
	now := l.config.Now()
	taken := append(reserve(l.requests, now, 1), reserve(l.tokens, now, tokens)...)
	var delay time.Duration
	for _, r := range taken {
		delay = max(delay, r.DelayFrom(now))
	}
	if delay == 0 {
		return nil
	}
	giveBack := func() {
		for _, r := range slices.Backward(taken) { // the last one first: it counts as taken after the others
			r.CancelAt(l.config.Now())
		}
	}
	if end, ok := ctx.Deadline(); ok && now.Add(delay).After(end) {
		giveBack()
		return &outbound.Error{Code: outbound.RateLimited, Message: l.name + " is asked no more in a minute than it is set to be", After: delay, Retry: true}
	}
	if err := l.config.Sleep(ctx, delay); err != nil {
		giveBack()
		return err
	}
	return nil
}

// reserve takes n, in pieces: what is more than a quarter of a minute's takes longer.
func reserve(l *rate.Limiter, now time.Time, n int64) []*rate.Reservation {
	var taken []*rate.Reservation
	if l != nil {
		n = min(n, mostPieces*int64(l.Burst()))
	}
	for l != nil && n > 0 {
		piece := min(n, int64(l.Burst()))
		taken = append(taken, l.ReserveN(now, int(piece)))
		n -= piece
	}
	return taken
}
