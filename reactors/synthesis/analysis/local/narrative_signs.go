package local

import (
	"maps"
	"slices"
	"strings"
)

// People tell of how they grew, changed or made peace in ways without number, but of
// few parts: what was once, what they could not do then, what they do now. Each part
// that a sentence and its neighbours have adds its points; a story is told where they
// add up. Where one text of a conversation tells it clearly, others that tell less
// clearly are of it, too.
const (
	plainStory  = 4 // points of a text that tells a story by itself
	faintStory  = 3 // of one that tells it beside others
	enoughFaint = 3 // texts that tell a story less clearly, and together do
	storySpan   = 3 // sentences in a row that are read together
)

// storySign is a way to tell of a part.
type storySign struct {
	part   string // of one part only the sign with the most points counts
	points int    // less than zero: what speaks against it
	cues   []*pattern
}

// signOf makes a sign of ways to tell of a part. In its patterns ~ is up to three
// words, and {name} one of storyWords.
func signOf(part string, points int, ways ...string) storySign {
	s := storySign{part: part, points: points}
	for _, w := range ways {
		s.cues = append(s.cues, spelledCue(w, spelledStory))
	}
	return s
}

// spelledStory puts the words of classes into a pattern.
func spelledStory(way string) string {
	for range 3 { // classes of classes
		for name, words := range storyWords {
			way = strings.ReplaceAll(way, "{"+name+"}", "(?:"+strings.Join(strings.Fields(words), " ")+")")
		}
	}
	return strings.ReplaceAll(way, "~", "(?:_ )?(?:_ )?(?:_ )?")
}

// storyKind is how a type of story is told.
type storyKind struct {
	name  string
	signs []storySign
	pairs [][2]string // parts of which it has both
	alone []string    // parts that tell it faintly by themselves
	never []*pattern  // a sentence with one of these tells no part of it
}

// storyTold is a place where a story is told.
type storyTold struct {
	sentence, of, points int
	told                 string // the part with the most points
}

// told finds the texts of a document that tell a story, each by its clearest place.
// What tells it less clearly is there if it is told clearly elsewhere.
func (k *storyKind) told(d *document, all []bondLine) []bondSign {
	var found []storyTold
	before, clear := 0, false
	d.perText(func(of int, sentences []sentence) {
		points := make([]map[string]int, len(sentences))
		for i := range sentences {
			points[i] = k.partsOf(&sentences[i])
		}
		best := storyTold{of: of}
		for i := range sentences {
			if t, ok := k.span(sentences, points, i); ok && t.points > best.points {
				best = t
				best.sentence += before
			}
		}
		before += len(sentences)
		if best.points >= faintStory {
			found = append(found, best)
			clear = clear || best.points >= plainStory
		}
	})
	if !clear && len(found) < enoughFaint {
		return nil
	}
	signs := make([]bondSign, len(found))
	for i, t := range found {
		signs[i] = bondSign{line: &all[t.sentence], about: t.told, weight: min(0.64, 0.08*float64(t.points)+0.2)}
	}
	return signs
}

// span adds up the parts of a sentence and the next ones.
func (k *storyKind) span(sentences []sentence, points []map[string]int, from int) (storyTold, bool) {
	sum, most, at := map[string]int{}, 0, from
	mine := false
	for i := from; i < min(len(sentences), from+storySpan); i++ {
		mine = mine || mineCue.in(&sentences[i])
		for part, n := range points[i] {
			if n > sum[part] || n < 0 && sum[part] <= 0 {
				sum[part] = n
			}
			if n > most {
				most, at = n, i
			}
		}
	}
	t := storyTold{sentence: at, of: sentences[from].of}
	for _, part := range slices.Sorted(maps.Keys(sum)) {
		t.points += sum[part]
		if t.told == "" || sum[part] > sum[t.told] {
			t.told = part
		}
	}
	paired := slices.ContainsFunc(k.pairs, func(p [2]string) bool { return sum[p[0]] > 0 && sum[p[1]] > 0 })
	if !paired {
		if sum[t.told] < faintStory || sum["idle"] < 0 || !slices.Contains(k.alone, t.told) {
			return t, false
		}
		t.points = faintStory
	}
	return t, mine && points[from] != nil
}

// partsOf gives the points of each part that a sentence tells; nil: it tells of
// something that is not so.
func (k *storyKind) partsOf(s *sentence) map[string]int {
	if s.question && !pondered.in(s) || unsaid(s) && !unsaidBefore.in(s) || askedCue.in(s) {
		return nil
	}
	if _, ok := first(k.never, s); ok {
		return nil
	}
	points := map[string]int{}
	for i := range k.signs {
		sign := &k.signs[i]
		if n, seen := points[sign.part]; seen && n >= sign.points {
			continue
		}
		if _, ok := first(sign.cues, s); ok {
			points[sign.part] = sign.points
		}
	}
	if _, ok := points["idle"]; ok && len(points) == 1 {
		return nil
	}
	return points
}

// askedCue is a question without its mark.
var askedCue = cue(`^ (?:so |and |hey |please )?(?:should|could|can|would|will|shall|may|do|did|am) (?:i|we|you)`)

// pondered is a question that one asks oneself.
var pondered = cue(`(?:i|and) (?:_ )?(?:think|thought|wonder|wondered|ask myself|asked myself)`)

// unsaidBefore is what one says for the first time.
var unsaidBefore = cue(`never (?:_ )?said (?:_ )?(?:_ )?(?:before|aloud|out loud)|i suppose`)

// mineCue is that the user is in a sentence, or leaves themselves out as notes do.
var mineCue = cue(`(?:i|me|my|myself|mine|we|us|our)`)
