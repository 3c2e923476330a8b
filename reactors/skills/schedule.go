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
// in autumn, once, but for schedules of every hour.
func nextTime(schedule string, after time.Time) (time.Time, error) {
	if strings.Contains(schedule, "@every") {
		return time.Time{}, errors.New("@every has no fixed times: use five fields")
	}
	if (strings.HasPrefix(schedule, "TZ=") || strings.HasPrefix(schedule, "CRON_TZ=")) && !strings.Contains(schedule, " ") {
		return time.Time{}, errors.New("it is a time zone alone") // of which the parser panics
	}
	parsed, err := cron.ParseStandard(schedule)
	if err != nil {
		return time.Time{}, err
	}
	spec, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return time.Time{}, errors.New("it has no fixed times: use five fields")
	}
	zone := spec.Location
	if zone == time.Local {
		zone = time.UTC
	}
	const everyHour = 1<<24 - 1
	if spec.Hour&everyHour == everyHour {
		spec.Location = zone
		return due(spec.Next(after))
	}
	// As a clock on the wall, which no parser's idea of summer time disturbs.
	spec.Location = time.UTC
	local := after.In(zone)
	wall := time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), local.Second(), 0, time.UTC)
	for {
		if wall = spec.Next(wall); wall.IsZero() {
			return due(wall)
		}
		if next := onClock(wall, zone); next.After(after) {
			return next, nil
		}
	}
}

func due(next time.Time) (time.Time, error) {
	if next.IsZero() {
		return next, errors.New("it is never due")
	}
	return next, nil
}

// onClock is when the clocks of a zone first show a time, or where they skip it,
// what they show instead.
func onClock(wall time.Time, zone *time.Location) time.Time {
	shown := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), 0, 0, zone)
	_, offset := shown.Add(-3 * time.Hour).Zone() // before a change that may be near
	first := time.Unix(wall.Unix()-int64(offset), 0).In(zone)
	if shows := func(t time.Time) bool { return t.Hour() == wall.Hour() && t.Minute() == wall.Minute() }; shows(first) || !shows(shown) {
		return first
	}
	return shown
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
	if _, err := tx.Exec(ctx, "select from auth.users where id = (select user_id from public.skills where id = $1) for key share", id); err != nil {
		return fmt.Errorf("lock a skill's owner: %w", err)
	}
	var user *uuid.UUID
	var schedule *string
	err = tx.QueryRow(ctx, "select user_id, schedule from public.skills where id = $1 and enabled is not false for key share", id).Scan(&user, &schedule)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && (schedule == nil || strings.TrimSpace(*schedule) != job.Args.Schedule) {
		return tx.Commit(ctx) // what is there now has a job of its own
	}
	if err != nil {
		return fmt.Errorf("read a skill's schedule: %w", err)
	}
	// The clock here may be behind the one by which the job was due.
	after := time.Now()
	if job.Args.At.After(after) {
		after = job.Args.At
	}
	next, fault := nextTime(job.Args.Schedule, after)
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
			where id = $1 and status is distinct from 'invalid'`, id)
		if err != nil {
			return fmt.Errorf("insert a scheduled run: %w", err)
		}
	}
	return tx.Commit(ctx)
}
