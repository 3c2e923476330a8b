package analysis

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// answer is what a model's answer comes to once it has been checked: only this is
// kept and used.
type answer struct {
	Summary  string    `json:"summary"`
	Patterns []finding `json:"patterns"`
	Dropped  dropped   `json:"dropped"`
}

// dropped counts patterns of answers that were left out, by why.
type dropped struct {
	Invented    int `json:"invented_evidence,omitempty"` // it cites what was not sent
	Unproven    int `json:"no_evidence,omitempty"`
	Malformed   int `json:"malformed,omitempty"` // it is none of the schema's
	Superfluous int `json:"too_many,omitempty"`
}

func (d *dropped) add(o dropped) {
	d.Invented += o.Invented
	d.Unproven += o.Unproven
	d.Malformed += o.Malformed
	d.Superfluous += o.Superfluous
}

func (d *dropped) all() int { return d.Invented + d.Unproven + d.Malformed + d.Superfluous }

var errAnswer = errors.New("the answer is none of the schema that was asked for")

// raw is a pattern as a model writes it. Each member is read by itself: one of the
// wrong type makes the pattern malformed, and no other.
type raw struct {
	Type        json.RawMessage `json:"pattern_type"`
	Description json.RawMessage `json:"description"`
	Evidence    json.RawMessage `json:"evidence"`
	Confidence  json.RawMessage `json:"confidence"`
	Content     json.RawMessage `json:"content"`
	Advice      json.RawMessage `json:"recommendation"`
}

// readAnswer checks an answer. cited gives what an id stands for: the texts, and
// whether a pattern of that type may cite it.
func (k kind) readAnswer(said json.RawMessage, cited func(typ, id string) (texts []int, sent bool)) (*answer, error) {
	if len(said) > mostAnswer {
		return nil, fmt.Errorf("%w: it has %d bytes", errAnswer, len(said))
	}
	var outer struct {
		Patterns []json.RawMessage `json:"patterns"`
		Summary  json.RawMessage   `json:"summary"`
	}
	if err := json.Unmarshal(said, &outer); err != nil || outer.Patterns == nil {
		return nil, errAnswer
	}
	a := &answer{}
	var summary string
	if readString(outer.Summary, &summary) {
		a.Summary = clip(summary, mostSummary)
	}
	for _, one := range outer.Patterns {
		f, problem := k.readPattern(one, cited)
		switch {
		case problem != nil:
			*problem(&a.Dropped)++
		case len(a.Patterns) == mostPatterns:
			a.Dropped.Superfluous++
		default:
			a.Patterns = append(a.Patterns, f)
		}
	}
	return a, nil
}

// Why a pattern is dropped, as what it counts as.
func malformed(d *dropped) *int { return &d.Malformed }
func invented(d *dropped) *int  { return &d.Invented }
func unproven(d *dropped) *int  { return &d.Unproven }

func (k kind) readPattern(one json.RawMessage, cited func(typ, id string) ([]int, bool)) (f finding, problem func(*dropped) *int) {
	var r raw
	if !bytes.HasPrefix(bytes.TrimSpace(one), []byte("{")) || json.Unmarshal(one, &r) != nil {
		return f, malformed
	}
	if !readString(r.Type, &f.Type) || !slices.Contains(k.types, f.Type) {
		return f, malformed
	}
	var description, advice string
	if !readString(r.Description, &description) {
		return f, malformed
	}
	if f.Description = clip(description, mostDescription); f.Description == "" {
		return f, malformed
	}
	if json.Unmarshal(r.Confidence, &f.Confidence) != nil || math.IsNaN(f.Confidence) || f.Confidence < 0 || f.Confidence > 1 || string(r.Confidence) == "null" {
		return f, malformed
	}
	if readString(r.Advice, &advice) {
		f.Advice = clip(advice, mostAdvice)
	}
	if f.Content = readContent(f.Type, r.Content); f.Content == nil {
		return f, malformed
	}
	var ids []json.RawMessage
	if !bytes.HasPrefix(r.Evidence, []byte("[")) || json.Unmarshal(r.Evidence, &ids) != nil || len(ids) > MostTexts {
		return f, malformed
	}
	for _, raw := range ids {
		var id string
		if !readString(raw, &id) {
			return f, malformed
		}
		texts, sent := cited(f.Type, id)
		if !sent {
			return f, invented
		}
		f.Evidence, f.Cited = append(f.Evidence, texts...), append(f.Cited, id)
	}
	if f.Evidence = union(f.Evidence, nil); len(f.Evidence) == 0 {
		return f, unproven
	}
	return f, nil
}

// readContent reads [{name, value}] into the members that a type has; nil where it
// is neither that nor an object, or is of an attachment style that there is not.
func readContent(typ string, said json.RawMessage) map[string]any {
	given := map[string]string{}
	var pairs []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	if json.Unmarshal(said, &pairs) == nil {
		for _, p := range pairs {
			given[p.Name] = p.Value
		}
	} else if json.Unmarshal(said, &given) != nil {
		return nil
	}
	content := map[string]any{}
	for _, m := range contents[typ] {
		if text := clip(given[m.name], mostMember); text != "" {
			content[m.name] = text
		}
	}
	if typ == "attachment_style" {
		style, _ := content["style"].(string)
		if style = strings.ToLower(style); !slices.Contains(styles, style) {
			return nil
		}
		content["style"] = style
	}
	return content
}
