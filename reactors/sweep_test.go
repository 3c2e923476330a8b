package reactors_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors"
)

// errand is a job that nobody works.
type errand struct{ Who, What string }

func (errand) Kind() string { return "errand" }

// TestAlone: one at a time has the lock, enqueues a job a row, and undoes what fails.
func TestAlone(t *testing.T) {
	b := newBench(t)
	jobs, err := reactors.NewJobs(b.pool, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	const lock = 0x616c6f6e65
	failed := errors.New("failed")
	enqueue := func(who string, after error) error {
		return reactors.Alone(t.Context(), b.pool, lock, func(tx pgx.Tx) error {
			err := reactors.InsertEach[errand](t.Context(), jobs, tx, "select $1 || n, 'post' from generate_series(1, 2) n", who)
			if err == nil {
				err = after
			}
			return err
		})
	}
	err = reactors.Alone(t.Context(), b.pool, lock, func(pgx.Tx) error { return enqueue("beside", nil) })
	if err != nil {
		t.Fatal(err)
	}
	if err := enqueue("undone", failed); !errors.Is(err, failed) {
		t.Fatal(err)
	}
	if err := enqueue("ada", nil); err != nil {
		t.Fatal(err)
	}
	const got = "select string_agg(args ->> 'Who' || ' ' || (args ->> 'What'), ', ' order by id) from helix.river_job"
	if who := query[string](t, b, got); who != "ada1 post, ada2 post" {
		t.Errorf("the jobs are %s", who)
	}
	err = reactors.Alone(t.Context(), b.pool, lock, func(tx pgx.Tx) error {
		return reactors.InsertEach[errand](t.Context(), jobs, tx, "select 'one column'")
	})
	if err == nil {
		t.Error("a row that is no errand becomes one")
	}
}
