package reactortest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/reactors"
)

// Work lets a process's worth of jobs be done, until stop or the test's end.
func Work(t testing.TB, pool *pgxpool.Pool, options ...reactors.JobOption) (stop func()) {
	t.Helper()
	jobs, err := reactors.NewJobs(pool, true, nil, options...)
	if err != nil {
		t.Fatal(err)
	}
	if err := jobs.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := jobs.Stop(ctx); err != nil {
			t.Errorf("stop jobs: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}
