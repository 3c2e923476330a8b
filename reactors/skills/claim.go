package skills

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/internal/trace"
	"github.com/helixd/helixd/reactors"
)

const (
	maxInterruptions = 3        // then a run may be what ends its processes
	inlineBytes      = 64 << 10 // of input and definition that a claim brings along
	claimLock        = "1s"     // lock_timeout; then the lane is tried again
)

// claim is a run that this process has taken.
type claim struct {
	RunID         uuid.UUID
	UserID        uuid.UUID
	Created       time.Time
	SkillID       *uuid.UUID
	Inline        bool // it has a definition
	DryRun        bool
	StepResults   json.RawMessage // of an earlier attempt
	Interruptions int
	Large         bool // input and definition are read by themselves
	Input         json.RawMessage
	Definition    json.RawMessage
	Skill         *skillState // nil: there is none that this user may run

	job     int64
	attempt int
	permit  bool        // it counts as executed
	span    *trace.Span // from its execution until its result is durable
}

// begin begins its span.
func (c *claim) begin(ctx context.Context) context.Context {
	if ctx, c.span = trace.Start(ctx, "run"); c.span != nil {
		c.span.Text("helixd.run.id", c.RunID.String())
	}
	return ctx
}

// end ends its span.
func (c *claim) end(status string) {
	c.span.Text("helixd.run.status", status)
	c.span.End(nil)
}

// skillState is what a skill's row says of it now.
type skillState struct {
	ID         uuid.UUID
	Owner      *uuid.UUID // nil: built in
	Visibility string
	Enabled    bool
	Status     string
	Rev        int64
	SHA256     *string // of the newest version; nil while it is not checked
	Active     *string // active_sha256
	Error      *Error
	Granted    []string // what the runner lets the version do that runs
}

// columns of a claim, of run r, skill s and its grants.
const claimColumns = `r.id, r.user_id, r.created_at, r.skill_id, r.definition is not null, r.dry_run, r.step_results,
	x.large, case when not x.large then r.input end, case when not x.large then r.definition end, ` + stateColumns

// A column that the project had before may be null.
const stateColumns = `s.id, s.user_id, coalesce(s.visibility, 'private'), coalesce(s.enabled, true), coalesce(s.status, 'pending'), coalesce(s.content_rev, 0), s.sha256, s.active_sha256, s.error,
	(select array_agg(g.capability) from public.skill_grants g
		where g.user_id = r.user_id and g.skill_id = s.id and g.sha256 = coalesce(s.active_sha256, s.sha256))`

// claimJoins has what claimColumns need: a skill that may not be run is as one
// that is not there.
//
// A value of less than 1,900 bytes as it is stored is at most 90 times as large.
const claimJoins = `cross join lateral (select coalesce(sum(case when pg_column_size(v) < 1900 then 0 else octet_length(v::text) end), 0) > $1 as large
		from (values (r.input), (r.definition)) as c (v)) x
	left join public.skills s on s.id = r.skill_id and (s.user_id = r.user_id or s.user_id is null or s.visibility = 'public')`

// scanState gives the destinations of stateColumns and makes the state of them.
func scanState() (into []any, state func() *skillState) {
	var (
		id         *uuid.UUID
		owner      *uuid.UUID
		visibility *string
		enabled    *bool
		status     *string
		rev        *int64
		sum        *string
		active     *string
		fault      *Error
		granted    []string
	)
	return []any{&id, &owner, &visibility, &enabled, &status, &rev, &sum, &active, &fault, &granted}, func() *skillState {
		if id == nil {
			return nil
		}
		return &skillState{ID: *id, Owner: owner, Visibility: *visibility, Enabled: *enabled, Status: *status, Rev: *rev,
			SHA256: sum, Active: active, Error: fault, Granted: granted}
	}
}

func scanClaim(row pgx.CollectableRow) (*claim, error) {
	c := &claim{}
	into, state := scanState()
	into = append([]any{&c.RunID, &c.UserID, &c.Created, &c.SkillID, &c.Inline, &c.DryRun, &c.StepResults,
		&c.Large, &c.Input, &c.Definition}, into...)
	if err := row.Scan(append(into, &c.Interruptions, &c.permit)...); err != nil {
		return nil, err
	}
	c.Skill = state()
	return c, nil
}

// demand is what a lane asks for: up to room runs to be executed at once, as far as
// the user's others leave room, and further ones ahead of their execution, where any
// of the lane is.
type demand struct {
	user        string
	room, ahead int
	executing   bool // a run of the lane is
	job         int64
	attempt     int
}

// unclaimed are waiting runs r that were not set aside. Asked so, and not with not
// exists, claims are looked up for the few runs that are picked: none is joined.
const unclaimed = "r.status = 'queued' and (select true from helix.skill_claims c where c.run_id = r.id) is null"

