package status_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helixd/helixd/internal/status"
)

// TestReader: however many ask, the database is read now and then.
// Its clock is the bubble's, which jumps: no Sleep here takes time.
func TestReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads, takes := 0, time.Duration(0)
		var fails error
		r := status.NewReader(func(context.Context) (*status.Report, error) {
			reads++
			time.Sleep(takes)
			return &status.Report{InboxRows: int64(reads)}, fails
		})
		ask := func(want int, failed error) {
			t.Helper()
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() {
					ctx, cancel := context.WithCancel(t.Context())
					cancel() // who asks first may go away
					report, err := r.Report(ctx)
					if err != failed || err == nil && report.InboxRows != int64(want) {
						t.Errorf("%v, %v", report, err)
					}
				})
			}
			all.Wait()
			if reads != want {
				t.Errorf("%d reads, and not %d", reads, want)
			}
		}
		ask(1, nil)
		time.Sleep(4 * time.Second)
		ask(1, nil)
		time.Sleep(time.Second)
		fails = errors.New("no database")
		ask(2, fails) // and nothing old
		time.Sleep(4 * time.Second)
		ask(2, fails)
		time.Sleep(time.Second)
		fails, takes = nil, 2*time.Second
		ask(3, nil)
		time.Sleep(19 * time.Second)
		ask(3, nil)
		time.Sleep(time.Second)
		ask(4, nil)
		time.Sleep(20 * time.Second)
		fails = errors.New("no answer")
		ask(5, fails)
		time.Sleep(4 * time.Second)
		ask(5, fails)
		time.Sleep(time.Second)
		fails = nil
		ask(6, nil) // who waits for it to come back is not told late
	})
}
