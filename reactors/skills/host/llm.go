package host

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills/rights"
)

// Model is the language model that skills may ask.
type Model interface {
	// Complete serves a request of llm.complete, which it reads itself, for a user.
	// The key is the same for each repetition of it. Its errors for the skill to
	// see are *sandbox.Error.
	Complete(ctx context.Context, user uuid.UUID, key string, request json.RawMessage) (json.RawMessage, error)
}

func llmComplete(ctx context.Context, c *call) ([]byte, error) {
	if err := c.require(rights.Capability{Kind: rights.LLM}); err != nil {
		return nil, err
	}
	if c.services.Model == nil {
		return nil, sandbox.Errorf(LLMUnavailable, "no language model is configured: an operator has to give helixd a key")
	}
	return c.services.Model.Complete(ctx, c.subject.User, c.once(c.event.Call, c.request).String(), c.request)
}
