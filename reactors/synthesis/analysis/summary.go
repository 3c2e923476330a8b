package analysis

import (
	"fmt"
	"strings"
)

// restore puts back what was taken out of texts before they were sent.
func (r *result) restore() {
	back := func(text string, most int) string { return clip(r.plan.veil.Restore(text), 2*most) }
	r.summary = back(r.summary, mostSummary)
	for i := range r.found {
		f := &r.found[i]
		f.Description, f.Advice = back(f.Description, mostDescription), back(f.Advice, mostAdvice)
		content := make(map[string]any, len(f.Content))
		for name, v := range f.Content {
			if text, ok := v.(string); ok {
				v = back(text, mostMember)
			}
			content[name] = v
		}
		f.Content = content
	}
}

// conclude says what was found in all.
func (r *result) conclude() {
	words := make([]string, len(r.plan.in.texts))
	for i := range words {
		words[i] = r.plan.in.texts[i].Text
	}
	r.Statistics = describe(r.plan.in.texts, words, nil)
	r.Dropped.Patterns = r.Dropped.all()
	r.Patterns, r.Layers = map[string]int{}, map[int]string{}
	best := map[int]*finding{}
	count := map[int]int{}
	for i := range r.found {
		f := &r.found[i]
		layer := r.plan.kind.layerOf(f.Type)
		r.Patterns[f.Type]++
		count[layer]++
		if best[layer] == nil || f.Confidence > best[layer].Confidence {
			best[layer] = f
		}
	}
	for _, layer := range r.plan.kind.layers() {
		r.Layers[layer] = layerNames[layer] + ": nothing was found"
		if n := count[layer]; n > 0 {
			r.Layers[layer] = fmt.Sprintf("%s: %s; the surest: %s", layerNames[layer], plural(n, "pattern"), best[layer].Description)
		}
	}
	if r.summary == "" {
		r.summary = r.sentence()
	}
}

// sentence is a summary of what was counted.
func (r *result) sentence() string {
	s := r.Statistics
	if s.Texts == 0 {
		switch {
		case r.Texts.Given > 0:
			return "There is nothing to analyse: all that was given is blank."
		case r.within:
			return "There is nothing to analyse: no text was found in that time."
		}
		return "There is nothing to analyse: no text was found."
	}
	var b strings.Builder
	what := plural(s.Texts, "conversation")
	if r.Texts.Source == sourceMemories {
		what = plural(s.Texts, "memory")
	}
	fmt.Fprintf(&b, "%s", what)
	if s.From != "" {
		fmt.Fprintf(&b, " from %s to %s", s.From, s.To)
	}
	show := " show "
	if s.Texts == 1 {
		show = " shows "
	}
	b.WriteString(show)
	switch len(r.found) {
	case 0:
		b.WriteString("no pattern of this kind.")
	default:
		fmt.Fprintf(&b, "%s. The surest: %s", plural(len(r.found), "pattern"), strings.TrimSuffix(r.found[0].Description, ".")+".")
	}
	if v := s.Valence; v != nil {
		fmt.Fprintf(&b, " How they feel is %+.2f on average, from -1 to 1, and %s lately.", v.Mean, v.trend())
	}
	if len(s.About) > 0 {
		fmt.Fprintf(&b, " They often speak of %s.", strings.Join(s.About[:min(len(s.About), 5)], ", "))
	}
	return clip(b.String(), mostSummary)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if stem, ok := strings.CutSuffix(what, "y"); ok {
		what = stem + "ie"
	}
	return fmt.Sprintf("%d %ss", n, what)
}
