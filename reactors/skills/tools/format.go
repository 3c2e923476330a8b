package tools

import (
	"encoding/json"
	"strings"

	"github.com/helixd/helixd/reactors/skills/schema"
	"github.com/helixd/helixd/reactors/skills/workflow"
)

// maxFormat is the longest text that format makes, in bytes.
const maxFormat = 1 << 20

// format fills a template: {"template": "…{{name}}…{{user.name}}…", …} gives the text
// as a JSON string, where each name (and names of members after dots) is replaced by
// the input's member: a string as it is, an array of strings with a line each,
// anything else as JSON. What is not there is an error, not nothing.
func format(input json.RawMessage) (json.RawMessage, error) {
	v, err := schema.Decode(input)
	if err != nil {
		return nil, failure(workflow.InputInvalid, "the input of format %s", err)
	}
	members, _ := v.(map[string]any)
	template, ok := members["template"].(string)
	if !ok {
		return nil, failure(workflow.InputInvalid, "format needs a template: {\"template\": \"Hello {{name}}\", \"name\": …}")
	}
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(template, "{{")
		out.WriteString(before)
		if !found {
			break
		}
		name, after, closed := strings.Cut(rest, "}}")
		if !closed {
			return nil, failure(workflow.InputInvalid, "the template has {{ without }}")
		}
		text, err := lookUp(members, strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		if out.Len()+len(text) > maxFormat {
			return nil, failure("output_too_large", "the text is longer than %d bytes", maxFormat)
		}
		out.WriteString(text)
		template = after
	}
	if out.Len() > maxFormat {
		return nil, failure("output_too_large", "the text is longer than %d bytes", maxFormat)
	}
	return json.Marshal(out.String())
}

func lookUp(v any, name string) (string, error) {
	for _, part := range strings.Split(name, ".") {
		object, _ := v.(map[string]any)
		member, ok := object[part]
		if !ok {
			return "", failure(workflow.InputInvalid, "the input has no %q, which the template names", schema.Clip(name))
		}
		v = member
	}
	if text, ok := v.(string); ok {
		return text, nil
	}
	if lines, ok := asLines(v); ok {
		return lines, nil
	}
	doc, err := json.Marshal(v)
	return string(doc), err
}

func asLines(v any) (string, bool) {
	array, ok := v.([]any)
	lines := make([]string, len(array))
	for i, item := range array {
		if lines[i], ok = item.(string); !ok {
			break
		}
	}
	return strings.Join(lines, "\n"), ok
}
