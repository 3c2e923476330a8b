package skills

import (
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Somebody else's lock on one row delays that row's result, and no other.
const (
	commitLock   = "250ms" // lock_timeout of a transaction of results
	commitIdle   = "10s"   // after which a stopped process loses its transaction, and its locks
	lockedRetry  = 250 * time.Millisecond
	refusedRetry = 2 * time.Second
	mostRefused  = 3
)

// givenUp is the holder of a claim whose result the database refuses, whatever it
// is. A process that starts tries those again.
const givenUp = "given up"

// settle tells those who wait that their items are written.
func settle(group []*item) {
	for _, i := range group {
		if i.outcome != nil {
			i.commit.End(nil)
			i.claim.end(i.outcome.Status)
		}
		if i.written != nil {
			close(i.written)
		}
	}
}

// free parts a group into the items of which no row is locked, and the others.
func (c *committer) free(group []*item) (free, locked []*item) {
	var runs, users []uuid.UUID
	var skills []*uuid.UUID
	for _, i := range group {
		runs, users, skills = append(runs, i.RunID), append(users, i.UserID), append(skills, i.SkillID)
	}
	rows, err := c.s.pool.Query(c.s.ctx, `with runs as materialized (select id from public.skill_runs where id = any ($1) for no key update skip locked),
			users as materialized (select id from auth.users where id = any ($2) for key share skip locked),
			queues as materialized (select user_id as id from helix.skill_queues where user_id = any ($2) for update skip locked),
			used as materialized (select id from public.skills where id = any ($3) for no key update skip locked)
		select exists (select from public.skill_runs where id = i.run_id and id not in (select id from runs))
			or exists (select from auth.users where id = i.user_id and id not in (select id from users))
			or exists (select from helix.skill_queues where user_id = i.user_id and user_id not in (select id from queues))
			or exists (select from public.skills where id = i.skill_id and id not in (select id from used))
		from unnest($1::uuid[], $2::uuid[], $3::uuid[]) with ordinality as i (run_id, user_id, skill_id, n) order by n`, runs, users, skills)
	if err != nil {
		return nil, group
	}
	flags, err := pgx.CollectRows(rows, pgx.RowTo[bool])
	if err != nil {
		return nil, group
	}
	for n, i := range group {
		if flags[n] {
			locked = append(locked, i)
		} else {
			free = append(free, i)
		}
	}
	return free, locked
}

// setAside lets items be written with others again, after a pause, when none of
// their rows is locked.
func (c *committer) setAside(items []*item, pause time.Duration) {
	if len(items) == 0 {
		return
	}
	c.s.loops.Go(func() {
		for len(items) > 0 {
			select {
			case <-c.s.ctx.Done():
				return
			case <-time.After(pause):
			}
			var free []*item
			free, items = c.free(items)
			for _, i := range free {
				select {
				case <-c.s.ctx.Done():
					return
				case c.items <- i:
				}
			}
		}
	})
}

// giveUp leaves a run whose result nothing can be done about: its user's other
// runs go on without it.
func (c *committer) giveUp(i *item) {
	defer settle([]*item{i})
	if i.outcome == nil {
		return // the run goes on, and is not resumed here
	}
	_, err := c.s.pool.Exec(c.s.ctx, `with given_up as (
			update helix.skill_claims set permit = false, holder = $4 where run_id = $1 and job_id = $2 and attempt = $3)
		update helix.skill_claims set permit = true where run_id = $5`, i.RunID, i.job, i.claim.attempt, givenUp, i.next)
	if err != nil {
		c.s.log.Error().Err(err).Stringer("run", i.RunID).Msg("a run that was given up still counts as running")
	}
}
