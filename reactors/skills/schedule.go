package skills

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/robfig/cron/v3"

	"github.com/helixd/helixd/reactors"
)

// nextTime gives the first time after one at which a schedule is due: five cron
// fields or @hourly and the like, after CRON_TZ=<time zone> where it is not UTC.
// A time that the clocks skip in spring is due an hour later; one that comes twice
// in autumn, once.
func nextTime(schedule string, after time.Time) (time.Time, error) {
	if strings.Contains(schedule, "@every") {
		return time.Time{}, errors.New("@every has no fixed times: use five fields")
	}
	parsed, err := cron.ParseStandard(schedule)
	if err != nil {
		return time.Time{}, err
	}
	next := parsed.Next(after.UTC())
	if next.IsZero() {
		return time.Time{}, errors.New("it is never due")
	}
	return next, nil
}

type scheduleWorker struct {
	river.WorkerDefaults[Schedule]
	s *Service
}

// Work implements river.Worker. The run and the next job are inserted with this
// one's completion; however long nobody was there, it runs once.
func (w *scheduleWorker) Work(ctx context.Context, job *river.Job[Schedule]) error {
	id, err := uuid.Parse(job.Args.SkillID)
	if err != nil {
		return river.JobCancel(err)
	}
	tx, err := w.s.pool.Begin(ctx) // no marker: the run is to be seen
	if err != nil {
		return err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // committed, or nothing is written
	if err := reactors.Complete(ctx, tx, job); err != nil {
		return err
	}
	var user *uuid.UUID
	var schedule *string
	err = tx.QueryRow(ctx, "select user_id, schedule from public.skills where id = $1 and enabled for key share", id).Scan(&user, &schedule)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && (schedule == nil || strings.TrimSpace(*schedule) != job.Args.Schedule) {
		return tx.Commit(ctx) // what is there now has a job of its own
	}
	if err != nil {
		return fmt.Errorf("read a skill's schedule: %w", err)
	}
	next, fault := nextTime(job.Args.Schedule, time.Now())
	var note []byte
	if fault != nil {
		note = errorf(CodeInvalidSchedule, "The schedule is not understood: %s.", clean(fault.Error(), 200)).json()
	} else if _, err := w.s.jobs.InsertOne(ctx, tx, Schedule{SkillID: job.Args.SkillID, Schedule: job.Args.Schedule, At: next},
		&river.InsertOpts{ScheduledAt: next}); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `update public.skills set checks = nullif(coalesce(checks, '{}') - 'schedule' ||
			case when $2::text is null then '{}' else jsonb_build_object('schedule', $2::text::jsonb) end, '{}')
		where id = $1 and checks -> 'schedule' is distinct from $2::text::jsonb`, id, text(note))
	if err != nil {
		return fmt.Errorf("note a skill's schedule: %w", err)
	}
	if !job.Args.At.IsZero() && fault == nil && user != nil {
		_, err := tx.Exec(ctx, `insert into public.skill_runs (user_id, skill_id) select user_id, id from public.skills
			where id = $1 and status <> 'invalid'`, id)
		if err != nil {
			return fmt.Errorf("insert a scheduled run: %w", err)
		}
	}
	return tx.Commit(ctx)
}
