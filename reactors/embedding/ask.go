package embedding

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/helixd/helixd/internal/failpoint"
	"github.com/helixd/helixd/reactors/llm"
	"github.com/helixd/helixd/reactors/outbound"
	"github.com/helixd/helixd/reactors/usage"
)

// lately is for how long an answer shows that the provider works.
const lately = 10 * time.Minute

// ask makes a request for texts and stores what it brings. Where the provider
// refuses what was sent, it asks for each half.
func (r *run) ask(ctx context.Context, texts []text) error {
	s := r.s
	answer, hold, err := r.request(ctx, texts)
	if err == nil {
		r.good, r.tries = true, 0
		s.answered.Store(time.Now().Unix())
		failpoint.Here("embedding-answered")
		return r.store(ctx, texts, answer, hold)
	}
	var a *asked
	var over *usage.Spent
	switch {
	case errors.As(err, &over) && len(texts) > 1: // what is left may do for some
		return r.halve(ctx, texts)
	case errors.As(err, &over) && over.Never():
		return r.aside(ctx, texts, spent(over), mostAside, mostAside, math.MaxInt)
	case errors.As(err, &over):
		return r.park(ctx, spent(over), over.Until)
	case !errors.As(err, &a):
		return err
	case a.misfit:
		return r.park(ctx, s.misfit(r.column, a.fault.Message), time.Now().Add(mendedPause))
	case a.pause > 0:
		r.tries = 0
		return r.park(ctx, &a.fault, time.Now().Add(a.pause))
	case a.text && len(texts) == 1:
		r.refused, r.why = append(r.refused, texts[0]), a
		return nil
	case a.text:
		// It may refuse everything, for a reason that is not in the texts: who has not
		// seen it answer finds one text that is refused, and lets it be.
		if !r.works() && r.requests > bits.Len(uint(s.cfg.Batch))+2 {
			return r.park(ctx, &a.fault, r.later())
		}
		return r.halve(ctx, texts)
	case len(texts) == 1:
		// By itself it fails, too: the others go on without it.
		if err := r.aside(ctx, texts, &a.fault, time.Minute, mostAside, math.MaxInt); err != nil {
			return err
		}
	}
	return r.park(ctx, &a.fault, r.later())
}

func (r *run) halve(ctx context.Context, texts []text) error {
	half := len(texts) / 2
	if err := r.ask(ctx, texts[:half]); err != nil {
		return err
	}
	return r.ask(ctx, texts[half:])
}

// later is when to try again what came to nothing.
func (r *run) later() time.Time {
	at := time.Now().Add(backoff(time.Second, r.tries, mostBackoff))
	r.tries++
	return at
}

// works reports whether the provider gives vectors.
func (r *run) works() bool {
	return r.good || time.Since(time.Unix(r.s.answered.Load(), 0)) < lately
}

// blame sets aside what the provider has refused. Where it refuses all, it may not be
// the texts: they are tried again soon, after others.
func (r *run) blame(ctx context.Context) error {
	if len(r.refused) == 0 {
		return nil
	}
	if !r.works() {
		if err := r.aside(ctx, r.refused, &r.why.fault, 2*time.Minute, 2*mostBackoff, math.MaxInt); err != nil {
			return err
		}
		return r.park(ctx, &r.why.fault, r.later())
	}
	return r.aside(ctx, r.refused, &r.why.fault, time.Hour, 24*time.Hour, mostTries)
}

// aside lets texts wait by themselves, after most tries until their content changes.
func (r *run) aside(ctx context.Context, texts []text, f *fault, first, longest time.Duration, most int) error {
	for _, t := range texts {
		var until any = "infinity"
		if t.tries+1 < most {
			until = time.Now().Add(backoff(first, 2*t.tries, longest)).UTC().Format(time.RFC3339Nano)
		}
		_, err := r.s.pool.Exec(ctx, `update helix.embedding_work set tries = $2, retry_at = $3::text::timestamptz, content_rev = $4, reason = $5::jsonb where memory_id = $1`,
			t.id, t.tries+1, until, t.rev, f.json())
		if err != nil {
			return fmt.Errorf("set a memory aside: %w", err)
		}
		r.s.log.Warn().Stringer("memory", t.id).Str("code", f.Code).Msg("a memory gets no embedding for now")
	}
	return nil
}

