// Package model asks a language model for skills: it serves the host call
// llm.complete.
//
//	request ──▶ bounds ──▶ opted out? ──▶ redacted ──▶ budget held ──▶ asked ──▶ settled
//	                                                                     │
//	      {"text"} or {"json"} ◀── checked against the schema ◀── restored
//
// What a skill sends is foreign, and so is what the model answers. All text that
// leaves is redacted: the prompt, the system's text, the data and the schema.
package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/reactors/llm"
	"github.com/helixd/helixd/reactors/outbound"
	"github.com/helixd/helixd/reactors/redact"
	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills/host"
	"github.com/helixd/helixd/reactors/usage"
)

// mostAsked is how often a request is made whose answer is not of its schema.
const mostAsked = 2

// Model is a host.Model.
type Model struct {
	pool   *pgxpool.Pool
	model  llm.Model
	ledger *usage.Ledger
	rules  redact.Rules
	shared *redact.Redactor // of the rules alone: a list of names takes long to read
}

var _ host.Model = (*Model)(nil)

// New makes one that asks a model, which is shared with whoever else asks it.
func New(pool *pgxpool.Pool, m llm.Model, ledger *usage.Ledger, rules redact.Rules) (*Model, error) {
	shared, err := redact.New(rules)
	if err != nil {
		return nil, fmt.Errorf("make the model of skills: %w", err)
	}
	return &Model{pool: pool, model: m, ledger: ledger, rules: rules, shared: shared}, nil
}

// Complete implements host.Model.
func (m *Model) Complete(ctx context.Context, user uuid.UUID, key string, request json.RawMessage) (json.RawMessage, error) {
	q, err := read(request)
	if err != nil {
		return nil, err
	}
	privacy, err := usage.LoadPrivacy(ctx, m.pool, user)
	if err != nil {
		return nil, err
	}
	if privacy.OptOut[usage.SkillModel] {
		return nil, sandbox.Errorf(host.LLMUnavailable, "the user lets no skill ask a language model: opt_out in privacy_settings has %s", usage.SkillModel)
	}
	redactor, err := m.redactor(privacy.Names)
	if err != nil {
		return nil, err
	}
	v := veil{redactor.Session(key)}
	r, err := q.render(v)
	if err != nil {
		return nil, err
	}
	r.Owner, r.Purpose = user.String(), usage.PurposeSkill
	if r.User, err = m.ledger.Pseudonym(ctx, user); err != nil {
		return nil, err
	}
	for asked := 1; ; asked++ {
		r.Key = key
		if asked > 1 { // the same key may bring the same answer
			r.Key = fmt.Sprintf("%s-%d", key, asked)
		}
		said, err := m.ask(ctx, user, r)
		if err != nil {
			return nil, err
		}
		answer, err := q.answer(said, v)
		if !errors.As(err, new(*mismatch)) {
			return answer, err
		}
		if asked == mostAsked {
			return nil, sandbox.Errorf(host.LLMFailed, "the model was asked %d times and gave no answer of the schema: %s", asked, err)
		}
	}
}

// redactor is the operator's with a user's own names, which are taken out also
// where the operator takes out none.
func (m *Model) redactor(names []string) (*redact.Redactor, error) {
	if len(names) == 0 {
		return m.shared, nil
	}
	r, err := redact.New(m.rules.With(names))
	if err != nil {
		return nil, fmt.Errorf("redact for llm.complete: %w", err)
	}
	return r, nil
}

// ask makes a request within the budget.
func (m *Model) ask(ctx context.Context, user uuid.UUID, r llm.Request) (llm.Answer, error) {
	input := llm.EstimateTokens(r.System) + llm.EstimateTokens(r.Prompt) + llm.EstimateTokens(string(r.Schema))
	most := llm.Tokens{Input: input, Output: int64(r.MaxTokens)}
	hold, err := m.ledger.Hold(ctx, user, usage.PurposeSkill, m.model.Name(), most.Input+most.Output)
	var spent *usage.Spent
	switch {
	case errors.As(err, &spent):
		return llm.Answer{}, sandbox.Errorf(host.LLMBudgetSpent, "%s", spent)
	case err != nil:
		return llm.Answer{}, err
	}
	said, err := m.model.Complete(ctx, r)
	hold.Requests = said.Requests
	if took, sent := cost(said.Tokens, most, err); sent {
		err = errors.Join(unanswered(err), hold.Settle(ctx, took.Input, took.Output))
	} else {
		err = errors.Join(unanswered(err), hold.Release(ctx))
	}
	return said, err
}

// cost is what a request has taken, as far as that is known, and the most that it
// may have where it is not.
func cost(told, most llm.Tokens, err error) (took llm.Tokens, sent bool) {
	var e *outbound.Error
	switch {
	case told != llm.Tokens{}, err == nil:
		return told, true
	case !errors.As(err, &e): // it was called off, and may have been read
		return llm.Tokens{Input: most.Input}, true
	case !e.Sent:
		return llm.Tokens{}, false
	case e.Code == outbound.Refused:
		return llm.Tokens{Input: most.Input}, true
	case e.Code == outbound.Truncated, e.Code == outbound.BadAnswer:
		return most, true
	}
	return llm.Tokens{}, true
}

// codes are what a skill is told. Those that are not here may pass.
var codes = map[outbound.Code]sandbox.Code{
	outbound.Refused: host.LLMRefused, outbound.Rejected: host.LLMRefused,
	outbound.TooLarge: sandbox.InputTooLarge, outbound.Truncated: sandbox.OutputTooLarge,
	outbound.Unauthorized: host.LLMUnavailable, outbound.NotFound: host.LLMUnavailable, outbound.PaymentRequired: host.LLMUnavailable,
}

// unanswered makes an error of the model one for the skill. What the provider says
// of this request goes into the error, which is the user's own who sent it.
func unanswered(err error) error {
	var e *outbound.Error
	if !errors.As(err, &e) {
		return err
	}
	code, known := codes[e.Code]
	if !known {
		code = host.LLMFailed
	}
	return sandbox.Errorf(code, "%s", e.Message)
}
