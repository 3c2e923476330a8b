package analysis

import "slices"

// kind is one of the analyses that synthesis_type asks for.
type kind struct {
	name  string
	layer int      // of psychology_layers; 0: all of them
	types []string // of the patterns, as the check on memory_patterns has them
	about string   // for a model: what it is to look for
}

// full is the kind of all the others' patterns.
const full = "full_synthesis"

var kinds = withFull(
	kind{"emotional_patterns", 2, []string{"trigger", "regulation", "intensity", "topic_emotion"},
		"how this person feels: what sets feelings off, how they calm or steady themselves, how strong feelings are, and which subjects go with which feelings"},
	kind{"prospective_self", 4, []string{"goal", "feared_outcome", "possible_self", "value"},
		"whom this person wants to become: goals, outcomes they fear, selves that they imagine, and values that they hold"},
	kind{"relational_memory", 3, []string{"dynamic", "attachment_style", "trust", "conflict", "support_system"},
		"how this person is with others: recurring dynamics, attachment, trust that grows or wears away, conflicts, and who supports them"},
	kind{"narrative_coherence", 1, []string{"theme", "identity_development", "growth", "integration"},
		"the story that this person tells of themselves: themes, how their identity develops, where they have grown, and where they make one whole of different parts"},
)

// aliases are former names.
var aliases = map[string]string{"relational_dynamics": "relational_memory", "narrative_themes": "narrative_coherence"}

// withFull adds the kind of them all.
func withFull(some ...kind) []kind {
	all := kind{name: full, about: "all of the following"}
	for _, k := range some {
		all.types = append(all.types, k.types...)
		all.about += "; " + k.about
	}
	return append(some, all)
}

// Kinds are the analyses, by their names.
func Kinds() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// Known reports whether a synthesis_type is a kind's name, or a former one.
func Known(synthesisType string) bool {
	_, known := kindOf(synthesisType)
	return known
}

// kindOf gives the kind of a synthesis_type.
func kindOf(name string) (kind, bool) {
	if now, former := aliases[name]; former {
		name = now
	}
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		return kind{}, false
	}
	return kinds[i], true
}

// above are the layers of what a full synthesis finds, where it is not that of the
// pattern's own kind.
var above = map[string]int{"value": 7, "identity_development": 6, "growth": 6, "integration": 5}

// layerOf is the layer that a pattern tells of.
func (k kind) layerOf(typ string) int {
	if k.layer != 0 {
		return k.layer
	}
	if layer, ok := above[typ]; ok {
		return layer
	}
	for _, of := range kinds {
		if slices.Contains(of.types, typ) {
			return of.layer
		}
	}
	return 0
}

// layers are those that an analysis tells of.
func (k kind) layers() []int {
	if k.layer != 0 {
		return []int{k.layer}
	}
	return []int{1, 2, 3, 4, 5, 6, 7}
}

// layerNames are psychology_layers.layer_name.
var layerNames = map[int]string{1: "Narrative Core", 2: "Emotional Memory", 3: "Relational Memory", 4: "Prospective Self",
	5: "Integration", 6: "Transformation", 7: "Purpose Engine"}

// styles are those of an attachment_style.
var styles = []string{"secure", "anxious", "avoidant"}

// contents are the members of memory_patterns.content, by pattern_type, and what
// each says, for a model. The local analyser has the same ones, and counts beside them.
var contents = map[string][]member{
	"trigger":              {{"situation", "what sets it off"}, {"emotion", "the feeling"}},
	"regulation":           {{"action", "what they do, in their words"}, {"strategy", "what kind of strategy that is"}},
	"intensity":            {{"emotion", "the feeling"}, {"trend", "rising, falling or steady"}},
	"topic_emotion":        {{"topic", "the subject"}, {"emotion", "the feeling"}},
	"goal":                 {{"goal", "what they want"}, {"horizon", "until when, in their words"}},
	"feared_outcome":       {{"outcome", "what they fear"}},
	"possible_self":        {{"self", "whom they imagine to be"}, {"valence", "hoped, expected or feared"}},
	"value":                {{"value", "what matters"}, {"statement", "how they say it"}},
	"dynamic":              {{"person", "with whom, in their words"}, {"roles", "what recurs"}},
	"attachment_style":     {{"style", "secure, anxious or avoidant"}, {"person", "with whom, in their words"}},
	"trust":                {{"person", "whom, in their words"}, {"direction", "trusting, distrusting, gained or broken"}},
	"conflict":             {{"person", "with whom, in their words"}, {"issue", "about what"}},
	"support_system":       {{"person", "who, in their words"}, {"kinds", "how they help"}},
	"theme":                {{"keywords", "what returns"}},
	"identity_development": {{"before", "who they were"}, {"after", "who they are becoming"}},
	"growth":               {{"signs", "what shows it"}},
	"integration":          {{"signs", "what comes together"}},
}

// most is how many patterns an analysis has.
func (k kind) most() int {
	if k.layer == 0 {
		return mostPatternsFull
	}
	return mostPatterns
}

type member struct{ name, about string }
