package workflow

import (
	"encoding/json"
	"fmt"

	"github.com/helixd/helixd/reactors/skills/schema"
)

// MaxContext is what the input and the steps' outputs may be together, in bytes of
// JSON; they may also not weigh more than schema.MaxNodes.
const MaxContext = 8 << 20

// known is what the steps of a run see: the input, and each output by stepId.
type known struct {
	values map[string]any
	bytes  int
	nodes  int
	ids    []string       // of the workflow's steps
	native map[string]any // of values, for CEL, made where it is asked for
}

func newKnown(ids []string) *known {
	return &known{values: map[string]any{}, ids: ids, native: map[string]any{}}
}

// add decodes doc and keeps it under name.
func (k *known) add(name string, doc json.RawMessage) (any, *Error) {
	if k.bytes+len(doc) > MaxContext {
		return nil, contextTooLarge()
	}
	v, err := schema.Decode(doc)
	if err != nil {
		return nil, schemaError(InvalidOutput, err)
	}
	n := schema.Weight(v)
	if k.nodes+n > schema.MaxNodes {
		return nil, contextTooLarge()
	}
	k.bytes += len(doc)
	k.nodes += n
	k.values[name] = v
	return v, nil
}

func contextTooLarge() *Error {
	return &Error{Code: ContextTooLarge, Message: fmt.Sprintf(
		"the input and the outputs of all steps are more than %d MB or %d values: let steps give less, or take less with outputMapping",
		MaxContext>>20, schema.MaxNodes)}
}

// variables are those of CEL. Each output is converted once, when it is looked at.
func (k *known) variables() map[string]any {
	get := func(name string) any {
		if v, ok := k.native[name]; ok {
			return v
		}
		v, ok := k.values[name]
		if !ok {
			return nil
		}
		k.native[name] = native(v)
		return k.native[name]
	}
	variables := map[string]any{"input": func() any { return get("input") }}
	variables["steps"] = func() any {
		steps := map[string]any{}
		for _, id := range k.ids {
			if _, ran := k.values[id]; ran {
				steps[id] = get(id)
			}
		}
		return steps
	}
	for _, id := range k.ids {
		variables[id] = func() any { return get(id) }
	}
	return variables
}
