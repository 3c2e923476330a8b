package model

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/helixd/helixd/reactors/redact"
)

// veil redacts all of one request, and restores its answer.
type veil struct{ *redact.Session }

// value redacts decoded JSON: strings as they are read, not as they are escaped,
// and numbers, which may be those of a card. The same JSON gives the same.
func (v veil) value(of any) any {
	switch of := of.(type) {
	case string:
		return v.Redact(of)
	case json.Number:
		if text := v.Redact(of.String()); text != of.String() {
			return text
		}
	case []any:
		all := make([]any, len(of))
		for i, item := range of {
			all[i] = v.value(item)
		}
		return all
	case map[string]any:
		all := make(map[string]any, len(of))
		for _, name := range slices.Sorted(maps.Keys(of)) {
			all[v.Redact(name)] = v.value(of[name])
		}
		return all
	}
	return of
}

// words are keywords of a schema whose values are words or data. An answer that has
// one of the data is restored as any other.
var words = map[string]bool{"title": true, "description": true, "$comment": true, "const": true, "enum": true, "default": true, "examples": true}

// named are keywords whose members have names of the author's.
var named = map[string]bool{"properties": true, "patternProperties": true, "$defs": true, "definitions": true, "dependentSchemas": true}

// schema redacts a schema. Its other strings are names, patterns and references:
// providers take no placeholders there, so it is refused where one would have to be.
// Names says that the object's members are named by the author.
func (v veil) schema(of any, names bool) (any, error) {
	switch of := of.(type) {
	case []any:
		all := make([]any, len(of))
		for i, item := range of {
			var err error
			if all[i], err = v.schema(item, false); err != nil {
				return nil, err
			}
		}
		return all, nil
	case map[string]any:
		all := make(map[string]any, len(of))
		for _, name := range slices.Sorted(maps.Keys(of)) {
			var err error
			switch {
			case v.Redact(name) != name:
				return nil, errPersonal
			case !names && words[name]:
				all[name] = v.value(of[name])
			default:
				all[name], err = v.schema(of[name], !names && named[name])
			}
			if err != nil {
				return nil, err
			}
		}
		return all, nil
	case string:
		if v.Redact(of) != of {
			return nil, errPersonal
		}
	case json.Number:
		if v.Redact(of.String()) != of.String() {
			return nil, errPersonal
		}
	}
	return of, nil
}

var errPersonal = invalid("the schema of llm.complete has something in the name of a property, or in a pattern, that must not be sent, such as an e-mail address or a name: put it into an enum or a description, where a placeholder stands for it")
