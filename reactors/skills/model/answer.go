package model

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/helixd/helixd/reactors/llm"
	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills/schema"
)

// Bounds of an answer. A few bytes of it are a placeholder for a thousand.
const (
	mostSaid     = 64 << 10  // bytes, as it comes
	mostRestored = 256 << 10 // bytes
)

// mismatch is what is wrong with an answer that is not of its schema.
type mismatch struct{ error }

// answer makes the response of what the model said.
func (q *question) answer(said llm.Answer, v veil) (json.RawMessage, error) {
	if q.schema == nil {
		return text(said.Text, v)
	}
	if len(said.JSON) > mostSaid {
		return nil, tooLarge(mostSaid)
	}
	// Before it is restored: whatever came of a broken one would be broken, too.
	if err := schema.Check(said.JSON); err != nil {
		return nil, &mismatch{fmt.Errorf("it %w", err)}
	}
	restored, err := v.RestoreJSON(said.JSON)
	if err != nil {
		return nil, &mismatch{err}
	}
	if len(restored) > mostRestored {
		return nil, tooLarge(mostRestored)
	}
	if err := q.schema.Validate(restored); err != nil {
		return nil, &mismatch{err}
	}
	return json.Marshal(map[string]json.RawMessage{"json": restored})
}

func text(said string, v veil) (json.RawMessage, error) {
	if len(said) > mostSaid {
		return nil, tooLarge(mostSaid)
	}
	said = v.Restore(strings.ToValidUTF8(strings.ReplaceAll(said, "\x00", ""), "\uFFFD"))
	if len(said) > mostRestored {
		return nil, tooLarge(mostRestored)
	}
	return json.Marshal(map[string]string{"text": said})
}

func tooLarge(most int) error {
	return sandbox.Errorf(sandbox.OutputTooLarge, "the model's answer has more than %d bytes", most)
}
