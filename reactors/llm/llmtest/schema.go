package llmtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// beyond are keywords that a provider refuses in a schema that is kept to strictly.
var beyond = []string{"minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"}

// checkSchema says what is wrong with a schema that a model is to keep to.
func checkSchema(raw json.RawMessage) string {
	var schema map[string]any
	if json.Unmarshal(raw, &schema) != nil || schema["type"] != "object" {
		return "schema must be a JSON Schema of 'type: \"object\"'"
	}
	return checkPart(schema, "schema")
}

func checkPart(part map[string]any, at string) string {
	for _, keyword := range beyond {
		if _, ok := part[keyword]; ok {
			return fmt.Sprintf("%s: '%s' is not supported", at, keyword)
		}
	}
	if part["type"] == "object" {
		properties, _ := part["properties"].(map[string]any)
		required, _ := part["required"].([]any)
		if part["additionalProperties"] != false {
			return at + ": 'additionalProperties' is required to be supplied and to be false"
		}
		for name, one := range properties {
			if !slices.Contains(required, any(name)) {
				return fmt.Sprintf("%s: 'required' is required to be an array including every key in properties. Missing '%s'", at, name)
			}
			if inner, ok := one.(map[string]any); ok {
				if problem := checkPart(inner, at+"."+name); problem != "" {
					return problem
				}
			}
		}
	}
	parts := []any{part["items"]}
	if all, ok := part["anyOf"].([]any); ok {
		parts = append(parts, all...)
	}
	if all, ok := part["$defs"].(map[string]any); ok {
		for _, one := range all {
			parts = append(parts, one)
		}
	}
	for _, one := range parts {
		if inner, ok := one.(map[string]any); ok {
			if problem := checkPart(inner, at+"[]"); problem != "" {
				return problem
			}
		}
	}
	return ""
}

// Instance is a value that a schema describes: the least there is, with one element
// in each list.
func Instance(schema json.RawMessage) any {
	var s map[string]any
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	return instance(s)
}

func instance(s map[string]any) any {
	if values, ok := s["enum"].([]any); ok && len(values) > 0 {
		return values[0]
	}
	if value, ok := s["const"]; ok {
		return value
	}
	if all, ok := s["anyOf"].([]any); ok && len(all) > 0 {
		if first, ok := all[0].(map[string]any); ok {
			return instance(first)
		}
	}
	kind := s["type"]
	if kinds, ok := kind.([]any); ok && len(kinds) > 0 { // such as ["string", "null"]
		kind = kinds[0]
	}
	switch kind {
	case "object":
		o := map[string]any{}
		properties, _ := s["properties"].(map[string]any)
		for name, one := range properties {
			if inner, ok := one.(map[string]any); ok {
				o[name] = instance(inner)
			}
		}
		return o
	case "array":
		items, ok := s["items"].(map[string]any)
		if !ok {
			return []any{}
		}
		return []any{instance(items)}
	case "string":
		return "text"
	case "integer":
		return 1
	case "number":
		return 0.5
	case "boolean":
		return true
	}
	return nil
}

// unknown reads an object of JSON, and finds members that the provider does not know.
func unknown(body []byte, known string, without []string) (map[string]json.RawMessage, string) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, "the body is no JSON object"
	}
	for name := range members {
		if slices.Contains(without, name) || !slices.Contains(strings.Fields(known), name) {
			return nil, name + ": Extra inputs are not permitted"
		}
	}
	return members, ""
}
