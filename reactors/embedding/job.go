package embedding

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/helixd/helixd/internal/failpoint"
	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/outbound"
	"github.com/helixd/helixd/reactors/redact"
	"github.com/helixd/helixd/reactors/usage"
)

// queue is River's.
const queue = "embedding"

// EmbedMemories asks for embeddings of one user's memories, whichever wait when it
// is worked.
type EmbedMemories struct {
	UserID string `json:"user_id" river:"unique"`
}

// Kind implements river.JobArgs.
func (EmbedMemories) Kind() string { return "embed_memories" }

// InsertOpts lets a user have one that is not done: whoever ends it looks whether
// more is to be done.
func (EmbedMemories) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queue, MaxAttempts: 1000, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: reactors.Unended}}
}

const (
	// A job ends after so many requests, or so long, and another one goes on: users
	// take turns.
	mostRequests = 16
	mostTime     = 30 * time.Second

	// soon is how far ahead a job is made; what waits for longer is the sweep's.
	soon = time.Minute

	optOutWait = 10 * time.Minute
)

// work does a job, until the Service ends.
func (s *Service) work(ctx context.Context, job *river.Job[EmbedMemories]) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(s.ctx, stop)()
	user, err := uuid.Parse(job.Args.UserID)
	if err != nil {
		return river.JobCancel(fmt.Errorf("whose memories: %w", err))
	}
	if err = s.embed(ctx, user); err == nil {
		err = s.finish(ctx, job, user)
	}
	if s.ctx.Err() != nil {
		return river.JobSnooze(0) // this process ends; another goes on
	}
	if err != nil {
		s.log.Warn().Err(err).Stringer("user", user).Msg("memories were not embedded; trying again")
	}
	return err
}

// run is the work of one job.
type run struct {
	s         *Service
	user      uuid.UUID
	pseudonym string
	column    column
	redactor  *redact.Redactor // nil: nothing is replaced
	tries     int              // requests in a row that came to nothing, of this user's
	requests  int
	good      bool   // the provider has given vectors in this run
	refused   []text // texts that the provider refuses, where it does not refuse all
	why       *asked // of the last of them
}

// errParked ends a run: what is left waits, and why is noted.
var errParked = errors.New("the user's memories wait")

// embed does a user's work, until nothing is ready or something is in the way.
func (s *Service) embed(ctx context.Context, user uuid.UUID) error {
	r := &run{s: s, user: user}
	err := r.begin(ctx)
	for began := time.Now(); err == nil && r.requests < mostRequests && time.Since(began) < mostTime; {
		var texts []text
		if texts, err = s.take(ctx, user, r.most(), r.refused, r.redactor); err != nil || len(texts) == 0 {
			break
		}
		if err = r.reserve(ctx, len(texts)); err == nil {
			err = r.ask(ctx, texts)
		}
	}
	if err == nil || errors.Is(err, errParked) {
		err = errors.Join(r.blame(ctx), err)
	}
	if errors.Is(err, errParked) && ctx.Err() == nil {
		return nil
	}
	return err
}

// most is how many texts the next request may have: fewer after each failure, so
// that one text which the provider fails at keeps no others from it.
func (r *run) most() int {
	most := max(1, r.s.cfg.Batch>>min(r.tries, 30))
	if rate := r.s.cfg.Rate; rate > 0 {
		most = min(most, rate)
	}
	return most
}

// begin looks for what is in the way.
func (r *run) begin(ctx context.Context) error {
	s := r.s
	var waits bool
	err := s.pool.QueryRow(ctx, "update helix.embedding_queues set due = false where user_id = $1 returning tries, coalesce(retry_at > clock_timestamp(), false)", r.user).Scan(&r.tries, &waits)
	if errors.Is(err, pgx.ErrNoRows) || waits {
		return errParked // the account is gone, or what was in the way is
	}
	if err != nil {
		return fmt.Errorf("look for what waits: %w", err)
	}
	if s.embedder == nil {
		return r.park(ctx, errNotConfigured, time.Time{})
	}
	var f *fault
	if r.column, f, err = s.look(ctx); err != nil {
		return err
	}
	if f != nil {
		return r.park(ctx, f, time.Now().Add(mendedPause))
	}
	privacy, err := usage.LoadPrivacy(ctx, s.pool, r.user)
	if err != nil {
		return fmt.Errorf("load the user's privacy settings: %w", err)
	}
	if privacy.OptOut[usage.Memories] {
		return r.park(ctx, errOptedOut, time.Now().Add(optOutWait))
	}
	if at := s.embedder.Ready(); time.Until(at) > 0 {
		f := &fault{CodeNotConfigured, "The embedding provider is not asked for a while; memories wait.", true}
		if e := s.embedder.Trouble(); e != nil {
			f = &fault{string(e.Code), outbound.Sentence(e.Public()), true}
		}
		return r.park(ctx, f, at)
	}
	var over *usage.Spent
	if err := s.ledger.Check(ctx, r.user, usage.PurposeEmbedding); errors.As(err, &over) {
		return r.park(ctx, spent(over), over.Until)
	} else if err != nil {
		return fmt.Errorf("look at the budget: %w", err)
	}
	if rules := s.cfg.Redact.With(privacy.Names); len(rules.Kinds) > 0 {
		if r.redactor, err = redact.New(rules); err != nil {
			return fmt.Errorf("prepare redaction: %w", err)
		}
	}
	if r.pseudonym, err = s.ledger.Pseudonym(ctx, r.user); err != nil {
		return fmt.Errorf("make a pseudonym: %w", err)
	}
	return nil
}

