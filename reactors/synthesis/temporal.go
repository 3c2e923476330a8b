package synthesis

import (
	"context"

	"github.com/helixd/helixd/reactors/synthesis/series"
)

// leastEmotion is how many memories of one feeling are a pattern.
const leastEmotion = 5

// finding is what package series gives of memories' times and values, by number.
type finding interface {
	Members() []int32
	Details() map[string]any
	Sentence() string
}

// temporal finds when memories are made and how they feel.
func temporal(ctx context.Context, memories []Memory, s Settings) (patterns []Pattern, err error) {
	times, valences := make([]float64, len(memories)), make([]float64, len(memories))
	for i := range memories {
		times[i], valences[i] = memories[i].Time, memories[i].Valence
	}
	add := func(typ string, confidence float64, f finding) {
		which := f.Members()
		p := Pattern{Type: typ, Content: f.Sentence(), Confidence: confidence, Details: f.Details()}
		p.Details["period"] = period(times[which[0]], times[which[len(which)-1]])
		for _, m := range which {
			p.Members = append(p.Members, memories[m].ID)
		}
		patterns = append(patterns, p)
	}
	least := s.MinClusterSize
	for _, f := range series.Sessions(times, least, seed) {
		add(TemporalSession, f.Confidence, f)
	}
	for _, f := range series.Bursts(times, least, seed) {
		add(TemporalBurst, f.Confidence, f)
	}
	for _, f := range series.Periods(times, least, seed) {
		add(TemporalPeriodic, f.Confidence, f)
	}
	for _, f := range series.Emotions(valences, max(least, leastEmotion), seed) {
		typ := EmotionalNegative
		if f.Positive {
			typ = EmotionalPositive
		}
		add(typ, f.Confidence, f)
	}
	for _, f := range series.Shifts(times, valences, seed) {
		add(EmotionalShift, f.Confidence, f)
	}
	return patterns, ctx.Err()
}