const (
	sqlCancel = "update public.skill_runs r set status = 'cancelled', error = $2, finished_at = clock_timestamp() where cancel_requested and " + unclaimed
	// $11 is the only run that it may be, null: any.
	sqlClaim = `with bucket as (
			select least($6::float8, coalesce(tokens, $6) + extract(epoch from clock_timestamp() - refilled_at) * $6 / 60) as tokens
			from helix.skill_queues where user_id = $2 and $6 > 0),
		room as (
			select greatest(least($3, $4 - (select count(*) from helix.skill_claims where user_id = $2 and permit)), 0)::bigint as now),
		picked as (
			select id, row_number() over (order by created_at, id) <= room.now as permit from (
				select id, created_at from public.skill_runs r where user_id = $2 and ($11::uuid is null or id = $11) and ` + unclaimed + ` order by created_at, id
				limit (select greatest(least(now + case when now > 0 or $9 then $10 else 0 end, floor((select tokens from bucket))), 0) from room)::bigint
				for update of r skip locked) r cross join room),
		spent as (
			update helix.skill_queues q set tokens = b.tokens - (select count(*) from picked), refilled_at = clock_timestamp()
			from bucket b where q.user_id = $2),
		claimed as (
			update public.skill_runs r set status = 'running', error = null, started_at = clock_timestamp()
			from picked where r.id = picked.id returning r.*, picked.permit),
		noted as (
			insert into helix.skill_claims (run_id, user_id, job_id, attempt, holder, permit)
			select id, user_id, $5, $7, $8, permit from claimed)
		select ` + claimColumns + `, 0, r.permit from claimed r ` + claimJoins + ` order by r.created_at, r.id`
)

func (s *Service) claimArgs(d demand, only *uuid.UUID) []any {
	return []any{inlineBytes, d.user, d.room, s.cfg.Concurrency, d.job, s.cfg.Rate, d.attempt, s.jobs.Holder(), d.executing, d.ahead, only}
}

// queueClaim begins a transaction that claims runs of a user. It commits without
// waiting for the disk: a claim that a crash forgets was none.
func queueClaim(batch *pgx.Batch, user string) {
	batch.Queue("select set_config('synchronous_commit', 'off', true), set_config('lock_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $2, true)",
		claimLock, commitIdle)
	batch.Queue(sqlUsers, []string{user})
	// Its own statement: the next one must see what was committed until it had the lock.
	batch.Queue("select from helix.skill_queues where user_id = $1 for update", user)
}

// claim takes a user's waiting runs, the oldest first. The first permits of the
// claims are to be executed at once. Those that were cancelled before end here.
func (s *Service) claim(ctx context.Context, d demand) (claims []*claim, permits int, err error) {
	batch := &pgx.Batch{}
	s.results.QueueMarker(batch)
	queueClaim(batch, d.user)
	batch.Queue(sqlCancel+" and user_id = $1", d.user, errCancelledRow)
	batch.Queue(sqlClaim, s.claimArgs(d, nil)...).Query(func(rows pgx.Rows) (err error) {
		claims, err = pgx.CollectRows(rows, scanClaim)
		return err
	})
	if err = s.pool.SendBatch(ctx, batch).Close(); reactors.OfRow(err) {
		claims, err = s.claimEach(ctx, d)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("claim runs: %w", err)
	}
	for permits < len(claims) && claims[permits].permit {
		permits++
	}
	return own(claims, d.job, d.attempt), permits, nil
}

// resume gives the runs that an earlier attempt of this lane, or a lane before it,
// had when its process was lost, those that were executed first. The others were
// not interrupted: what ended the process was none of them.
func (s *Service) resume(ctx context.Context, job int64, attempt int) ([]*claim, error) {
	rows, err := s.pool.Query(ctx, `with mine as (
			update helix.skill_claims set attempt = $3, interruptions = interruptions + permit::int, holder = $4
			where job_id = $2 and attempt < $3 returning run_id, interruptions, permit)
		select `+claimColumns+`, mine.interruptions, mine.permit from mine join public.skill_runs r on r.id = mine.run_id `+claimJoins+`
		order by mine.permit desc, r.created_at, r.id`, inlineBytes, job, attempt, s.jobs.Holder())
	if err != nil {
		return nil, fmt.Errorf("find interrupted runs: %w", err)
	}
	claims, err := pgx.CollectRows(rows, scanClaim)
	if err != nil {
		return nil, fmt.Errorf("find interrupted runs: %w", err)
	}
	return own(claims, job, attempt), nil
}

func own(claims []*claim, job int64, attempt int) []*claim {
	for _, c := range claims {
		c.job, c.attempt = job, attempt
	}
	return claims
}

// errCancelledRow is the error of a run that was cancelled while it waited.
var errCancelledRow = rowError(errCancelled).json()

// nextToken says when a user's rate lets the next run begin, where one waits.
func (s *Service) nextToken(ctx context.Context, user string) (wait time.Duration, err error) {
	if s.cfg.Rate == 0 {
		return 0, nil
	}
	var seconds float64
	err = s.pool.QueryRow(ctx, `select coalesce((
		select greatest(0, (1 - least($2::float8, coalesce(tokens, $2) + extract(epoch from clock_timestamp() - refilled_at) * $2 / 60)) * 60 / $2)
		from helix.skill_queues where user_id = $1 and exists (
			select from public.skill_runs where user_id = $1 and status = 'queued')), 0)::float8`, user, s.cfg.Rate).Scan(&seconds)
	return time.Duration(seconds * float64(time.Second)), err
}
