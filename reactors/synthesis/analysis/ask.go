package analysis

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/internal/failpoint"
	"github.com/helixd/helixd/reactors/llm"
	"github.com/helixd/helixd/reactors/outbound"
	"github.com/helixd/helixd/reactors/usage"
)

const (
	mostAsked   = 2  // times that a question is asked whose answer is none of the schema
	mostTries   = 10 // of a row whose own request the provider fails at, while it answers others
	settleLimit = 10 * time.Second
)

// waiting is why an analysis cannot go on now.
type waiting struct{ cause *outbound.Error }

func (w *waiting) Error() string { return w.cause.Error() }

func (w *waiting) Unwrap() error { return w.cause }

// declined is why there will be no answer to one request; others may get theirs.
type declined struct {
	code    outbound.Code
	message string
}

func (d *declined) Error() string { return fmt.Sprintf("%s: %s", d.code, d.message) }

// cites says what an id in an answer stands for, and whether a pattern of a type may
// cite it.
type cites func(typ, id string) (texts []int, sent bool)

// key is what an answer is kept under: all that could make it another one.
func (s *Service) key(r *llm.Request) []byte {
	h := sha256.New()
	for _, part := range []string{s.model.Name(), r.System, r.Prompt, string(r.Schema), fmt.Sprint(r.MaxTokens)} {
		fmt.Fprintf(h, "%d ", len(part))
		h.Write([]byte(part))
	}
	return h.Sum(nil)
}

// ask gives the checked answer to a request: one that is kept, or the model's, which
// is kept before anything else is done. The error is a *waiting, a *declined, a
// *usage.Spent, or ends the work.
func (w *work) ask(ctx context.Context, r llm.Request, cited cites) (*answer, error) {
	s, c := w.s, w.c
	key := s.key(&r)
	a, err := w.kept(ctx, key, cited)
	if a != nil || err != nil {
		return a, err
	}
	if w.spent != nil {
		return nil, w.spent
	}
	r.User, r.Owner, r.Purpose = w.pseudonym, c.user.String(), usage.PurposeAnalysis
	for asked := 1; ; asked++ {
		if s.ends() {
			return nil, errStopping
		}
		// Whoever has lost the row, or whose row was deleted, asks nothing.
		if err := s.check(ctx, c); err != nil {
			return nil, err
		}
		if err := w.mayAsk(ctx); err != nil {
			return nil, err
		}
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %x %d", c.id, key, asked))
		r.Key = hex.EncodeToString(sum[:])
		hold, err := s.ledger.Hold(ctx, c.user, usage.PurposeAnalysis, s.model.Name(), cost(&r))
		var spent *usage.Spent
		if errors.As(err, &spent) {
			w.spent = spent
			return nil, spent
		}
		if err != nil {
			return nil, fmt.Errorf("hold a budget: %w", err)
		}
		said, err := s.model.Complete(ctx, r)
		hold.Requests = said.Requests
		failpoint.Here("analysis-answered")
		if err != nil {
			return nil, w.unanswered(ctx, hold, &r, said, err)
		}
		a, err := w.plan.kind.readAnswer(said.JSON, cited)
		if err := w.keep(ctx, key, a, said.Tokens, hold); err != nil {
			return nil, err
		}
		failpoint.Here("analysis-kept")
		if err == nil {
			return a, nil
		}
		if asked == mostAsked {
			return nil, &declined{outbound.BadAnswer, err.Error()}
		}
	}
}

