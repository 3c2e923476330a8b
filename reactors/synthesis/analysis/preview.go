package analysis

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/llm"
	"github.com/helixd/helixd/reactors/outbound"
	"github.com/helixd/helixd/reactors/redact"
	"github.com/helixd/helixd/reactors/usage"
)

// Preview is what an order would send.
type Preview struct {
	Kind     string
	Provider string // who would answer
	Reason   string // why nothing would be sent, in a sentence; "": Requests are
	Texts    int    // without those that are blank
	Sent     int
	Cut      int // of which only the beginning is sent, or read
	Redacted map[redact.Kind]int
	Requests []PreviewRequest
	Merges   bool // a request that follows from their answers comes last
}

// PreviewRequest is a request as it would be made.
type PreviewRequest struct {
	llm.Rendered
	Input  int64 // tokens, as estimated: no fewer than most count
	Output int64 // tokens, at most
	Kept   bool  // it was answered before: it is not made
}

// Preview tells what an order would send, and sends nothing.
func (s *Service) Preview(ctx context.Context, user uuid.UUID, o Order) (*Preview, error) {
	q, err := s.prepare(ctx, user, &o)
	if err != nil {
		return nil, err
	}
	v := &Preview{Kind: q.kind.name, Texts: len(q.in.texts), Cut: q.in.cut}
	if q.why != "" {
		v.Provider, v.Reason = localName(q.why), q.reason
		if v.Reason == "" {
			v.Reason = "No model is asked: " + q.why + "."
		}
		return v, nil
	}
	p, err := newPlan(ctx, s.cfg, user, q.kind, q.in, q.names)
	if err != nil {
		return nil, err
	}
	v.Provider, v.Sent, v.Cut, v.Redacted, v.Merges = s.model.Name(), p.sent, v.Cut+p.cut, p.veil.Counts(), len(p.parts) > 1
	pseudonym, err := s.ledger.Pseudonym(ctx, user)
	if err != nil {
		return nil, fmt.Errorf("find the user's pseudonym: %w", err)
	}
	asks := false
	for i := range p.parts {
		r := q.kind.request(p.parts[i].prompt, false, s.cfg)
		one := PreviewRequest{Input: cost(&r) - int64(r.MaxTokens), Output: int64(r.MaxTokens)}
		err := s.pool.QueryRow(ctx, "select exists (select from helix.analysis_cache where user_id = $1 and key = $2 and created_at > now() - $3::interval)",
			user, s.key(&r), s.cfg.CacheAge).Scan(&one.Kept)
		if err != nil {
			return nil, fmt.Errorf("look for an answer: %w", err)
		}
		asks = asks || !one.Kept
		r.User = pseudonym
		if one.Rendered, err = s.model.Render(ctx, r); err != nil {
			return nil, fmt.Errorf("render a request: %w", err)
		}
		v.Requests = append(v.Requests, one)
	}
	var spent *usage.Spent
	switch err := s.ledger.Check(ctx, user, usage.PurposeAnalysis); {
	case errors.As(err, &spent):
		if asks {
			v.Provider, v.Reason = localName(budgetSpent), outbound.Sentence(spent.Error())
		}
	case err != nil:
		return nil, err
	}
	return v, nil
}
