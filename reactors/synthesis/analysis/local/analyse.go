package local

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
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
	atOnce(len(all), func(i int) { each[i] = all[i](d) })
	return slices.Concat(each...)
}

// atOnce calls f with 0 to n-1, as many at a time as there are processors. Each call
// keeps its result in its own place, so their order does not show. A panic goes on in
// the caller, who may be ready for it.
func atOnce(n int, f func(i int)) {
	var next atomic.Int64
	var done sync.WaitGroup
	var failed atomic.Pointer[any]
	for range min(n, runtime.GOMAXPROCS(0)) {
		done.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					failed.Store(&r)
				}
			}()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	done.Wait()
	if r := failed.Load(); r != nil {
		panic(*r)
	}
}
