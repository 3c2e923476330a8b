package recall

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/robfig/cron/v3"

	"github.com/helixd/helixd/reactors"
)

// queue is River's.
const queue = "recall"

// Maintain is the nightly job.
type Maintain struct{}

// Kind implements river.JobArgs.
func (Maintain) Kind() string { return "recall_maintain" }

// InsertOpts implements river.JobArgsWithInsertOpts: there is one at a time.
func (Maintain) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queue, MaxAttempts: 3, UniqueOpts: river.UniqueOpts{ByState: reactors.Unended}}
}

// ParseSchedule reads six fields of cron, the first of them seconds, in UTC where
// they do not begin with CRON_TZ=<time zone>.
func ParseSchedule(text string) (river.PeriodicSchedule, error) {
	if strings.Contains(text, "TZ=") && !strings.Contains(text, " ") {
		return nil, errors.New("it is a time zone alone") // of which the parser panics
	}
	schedule, err := cron.NewParser(cron.Second | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(text)
	if err != nil {
		return nil, err
	}
	spec, ok := schedule.(*cron.SpecSchedule)
	if !ok || spec.Next(time.Now()).IsZero() {
		return nil, errors.New("it is never due")
	}
	if spec.Location == time.Local {
		spec.Location = time.UTC
	}
	return spec, nil
}

type maintainWorker struct {
	river.WorkerDefaults[Maintain]
	s *Service
}

// Timeout implements river.Worker: a large index may take an hour.
func (*maintainWorker) Timeout(*river.Job[Maintain]) time.Duration { return -1 }

const again = time.Minute // until what another process does has ended

// Work implements river.Worker.
func (w *maintainWorker) Work(ctx context.Context, _ *river.Job[Maintain]) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.s.ctx, cancel)()
	ran, err := w.s.Maintain(ctx)
	if !ran || w.s.ctx.Err() != nil {
		return river.JobSnooze(again)
	}
	return err
}

// Maintain does now what the schedule does at night: it makes the vector index
// where it is missing, keeps it to its budget, makes it anew where it is bloated,
// and vacuums helixd's tables where rows have died: last, since a vacuum of an HNSW
// index that has lost most of its rows takes many times what it takes to make it
// anew. It may be interrupted at any time. ran is false where another process is at it.
func (s *Service) Maintain(ctx context.Context) (ran bool, err error) {
	ran, err = s.alone(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return errors.Join(s.tend(ctx, conn), s.reindex(ctx, conn), s.vacuum(ctx, conn))
	})
	return ran, errors.Join(err, s.look(ctx))
}

// vacuum vacuums and analyzes tables sooner than autovacuum by default does, which
// waits for a fifth of the rows.
func (s *Service) vacuum(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, `select format('%I.%I', s.schemaname, s.relname) from pg_stat_user_tables s join pg_class c on c.oid = s.relid
		where (s.schemaname = 'helix' or s.schemaname = 'public' and exists (select from pg_policy where polrelid = s.relid and polname = 'helix_isolation'))
			and pg_has_role(c.relowner, 'usage')
			and greatest(s.n_dead_tup, s.n_mod_since_analyze, s.n_ins_since_vacuum) > 50 + 0.05 * greatest(c.reltuples, 0)
		order by 1`)
	if err != nil {
		return fmt.Errorf("look for dead rows: %w", err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("look for dead rows: %w", err)
	}
	var errs error
	for _, table := range tables {
		began := time.Now()
		if _, err := conn.Exec(ctx, "vacuum (analyze, skip_locked) "+table); err != nil {
			errs = errors.Join(errs, fmt.Errorf("vacuum %s: %w", table, err))
			continue
		}
		s.log.Info().Str("table", table).Dur("took_ms", time.Since(began)).Msg("recall: vacuumed")
	}
	return errs
}

// An index is made anew that has so many times what its vectors take; one above
// its budget sooner. A small one never is.
const (
	bloated      = 1.5
	bloatedAbove = 1.1
	leastSize    = 8 << 20
)

// reindex makes the index anew, while apps write, where much of it is empty.
func (s *Service) reindex(ctx context.Context, conn *pgx.Conn) error {
	x, err := readIndex(ctx, conn)
	if err != nil || !x.valid || x.definition == nil {
		return err
	}
	count, err := countIndexed(ctx, conn)
	if err != nil {
		return err
	}
	bound := bloated
	if x.bytes > s.cfg.Budget {
		bound = bloatedAbove
	}
	if float64(x.bytes) <= bound*float64(max(count*bytesPerVector(x.dimensions), leastSize)) {
		return nil
	}
	began := time.Now()
	done := s.watch(ctx, conn.PgConn().PID())
	defer done()
	if _, err := conn.Exec(ctx, "reindex index concurrently public."+indexName); err != nil {
		return fmt.Errorf("make the vector index anew: %w", err)
	}
	after, err := readIndex(ctx, conn)
	if err != nil {
		return err
	}
	s.log.Info().Dur("took_ms", time.Since(began)).Int64("bytes_before", x.bytes).Int64("bytes", after.bytes).Msg("recall: the vector index is made anew")
	return nil
}