// reserve bounds the rate of all processes: each pays for its texts with time in
// which nobody sends any.
func (r *run) reserve(ctx context.Context, texts int) error {
	if r.s.cfg.Rate == 0 {
		return nil
	}
	takes := time.Duration(texts) * time.Minute / time.Duration(r.s.cfg.Rate)
	tag, err := r.s.pool.Exec(ctx, `insert into helix.embedding_pace as p (free_at) values (clock_timestamp() + $1::interval)
		on conflict (one) do update set free_at = clock_timestamp() + $1::interval where p.free_at <= clock_timestamp()`, takes)
	if err != nil {
		return fmt.Errorf("keep the rate: %w", err)
	}
	if tag.RowsAffected() == 1 {
		return nil
	}
	var at time.Time
	if err := r.s.pool.QueryRow(ctx, "select free_at from helix.embedding_pace").Scan(&at); err != nil {
		return fmt.Errorf("keep the rate: %w", err)
	}
	return r.park(ctx, errRate, at)
}

// park notes why nothing of the user's is asked for before at, and ends the run. The
// zero time is for what only another process, or this one's restart, can mend.
func (r *run) park(ctx context.Context, f *fault, at time.Time) error {
	var until *time.Time
	if !at.IsZero() {
		until = &at
	}
	_, err := r.s.pool.Exec(ctx, "update helix.embedding_queues set tries = $2, retry_at = $3, reason = $4::jsonb where user_id = $1", r.user, r.tries, until, f.json())
	if err != nil {
		return fmt.Errorf("note why memories wait: %w", err)
	}
	return errParked
}

// finish ends the job, and makes the next one where more is to be done soon.
func (s *Service) finish(ctx context.Context, job *river.Job[EmbedMemories], user uuid.UUID) error {
	tx, err := s.results.Begin(ctx)
	if err != nil {
		return fmt.Errorf("end a job: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // committed, or nothing is written
	// Held until the end: what an apply notes meanwhile comes with a job of its own,
	// and what it has noted is seen by the next statement.
	var at *time.Time
	err = tx.QueryRow(ctx, "select retry_at from helix.embedding_queues where user_id = $1 for update", user).Scan(&at)
	living := !errors.Is(err, pgx.ErrNoRows)
	if err != nil && living {
		return fmt.Errorf("end a job: %w", err)
	}
	var more bool
	if living && s.embedder != nil && (at == nil || time.Until(*at) < soon) {
		err := tx.QueryRow(ctx, `select exists (select from helix.embedding_work w left join public.memories m on m.id = w.memory_id
			where w.user_id = $1 and (w.retry_at is null or w.retry_at <= clock_timestamp() or w.content_rev is distinct from m.content_rev))`, user).Scan(&more)
		if err != nil {
			return fmt.Errorf("look for more: %w", err)
		}
	}
	if living {
		if _, err := tx.Exec(ctx, "update helix.embedding_queues set due = $2 where user_id = $1 and due <> $2", user, more); err != nil {
			return fmt.Errorf("note whether a job is due: %w", err)
		}
	}
	failpoint.Here("embedding-ending")
	if err := reactors.Complete(ctx, tx, job); err != nil {
		return fmt.Errorf("end a job: %w", err)
	}
	if more {
		opts := &river.InsertOpts{}
		if at != nil {
			opts.ScheduledAt = *at
		}
		if _, err := s.jobs.InsertOne(ctx, tx, EmbedMemories{UserID: user.String()}, opts); err != nil {
			return err
		}
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("end a job: %w", err)
	}
	return nil
}
