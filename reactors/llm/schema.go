package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
)

// beyond are keywords of JSON Schema that a provider or other refuses in a schema
// that is to be kept to strictly. Who asks checks the answer against all of it.
var beyond = []string{"$schema", "$id", "title", "default", "examples", "format", "pattern", "minLength", "maxLength",
	"minItems", "maxItems", "uniqueItems", "minContains", "maxContains", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
	"multipleOf", "minProperties", "maxProperties"}

// strict is the part of a schema that all providers keep to: each object has all of
// its properties and no others. The order of the properties is that of their names.
func strict(schema json.RawMessage) (map[string]any, error) {
	var s map[string]any
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, err
	}
	if s["type"] != "object" {
		return nil, errors.New("it is no object's")
	}
	prune(s)
	return s, nil
}

func prune(schema any) {
	s, ok := schema.(map[string]any)
	if !ok {
		return
	}
	for _, keyword := range beyond {
		delete(s, keyword)
	}
	for _, keyword := range []string{"properties", "$defs", "definitions"} {
		if all, ok := s[keyword].(map[string]any); ok {
			for _, one := range all {
				prune(one)
			}
			if keyword == "properties" {
				s["required"], s["additionalProperties"] = slices.Sorted(maps.Keys(all)), false
			}
		}
	}
	for _, keyword := range []string{"anyOf", "allOf"} {
		if all, ok := s[keyword].([]any); ok {
			for _, one := range all {
				prune(one)
			}
		}
	}
	prune(s["items"])
}

var errNoObject = errors.New("it is not a JSON object")

// object is the JSON object that a text is, alone or in a fence of Markdown.
func object(text string) (json.RawMessage, error) {
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "```"); ok {
		inner = strings.TrimPrefix(inner, "json")
		text = strings.TrimSpace(strings.TrimSuffix(inner, "```"))
	}
	raw := []byte(text)
	if !bytes.HasPrefix(raw, []byte("{")) || !json.Valid(raw) {
		return nil, errNoObject
	}
	return raw, nil
}
