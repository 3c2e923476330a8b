package analysis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/outbound"
	"github.com/helixd/helixd/reactors/redact"
	"github.com/helixd/helixd/reactors/usage"
)

// result is what an analysis comes to; it is the row's analysis, but for what has a
// column of its own.
type result struct {
	Kind       string              `json:"kind"`
	Reason     string              `json:"reason,omitempty"` // why package local answered, in a sentence
	Texts      textCounts          `json:"texts"`
	Statistics *statistics         `json:"statistics"`
	Patterns   map[string]int      `json:"patterns"` // by pattern_type
	Layers     map[int]string      `json:"layers"`
	Dropped    droppedCounts       `json:"dropped"`
	Chunks     chunkCounts         `json:"chunks"`
	Merged     string              `json:"merged,omitempty"` // how findings of several parts became patterns
	Redacted   map[redact.Kind]int `json:"redacted,omitempty"`
	Cached     bool                `json:"cached"`

	plan     *plan
	within   bool // a span of time
	found    []finding
	summary  string
	provider string
}

type textCounts struct {
	Source   string `json:"source"`
	Given    int    `json:"given"`
	Blank    int    `json:"blank,omitempty"`
	Analysed int    `json:"analysed"` // of a model: sent
	Cut      int    `json:"cut,omitempty"`
}

type chunkCounts struct {
	Planned  int                   `json:"planned"`
	Asked    int                   `json:"asked"`  // requests that were answered, those that merge included
	Cached   int                   `json:"cached"` // answers of an earlier analysis
	Local    int                   `json:"local"`  // chunks that package local answered for
	Declined map[outbound.Code]int `json:"declined,omitempty"`
}

type droppedCounts struct {
	Patterns int `json:"patterns"`
	dropped
}

// How findings became patterns.
const (
	mergedByModel = "model"
	mergedLocally = "local"
)

// work is one analysis on its way.
type work struct {
	s         *Service
	c         *claim
	question  *question
	plan      *plan
	result    *result
	pseudonym string
	spent     *usage.Spent // the budget's end; nil: it is not spent
}

// Reasons why package local answers.
const (
	nothing     = "nothing to analyse"
	optedOut    = "opted out"
	budgetSpent = "budget spent"
)

// localName is the provider of what package local answered.
func localName(why string) string { return "local (" + why + ")" }

// analyse answers a claimed row.
func (s *Service) analyse(ctx context.Context, c *claim) (*result, error) {
	if c.begun > mostBegun {
		return nil, &Error{Code: CodeInterrupted, Retryable: true,
			Message: "helixd was ended again and again while it worked on this analysis: insert it once more, perhaps with fewer texts."}
	}
	var err error
	if c.order.Conversations, err = s.conversations(ctx, c); err != nil {
		return nil, err
	}
	q, err := s.prepare(ctx, c.user, &c.order)
	if err != nil {
		return nil, err
	}
	c.order.Conversations = nil // what is needed of them has been read
	w := &work{s: s, c: c, question: q, result: newResult(q), plan: &plan{kind: q.kind, in: q.in}}
	if len(q.in.texts) > 0 {
		if err := s.progress(ctx, c, 0.05); err != nil {
			return nil, err
		}
	}
	if q.why != "" {
		w.alone(q.why, q.reason)
		return w.result, ctx.Err()
	}
	s.sends(c, q.source)
	if w.plan, err = newPlan(ctx, s.cfg, c.user, q.kind, q.in, q.names); err != nil {
		return nil, err
	}
	if w.pseudonym, err = s.ledger.Pseudonym(ctx, c.user); err != nil {
		return nil, fmt.Errorf("find the user's pseudonym: %w", err)
	}
	if err := w.consult(ctx); err != nil {
		return nil, err
	}
	return w.result, nil
}

// mayAsk looks whether the user still lets the same be sent; errPrivacy: the work
// is to begin anew, in which what was answered is not asked again.
func (w *work) mayAsk(ctx context.Context) error {
	now, err := usage.LoadPrivacy(ctx, w.s.pool, w.c.user)
	switch {
	case err != nil:
		return err
	case now.OptOut[w.question.source], !slices.Equal(now.Names, w.question.names):
		return errPrivacy
	}
	return nil
}

// question is what an order comes to once its texts are read.
type question struct {
	kind        kind
	source      string // the column that the texts are from
	in          *input
	within      bool     // a span of time
	names       []string // that the user wants taken out
	why, reason string   // of package local to answer, in short and in a sentence; "": a model does
}

