package reactors

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/testenv"
)

type lateArgs struct{}

func (lateArgs) Kind() string { return "late" }

// lateWorker writes a row and completes its job, before which something happens.
type lateWorker struct {
	river.WorkerDefaults[lateArgs]
	pool      *pgxpool.Pool
	meanwhile string
	ended     chan error
}

func (w *lateWorker) Work(ctx context.Context, job *river.Job[lateArgs]) error {
	err := pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "insert into result values (1)"); err != nil {
			return err
		}
		if w.meanwhile != "" {
			if _, err := w.pool.Exec(ctx, w.meanwhile, job.ID); err != nil {
				return err
			}
		}
		return Complete(ctx, tx, job)
	})
	w.ended <- err
	return err
}

// TestRescuedJob: a worker that was away for so long that its job was given to
// another one writes nothing.
func TestRescuedJob(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile string
		want      error
		results   int
	}{
		"InTime":           {"", nil, 1},
		"RunsElsewhere":    {"update helix.river_job set attempt = attempt + 1 where id = $1", ErrRescued, 0},
		"WaitsToRunAgain":  {"update helix.river_job set state = 'retryable', scheduled_at = now() + interval '1 hour' where id = $1", ErrRescued, 0},
		"CompletedAlready": {"update helix.river_job set state = 'completed', finalized_at = now() where id = $1", ErrRescued, 0},
	} {
		t.Run(name, func(t *testing.T) {
			db := testenv.New(t)
			admin := db.Connect(t, "postgres")
			if err := migrations.Up(t.Context(), admin, func(migrations.Migration) {}); err != nil {
				t.Fatal(err)
			}
			if _, err := admin.Exec(t.Context(), "create table result (n int)"); err != nil {
				t.Fatal(err)
			}
			pool, err := pgxpool.New(t.Context(), db.URL("postgres"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(pool.Close)
			w := &lateWorker{pool: pool, meanwhile: c.meanwhile, ended: make(chan error, 1)}
			workers := river.NewWorkers()
			river.AddWorker(workers, w)
			client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Schema: jobSchema, Workers: workers,
				Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 1}}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := client.Insert(t.Context(), lateArgs{}, nil); err != nil {
				t.Fatal(err)
			}
			if err := client.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-w.ended:
				if !errors.Is(err, c.want) {
					t.Errorf("it ended with %v, want %v", err, c.want)
				}
			case <-time.After(time.Minute):
				t.Fatal("the job was not worked")
			}
			if err := client.Stop(context.WithoutCancel(t.Context())); err != nil {
				t.Fatal(err)
			}
			var results int
			if err := admin.QueryRow(t.Context(), "select count(*) from result").Scan(&results); err != nil {
				t.Fatal(err)
			}
			if results != c.results {
				t.Errorf("%d results, want %d", results, c.results)
			}
		})
	}
}
