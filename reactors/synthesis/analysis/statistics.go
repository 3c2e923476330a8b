package analysis

import (
	"math"
	"time"

	"github.com/helixd/helixd/reactors/synthesis/analysis/local"
	"github.com/helixd/helixd/reactors/synthesis/phrase"
)

// statistics are what can be said of texts without understanding them.
type statistics struct {
	Texts   int      `json:"texts"`
	From    string   `json:"from,omitempty"` // days
	To      string   `json:"to,omitempty"`
	Valence *valence `json:"valence,omitempty"`
	Groups  []group  `json:"groups,omitempty"`
	About   []string `json:"about,omitempty"` // key phrases
}

// valence is how texts feel, -1 to 1, of those of which it is known.
type valence struct {
	Texts  int     `json:"texts"`
	Mean   float64 `json:"mean"`
	Before float64 `json:"earlier_half"`
	After  float64 `json:"later_half"`
}

// trend is in words.
func (v *valence) trend() string {
	switch change := v.After - v.Before; {
	case change > 0.15:
		return "brighter"
	case change < -0.15:
		return "darker"
	}
	return "steady"
}

// group is a cluster of texts that are alike.
type group struct {
	Texts   int      `json:"texts"`
	About   []string `json:"about"`
	Valence *float64 `json:"valence,omitempty"`
}

const (
	mostPhrases = 8
	groupWords  = 4
)

// describe counts: words are what the texts say, as it may be told to whom the
// statistics are for.
func describe(texts []local.Text, words []string, g *grouping) *statistics {
	s := &statistics{Texts: len(texts)}
	var from, to time.Time
	var felt []float64
	for i := range texts {
		if at := texts[i].Time; !at.IsZero() {
			if from.IsZero() || at.Before(from) {
				from = at
			}
			if at.After(to) {
				to = at
			}
		}
		if v := texts[i].Valence; v != nil {
			felt = append(felt, *v)
		}
	}
	if !from.IsZero() {
		s.From, s.To = from.Format(time.DateOnly), to.Format(time.DateOnly)
	}
	if n := len(felt); n > 0 {
		s.Valence = &valence{Texts: n, Mean: mean(felt), Before: mean(felt[:(n+1)/2]), After: mean(felt[n/2:])}
	}
	if len(words) > 0 {
		s.About = phrases(phrase.Keys([][]string{words}, mostPhrases)[0])
	}
	if g == nil || len(g.members) < 2 {
		return s
	}
	clusters := make([][]string, len(g.members))
	for c, members := range g.members {
		for _, i := range members {
			clusters[c] = append(clusters[c], words[i])
		}
	}
	for c, keys := range phrase.Keys(clusters, groupWords) {
		of := group{Texts: len(g.members[c]), About: phrases(keys)}
		var felt []float64
		for _, i := range g.members[c] {
			if v := texts[i].Valence; v != nil {
				felt = append(felt, *v)
			}
		}
		if len(felt) > 0 {
			m := mean(felt)
			of.Valence = &m
		}
		s.Groups = append(s.Groups, of)
	}
	return s
}

func phrases(keys []phrase.Phrase) []string {
	texts := make([]string, 0, len(keys))
	for _, k := range keys {
		texts = append(texts, clip(k.Text, 60))
	}
	return texts
}

// mean is rounded: it is to be read.
func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return math.Round(sum/float64(len(values))*100) / 100
}
