package status

import (
	"context"
	"time"
)

const (
	// keepFor is for how long a Report serves all who ask, and share how much of the
	// time at the most is spent on reading: scrapes cannot load the database.
	keepFor = 5 * time.Second
	share   = 10
	// readTimeout is far less than Prometheus waits.
	readTimeout = 3 * time.Second
)

// Reader reads a Source at most every few seconds. It is safe for concurrent use.
type Reader struct {
	read func(context.Context) (*Report, error)

	turn   chan struct{} // a lock; with a sync.Mutex the test's clock would not go on while others wait
	until  time.Time
	report *Report
	err    error
	took   time.Duration
}

// NewReader makes one.
func NewReader(read func(context.Context) (*Report, error)) *Reader {
	return &Reader{read: read, turn: make(chan struct{}, 1)}
}

// Report gives the last Report if it is fresh, else a new one. A failed read is kept for
// a few seconds, however long it took, and gives no old Report.
func (r *Reader) Report(ctx context.Context) (*Report, error) {
	report, _, err := r.last(ctx)
	return report, err
}

// last gives with it how long it took to read.
func (r *Reader) last(ctx context.Context) (*Report, time.Duration, error) {
	r.turn <- struct{}{}
	defer func() { <-r.turn }()
	if began := time.Now(); !began.Before(r.until) {
		// Who asked first may go away; the others want it still.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTimeout)
		defer cancel()
		r.report, r.err = r.read(ctx)
		r.took = time.Since(began)
		r.until = time.Now().Add(keepFor)
		if r.err == nil { // a failure took the limit, and must not be told for long after all is well
			r.until = r.until.Add(max(0, share*r.took-keepFor))
		}
	}
	return r.report, r.took, r.err
}
