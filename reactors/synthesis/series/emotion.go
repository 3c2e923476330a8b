package series

import (
	"fmt"
	"math/rand/v2"

	"github.com/helixd/helixd/reactors/synthesis/bootstrap"
)

const (
	strong       = 0.3 // a valence beyond ±strong is positive or negative
	valenceNoise = 0.1 // by how much a valence may be off: apps and models give it to about a tenth
)

// Emotion is all of a user's positive, or all of the negative memories.
type Emotion struct {
	Positive   bool
	Mean       float64 // valence of the members
	Baseline   float64 // valence of all memories that have one
	Of         int     // how many have one
	Confidence float64
	members    []int32
}

// Emotions gives the memories above 0.3 as one group and those below −0.3 as
// another, each where it has least members and more. They are not cut into episodes:
// when mood changes is what Shifts says.
//
// The limits are fixed, so that what can fail to recur is the valence itself and
// the number: the confidence is how often a sample, in which each valence is off by
// a normal error of 0.1, has a group of the scaled least size with half of the
// Jaccard similarity. Valences at the limit and groups of barely five score low.
func Emotions(values []float64, least int, seed uint64) []Emotion {
	least = max(least, 1)
	var with []int32 // the positions that have a value
	var all []float64
	for i, v := range values {
		if finite(v) {
			with, all = append(with, int32(i)), append(all, clamp(v))
		}
	}
	var found []Emotion
	var groups [][]int32
	for side, members := range beyond(numbers(0, len(all)), all) {
		if len(members) < least {
			continue
		}
		groups = append(groups, members)
		e := Emotion{Positive: side == 0, Baseline: mean(all), Of: len(all), Mean: mean(pick(all, members))}
		for _, m := range members {
			e.members = append(e.members, with[m])
		}
		found = append(found, e)
	}
	if len(found) == 0 {
		return nil
	}
	random := rand.New(rand.NewPCG(seed, 1))
	again := func(sample []int32) [][]int32 {
		some := pick(all, sample)
		for i := range some {
			some[i] += valenceNoise * random.NormFloat64()
		}
		var groups [][]int32
		for _, members := range beyond(sample, some) {
			if len(members) >= scaled(least) {
				groups = append(groups, members)
			}
		}
		return groups
	}
	for i, c := range bootstrap.Recurrence(groups, len(all), runs(len(all), 1000), share, seed, again) {
		found[i].Confidence = c
	}
	return found
}

// beyond gives the positive and the negative among the numbered values.
func beyond(numbers []int32, values []float64) (groups [2][]int32) {
	for i, v := range values {
		switch {
		case v > strong:
			groups[0] = append(groups[0], numbers[i])
		case v < -strong:
			groups[1] = append(groups[1], numbers[i])
		}
	}
	return groups
}

func clamp(valence float64) float64 { return max(-1, min(valence, 1)) }

// Members lists the positions of the group's memories.
func (e Emotion) Members() []int32 { return e.members }

// Details explains the group: how many of how many, and their mean valence beside
// that of all.
func (e Emotion) Details() map[string]any {
	return map[string]any{"count": len(e.members), "of": e.Of, "mean": rounded(e.Mean, 3), "baseline": rounded(e.Baseline, 3)}
}

// Sentence says it in words.
func (e Emotion) Sentence() string {
	kind := "negative"
	if e.Positive {
		kind = "positive"
	}
	if len(e.members) == e.Of {
		return fmt.Sprintf("all %d memories with a valence are %s: %+.2f on average", e.Of, kind, e.Mean)
	}
	return fmt.Sprintf("%d of %d memories with a valence are %s: %+.2f on average, where all have %+.2f", len(e.members), e.Of, kind, e.Mean, e.Baseline)
}