// request asks the provider once, each text only once, for a vector a text. Of what
// brought none the hold is settled.
func (r *run) request(ctx context.Context, texts []text) (vectors [][]float32, paid *payment, err error) {
	s := r.s
	distinct, place := map[string]int{}, make([]int, len(texts))
	q := llm.EmbedRequest{Dimensions: r.column.dimensions, User: r.pseudonym, Owner: r.user.String(), Purpose: usage.PurposeEmbedding}
	key := sha256.New()
	fmt.Fprintf(key, "%s %d\n", s.embedder.Name(), q.Dimensions)
	var tokens int64
	for i, t := range texts {
		at, known := distinct[t.text]
		if !known {
			at = len(q.Texts)
			distinct[t.text] = at
			q.Texts = append(q.Texts, t.text)
			tokens += t.tokens
			fmt.Fprintf(key, "%s %d %d\n%s\n", t.id, t.rev, len(t.text), t.text)
		}
		place[i] = at
	}
	q.Key = hex.EncodeToString(key.Sum(nil))
	hold, err := s.ledger.Hold(ctx, r.user, usage.PurposeEmbedding, s.embedder.Name(), tokens)
	var over *usage.Spent
	if errors.As(err, &over) {
		return nil, nil, over
	}
	if errors.Is(err, usage.ErrNoUser) {
		return nil, nil, errParked
	}
	if err != nil {
		return nil, nil, fmt.Errorf("hold a budget: %w", err)
	}
	r.requests++
	answer, err := s.embedder.Embed(ctx, q)
	hold.Requests = answer.Requests
	if err == nil {
		err = r.check(answer, len(q.Texts))
	}
	cost := answer.Tokens
	if err != nil {
		return nil, nil, errors.Join(settle(ctx, hold, cost, tokens, err), r.explain(err))
	}
	if cost.Input <= 0 { // a local server may count nothing
		cost.Input = tokens
	}
	vectors = make([][]float32, len(texts))
	for i, at := range place {
		vectors[i] = answer.Vectors[at]
	}
	return vectors, &payment{hold, cost}, nil
}

// payment is what an answer has cost, which is noted with it.
type payment struct {
	hold  *usage.Hold
	spent llm.Tokens
}

// explain makes an asked of a provider's error.
func (r *run) explain(err error) error {
	if a := r.s.whyNot(err); a != nil {
		return a
	}
	return fmt.Errorf("ask for embeddings: %w", err)
}

// settle notes what a request has cost that brought no vectors: what the provider
// says, nothing where it has refused it, and all where nobody knows.
func settle(ctx context.Context, hold *usage.Hold, cost llm.Tokens, most int64, err error) error {
	ctx = context.WithoutCancel(ctx)
	var e *outbound.Error
	switch {
	case cost != llm.Tokens{}:
		return hold.Settle(ctx, cost.Input, cost.Output)
	case !errors.As(err, &e):
	case !e.Sent:
		return hold.Release(ctx)
	case e.Status >= 400:
		most = 0
	}
	return hold.Settle(ctx, most, 0)
}

// check looks whether there is a finite vector for each text, whatever the Embedder
// has made sure of: a wrong one would be found by nobody.
func (r *run) check(answer llm.Embedded, texts int) error {
	bad := func(again bool, what string) error {
		return &outbound.Error{Code: outbound.BadAnswer, Retry: again, Sent: true, Message: "the embedding provider's answer is unusable: " + what}
	}
	if len(answer.Vectors) != texts {
		return bad(true, fmt.Sprintf("%d vectors for %d texts", len(answer.Vectors), texts))
	}
	for _, v := range answer.Vectors {
		if len(v) != r.column.dimensions {
			return bad(false, fmt.Sprintf("vectors of %d dimensions, and memories.embedding has %d; set EMBEDDINGS_MODEL to a model that has as many", len(v), r.column.dimensions))
		}
		for _, x := range v {
			if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
				return bad(true, "numbers that are none")
			}
		}
	}
	return nil
}