// unanswered settles a request that got no answer, and tells what that means.
func (w *work) unanswered(ctx context.Context, hold *usage.Hold, r *llm.Request, said llm.Answer, err error) error {
	s := w.s
	settling, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleLimit)
	defer cancel()
	var e *outbound.Error
	input := cost(r) - int64(r.MaxTokens)
	switch answered := errors.As(err, &e); {
	case said.Tokens != llm.Tokens{}:
		err = errors.Join(err, hold.Settle(settling, said.Tokens.Input, said.Tokens.Output))
	case !answered: // cancelled: it may have been billed
		err = errors.Join(err, hold.Settle(settling, input, 0))
	case !e.Sent:
		err = errors.Join(err, hold.Release(settling))
	case e.Code == outbound.Refused:
		err = errors.Join(err, hold.Settle(settling, input, 0))
	case e.Code == outbound.Truncated, e.Code == outbound.BadAnswer:
		err = errors.Join(err, hold.Settle(settling, input, int64(r.MaxTokens)))
	default:
		err = errors.Join(err, hold.Settle(settling, 0, 0))
	}
	if ctx.Err() != nil || e == nil {
		return err
	}
	switch e.Code {
	case outbound.Unavailable:
		if e.Sent && w.c.tries >= mostTries && s.model.Trouble() == nil {
			break // it answers others
		}
		return &waiting{e}
	case outbound.RateLimited, outbound.PaymentRequired, outbound.Unauthorized, outbound.NotFound:
		return &waiting{e}
	}
	return &declined{e.Code, e.Public()}
}

// patience is what a row says that waits for its provider, and for how long.
func (s *Service) patience(c *claim, w *waiting) (*Error, time.Duration) {
	pause := min(firstWait<<min(c.tries, 16), mostWait)
	pause = pause*3/4 + rand.N(pause/4+1)
	pause = min(max(pause, time.Until(s.model.Ready()), w.cause.After), mostWait)
	next := time.Now().Add(pause).UTC().Truncate(time.Second)
	return &Error{Code: string(w.cause.Code), Message: w.cause.Message, Retryable: true, NextTry: &next}, pause
}

// kept is the answer that was given before, to this user; nil: there is none.
func (w *work) kept(ctx context.Context, key []byte, cited cites) (*answer, error) {
	var raw []byte
	var own bool
	err := w.s.pool.QueryRow(ctx, "select answer, job_id = $3 from helix.analysis_cache where user_id = $1 and key = $2 and created_at > now() - $4::interval",
		w.c.user, key, w.c.id, w.s.cfg.CacheAge).Scan(&raw, &own)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for an answer: %w", err)
	}
	var counted struct {
		Dropped dropped `json:"dropped"`
	}
	a, err := w.plan.kind.readAnswer(raw, cited)
	if err != nil || json.Unmarshal(raw, &counted) != nil {
		return nil, nil // another helixd's: it is asked for again
	}
	a.Dropped.add(counted.Dropped)
	if !own {
		w.result.Chunks.Cached++
	}
	return a, nil
}

// keep settles what an answer cost and keeps it, together; a nil one was none. Also
// of a row that is gone it is settled.
func (w *work) keep(ctx context.Context, key []byte, a *answer, cost llm.Tokens, hold *usage.Hold) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleLimit) // it was paid for
	defer cancel()
	err := pgx.BeginFunc(ctx, w.s.pool, func(tx pgx.Tx) error {
		batch := &pgx.Batch{}
		if a != nil {
			raw, err := json.Marshal(a)
			if err != nil {
				return err
			}
			batch.Queue(`insert into helix.analysis_cache (user_id, key, job_id, answer)
				select id, $2, $3, $4::jsonb from auth.users where id = $1 for key share
				on conflict (user_id, key) do update set job_id = excluded.job_id, answer = excluded.answer, created_at = now()`,
				w.c.user, key, w.c.id, string(raw))
		}
		batch.Queue(`update helix.analysis_work set requests = requests + 1, input_tokens = input_tokens + $2, output_tokens = output_tokens + $3,
			begun = 0, tries = 0 where job_id = $1`, w.c.id, cost.Input, cost.Output)
		if err := tx.SendBatch(ctx, batch).Close(); err != nil {
			return err
		}
		return hold.SettleIn(ctx, tx, cost.Input, cost.Output)
	})
	if err != nil {
		return fmt.Errorf("keep an answer: %w", err)
	}
	return nil
}
