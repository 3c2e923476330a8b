package phrase_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/synthesis/phrase"
)

func said(keys []phrase.Phrase) string {
	var texts []string
	for _, key := range keys {
		texts = append(texts, key.Text)
	}
	return strings.Join(texts, " | ")
}

func TestKeys(t *testing.T) {
	other := []string{"the weather is cold", "cold weather again", "snow and weather"}
	for _, c := range []struct {
		name  string
		texts []string
		most  int
		want  string // the first phrases
	}{
		{"a pair says more than its words", []string{"my interest rate", "what interest rate is it", "the interest rate rose"}, 5, "interest rate"},
		{"with the stop words that people wrote between", []string{"tell me a joke", "Tell me a joke please", "tell us that joke"}, 1, "tell me a joke"},
		{"the commonest form of a stem", []string{"running is good", "I was running", "he runs", "running shoes"}, 1, "running"},
		{"the commonest case", []string{"Berlin in May", "to Berlin", "berlin, then"}, 1, "Berlin"},
		{"not across a full stop", []string{"I like tea. Coffee is bad", "he likes tea. Coffee no"}, 9, "like tea | Coffee"},
		{"a single text is no pattern", []string{"spam spam spam spam eggs", "tea at noon", "tea again"}, 5, "tea"},
		{"unless there is nothing else", []string{"red", "green", "blue"}, 5, "red | green | blue"},
		{"no bare numbers", []string{"2026 was good", "2026 was bad", "bad year 2026"}, 5, "bad"},
		{"three characters that belong together", []string{"我在北京大学", "北京大学的老师", "去北京大学"}, 2, "北京大 | 京大学"},
		{"emoji", []string{"🎉🎉", "🎉", "🎉 🎉"}, 5, "🎉"},
		{"nothing", []string{"", "the of", "?!"}, 5, ""},
		{"none asked for", []string{"tea", "tea"}, 0, ""},
	} {
		keys := phrase.Keys([][]string{c.texts, other}, c.most)
		got := said(keys[0])
		if got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
	if keys := phrase.Keys(nil, 5); len(keys) != 0 {
		t.Errorf("no clusters: %v", keys)
	}
	if keys := phrase.Keys([][]string{nil, {"tea"}}, 5); keys[0] != nil || said(keys[1]) != "tea" {
		t.Errorf("an empty cluster: %v", keys)
	}
}

// TestKeysHold has what any clusters' phrases must be: at most most, ordered, of finite weight, in the texts as they
// show, and the same whatever the order of the clusters.
func TestKeysHold(t *testing.T) {
	word := rapid.SampledFrom(strings.Fields("tea Tea teas coffee the of and 12 Haus Häuser 東京 👍 a,b night night's walk walked"))
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Map(rapid.SliceOfN(word, 0, 6), func(words []string) string { return strings.Join(words, " ") })
		clusters := rapid.SliceOfN(rapid.SliceOfN(text, 0, 5), 0, 4).Draw(t, "clusters")
		most := rapid.IntRange(0, 6).Draw(t, "most")
		keys := phrase.Keys(clusters, most)
		if len(keys) != len(clusters) {
			t.Fatalf("%d of %d clusters", len(keys), len(clusters))
		}
		for i, phrases := range keys {
			if len(phrases) > most {
				t.Fatalf("%d phrases of %d", len(phrases), most)
			}
			for j, p := range phrases {
				if !(p.Weight > 0) || math.IsInf(p.Weight, 0) || j > 0 && p.Weight > phrases[j-1].Weight {
					t.Fatalf("weight %v at %d of %v", p.Weight, j, phrases)
				}
				if !slices.ContainsFunc(clusters[i], func(text string) bool { return strings.Contains(text, p.Text) }) {
					t.Fatalf("%q is in none of %q", p.Text, clusters[i])
				}
			}
		}
		if again := phrase.Keys(clusters, most); !reflect.DeepEqual(again, keys) {
			t.Fatalf("%v, then %v", keys, again)
		}
	})
}

// corpus is n texts of a few words each in clusters of a hundred.
func corpus(n int) (clusters [][]string) {
	for i := range n {
		if i%100 == 0 {
			clusters = append(clusters, nil)
		}
		c := len(clusters) - 1
		clusters[c] = append(clusters[c], fmt.Sprintf("I was thinking about topic%d and the %s%d again, with word%d in the evening", c, []string{"garden", "river", "train"}[i%3], i%97, i%1013))
	}
	return clusters
}

func BenchmarkKeys20k(b *testing.B) {
	clusters := corpus(20_000)
	for b.Loop() {
		phrase.Keys(clusters, 5)
	}
}

func BenchmarkVectors20k(b *testing.B) {
	texts := slices.Concat(corpus(20_000)...)
	for b.Loop() {
		phrase.Vectors(texts, 0)
	}
}
