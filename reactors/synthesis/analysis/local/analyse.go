package local

import (
	"slices"

	"github.com/helixd/helixd/internal/parallel"
)

// detector finds patterns of one type or family. Detectors run at the same time: they
// change nothing in the document.
type detector func(*document) []Finding

// detectors is those of each kind of analysis, in the order of its pattern types.
var detectors = map[string][]detector{
	"emotional_patterns":  {triggers, regulation, intensity, topicEmotions},
	"prospective_self":    {goals, fearedOutcomes, possibleSelves, values},
	"relational_memory":   relational,
	"narrative_coherence": narrative,
}

// kinds is the order of the analyses in a full synthesis.
var kinds = []string{"emotional_patterns", "prospective_self", "relational_memory", "narrative_coherence"}

var aliases = map[string]string{"relational_dynamics": "relational_memory", "narrative_themes": "narrative_coherence"}

// Analyse finds the patterns of a kind of analysis in texts, at most 20 of each type,
// the surest first: emotional_patterns, prospective_self, relational_memory (or
// relational_dynamics), narrative_coherence (or narrative_themes), and full_synthesis,
// which is all of them. Of another kind there are none.
//
// It reads English; in other languages it finds nothing. It takes time linear in the
// first 64 KiB of each text.
func Analyse(kind string, texts []Text) []Finding {
	if of, ok := aliases[kind]; ok {
		kind = of
	}
	asked := []string{kind}
	if kind == "full_synthesis" {
		asked = kinds
	} else if detectors[kind] == nil {
		return nil
	}
	var all []detector
	for _, k := range asked {
		all = append(all, detectors[k]...)
	}
	d := read(texts)
	each := make([][]Finding, len(all))
	parallel.Each(len(all), func(i int) { each[i] = all[i](d) })
	return slices.Concat(each...)
}
