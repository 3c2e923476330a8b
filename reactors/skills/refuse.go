package skills

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors"
)

const (
	mostEach     = 16        // runs that are claimed one by one, in a transaction
	refusedEvery = time.Hour // after which each process tries those again that are set aside
)

// refused is the holder of the claim of a run that waits, set aside: the database
// lets it neither begin nor end.
const refused = "refused"

// claimEach is claim where an app's trigger or constraint refuses one of the runs:
// it takes the oldest one by one. It keeps the user's lock meanwhile, so that no
// other lane comes upon the same. Another lane sees to the rest: the user's lanes
// take turns with those of others, however many runs are refused.
func (s *Service) claimEach(ctx context.Context, d demand) (claims []*claim, err error) {
	tx, err := s.results.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // committed, or nothing is written
	type run struct {
		ID              uuid.UUID
		UserID          uuid.UUID
		SkillID         *uuid.UUID
		CancelRequested bool
	}
	var runs []run
	batch := &pgx.Batch{}
	queueClaim(batch, d.user)
	batch.Queue("select id, user_id, skill_id, cancel_requested from public.skill_runs r where user_id = $1 and "+unclaimed+
		" order by created_at, id limit $2 for update of r skip locked", d.user, mostEach).
		Query(func(rows pgx.Rows) (err error) {
			runs, err = pgx.CollectRows(rows, pgx.RowToStructByPos[run])
			return err
		})
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, err
	}
	var settled bool // runs that no lane will be woken for
	for _, r := range runs {
		var c []*claim
		err := alone(ctx, tx, func(tx pgx.Tx) error {
			if r.CancelRequested {
				_, err := tx.Exec(ctx, sqlCancel+" and id = $1", r.ID, errCancelledRow)
				return err
			}
			rows, err := tx.Query(ctx, sqlClaim, s.claimArgs(d, &r.ID)...)
			if err == nil {
				c, err = pgx.CollectRows(rows, scanClaim)
			}
			return err
		})
		if reactors.OfRow(err) {
			c, settled = nil, true
			err = s.refuse(ctx, tx, &claim{RunID: r.ID, UserID: r.UserID, SkillID: r.SkillID}, err)
		}
		if err != nil {
			return nil, err
		}
		settled = settled || r.CancelRequested
		for _, c := range c {
			claims, d.executing = append(claims, c), true
			if c.permit {
				d.room--
			} else {
				d.ahead--
			}
		}
	}
	if settled {
		if err := reactors.InsertEach[Lane](ctx, s.jobs, tx, "select u, false from ("+sqlWake+") as w (u)", []string{d.user}); err != nil {
			return nil, fmt.Errorf("make the next lane: %w", err)
		}
	}
	return claims, tx.Commit(ctx)
}

// alone writes in the transaction, or not at all where the database refuses it, now
// or when it is committed.
func alone(ctx context.Context, tx pgx.Tx, write func(tx pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
		if err := write(tx); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "set constraints all immediate")
		return err
	})
}

// refuse ends a run that may not begin because of what is in it. It waits, set aside,
// where that is refused, too, and where a trigger is broken, which says nothing of
// the run. Either way the run says why, if the database lets it.
func (s *Service) refuse(ctx context.Context, tx pgx.Tx, c *claim, why error) error {
	state := reactors.SQLState(why)
	fault := &Error{Code: CodeRefused, Retryable: true,
		Message: fmt.Sprintf("The database does not let the run begin (SQLSTATE %s): look for constraints and triggers on skill_runs.", state)}
	log := s.log.Warn().Str("sqlstate", state).Stringer("run", c.RunID)
	for _, status := range []string{statusFailed, statusQueued} {
		if status == statusFailed && !reactors.Poison(why) {
			continue
		}
		err := alone(ctx, tx, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "update public.skill_runs set status = $2, error = $3, finished_at = case when $2 = 'failed' then clock_timestamp() end where id = $1",
				c.RunID, status, fault.json())
			if err != nil {
				return err
			}
			return s.results.Tell(ctx, tx, broadcast(&item{claim: c, outcome: &outcome{Error: fault}}, status))
		})
		switch {
		case err == nil && status == statusFailed:
			log.Msg("the database does not let a run begin, and so it fails; mend the trigger or constraint on public.skill_runs (Postgres's log has what it said), and insert the run again")
			return nil
		case err != nil && !reactors.OfRow(err):
			return err
		}
	}
	log.Msg("the database does not let a run begin, which waits; mend the trigger or constraint on public.skill_runs (Postgres's log has what it said), and restart helixd, or wait for an hour")
	if _, err := tx.Exec(ctx, "insert into helix.skill_claims (run_id, user_id, job_id, attempt, holder, permit) values ($1, $2, 0, 0, $3, false)",
		c.RunID, c.UserID, refused); err != nil {
		return fmt.Errorf("set a run aside: %w", err)
	}
	return nil
}

// retryRefused lets runs be claimed again that were set aside.
func (s *Service) retryRefused(ctx context.Context, tx pgx.Tx) error {
	if time.Since(s.retried) < refusedEvery {
		return nil
	}
	if _, err := tx.Exec(ctx, "delete from helix.skill_claims where holder = $1", refused); err != nil {
		return fmt.Errorf("retry runs that were set aside: %w", err)
	}
	s.retried = time.Now()
	return nil
}