func (s *Service) prepare(ctx context.Context, user uuid.UUID, o *Order) (*question, error) {
	k, known := kindOf(o.Type)
	if !known {
		return nil, &Error{Code: CodeType, Message: "synthesis_type is none that helixd knows."}
	}
	q := &question{kind: k, source: o.source(), within: o.Since != nil || o.Until != nil}
	var err error
	if q.in, err = load(ctx, s.pool, user, o); err != nil {
		return nil, err
	}
	privacy, err := usage.LoadPrivacy(ctx, s.pool, user)
	if err != nil {
		return nil, fmt.Errorf("read what the user does not want: %w", err)
	}
	q.names = privacy.Names
	switch {
	case len(q.in.texts) == 0:
		q.why, q.reason = nothing, "There is no text to analyse."
	case privacy.OptOut[o.source()]:
		q.why, q.reason = optedOut, fmt.Sprintf("privacy_settings.opt_out has %s: it is not sent.", o.source())
	case s.model == nil:
		q.why = s.cfg.Local
	}
	return q, nil
}

// alone lets package local answer for all texts.
func (w *work) alone(why, reason string) {
	w.result.plan, w.result.provider, w.result.Reason = w.plan, localName(why), reason
	w.result.Texts.Analysed = len(w.plan.in.texts)
	found := w.plan.findLocal(w.plan.all())
	rank(found)
	w.result.found = found[:min(len(found), w.plan.kind.most())]
	w.result.conclude()
}

// consult asks the model about each part, and has it merge what it found. Where it
// does not answer about a part, or the budget ends, package local does.
func (w *work) consult(ctx context.Context) error {
	p, r := w.plan, w.result
	r.Chunks.Planned = len(p.parts)
	var found []finding
	var own []finding // of package local, in the texts' own words: nobody is sent them
	answered := 0
	for i := range p.parts {
		a, err := w.ask(ctx, p.kind.request(p.parts[i].prompt, false, w.s.cfg), p.parts[i].cited)
		switch {
		case err != nil && !w.without(err):
			return err
		case a == nil:
			r.Chunks.Local++
			own = append(own, p.findLocal(p.parts[i].texts)...)
		default:
			answered++
			r.Dropped.add(a.Dropped)
			r.summary = a.Summary
			found = append(found, a.Patterns...)
		}
		if err := w.s.progress(ctx, w.c, 0.05+0.8*float64(i+1)/float64(len(p.parts))); err != nil {
			return err
		}
	}
	if answered == 0 {
		r.Redacted = nil
		if w.spent != nil {
			w.alone(budgetSpent, outbound.Sentence(w.spent.Error()))
		} else {
			w.alone(w.s.model.Name()+" declined", w.declinedReason())
		}
		return nil
	}
	if len(p.parts) > 1 {
		r.summary = ""
		if len(found) > 0 {
			var err error
			r.Merged = mergedByModel
			if found, r.summary, err = w.reduce(ctx, found); err != nil {
				return err
			}
			if r.summary == "" {
				r.Merged = mergedLocally
			}
		}
	}
	r.plan, r.provider = p, w.s.model.Name()
	switch {
	case w.spent != nil:
		r.provider, r.Reason = r.provider+" and "+localName(budgetSpent), outbound.Sentence(w.spent.Error())
	case r.Chunks.Local > 0:
		r.provider, r.Reason = r.provider+" and "+localName("declined"), w.declinedReason()
	}
	r.found = found
	r.Texts.Analysed, r.Texts.Cut = p.sent, r.Texts.Cut+p.cut
	r.Redacted = p.veil.Counts()
	r.restore()
	if len(own) > 0 {
		r.Merged = cmp.Or(r.Merged, mergedLocally)
		r.found = merge(append(r.found, own...))
	}
	rank(r.found)
	r.found = r.found[:min(len(r.found), p.kind.most())]
	r.conclude()
	return nil
}

// without reports whether the work goes on without an answer, and notes why.
func (w *work) without(err error) bool {
	var no *declined
	var spent *usage.Spent
	switch {
	case errors.As(err, &spent):
		return true
	case errors.As(err, &no):
		if w.result.Chunks.Declined == nil {
			w.result.Chunks.Declined = map[outbound.Code]int{}
		}
		w.result.Chunks.Declined[no.code]++
		w.s.log.Warn().Stringer("analysis", w.c.id).Str("code", string(no.code)).Str("why", no.message).Msg("a chunk is analysed without the model")
		return true
	}
	return false
}

func (w *work) declinedReason() string {
	var codes []string
	for _, code := range slices.Sorted(maps.Keys(w.result.Chunks.Declined)) {
		codes = append(codes, fmt.Sprintf("%s (%d)", code, w.result.Chunks.Declined[code]))
	}
	return fmt.Sprintf("%s gave no answer to some of it: %s.", w.s.model.Name(), strings.Join(codes, ", "))
}

func newResult(q *question) *result {
	k, in := q.kind, q.in
	return &result{Kind: k.name, within: q.within, Texts: textCounts{Source: in.source, Given: len(in.texts) + in.blank, Blank: in.blank, Cut: in.cut}}
}
