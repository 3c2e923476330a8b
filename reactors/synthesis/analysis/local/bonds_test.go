package local_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/helixd/helixd/reactors/synthesis/analysis/local"
)

var (
	ofRelations = []string{"dynamic", "attachment_style", "trust", "conflict", "support_system"}
	ofStories   = []string{"theme", "identity_development", "growth", "integration"}
	ofBonds     = slices.Concat(ofRelations, ofStories)
)

// TestBonds counts what is found of planted patterns of relations, and that nothing is
// found where nothing was planted.
func TestBonds(t *testing.T) {
	testFound(t, ofRelations, "../bonds/own_*.jsonl", "dev_*.jsonl", "held_*.jsonl", "fresh_*.jsonl")
}

// TestStories does the same for patterns of the user's story.
func TestStories(t *testing.T) {
	testFound(t, ofStories, "../bonds/own_*.jsonl", "own_*.jsonl", "dev_*.jsonl", "held_*.jsonl", "fresh_*.jsonl")
}

func testFound(t *testing.T, kinds []string, sets ...string) {
	for _, set := range sets {
		all := readPlanted(t, set)
		for _, kind := range kinds {
			n := 0
			for _, p := range all[kind] {
				found := local.Analyse("full_synthesis", p.texts())
				if foundIn(p, found) {
					n++
				} else {
					t.Logf("%s: cites %v, want %v", p.Case, cited(found, kind), p.Expect.Evidence)
				}
			}
			t.Logf("%s %s: found %d of %d", set, kind, n, len(all[kind]))
			if 10*n < 8*len(all[kind]) {
				t.Errorf("%s %s: found %d of %d", set, kind, n, len(all[kind]))
			}
		}
		for _, p := range all["none"] {
			for _, f := range local.Analyse("full_synthesis", p.texts()) {
				if slices.Contains(kinds, f.Type) {
					t.Errorf("%s: %s %q, %v", p.Case, f.Type, f.Description, f.Evidence)
				}
			}
		}
	}
}

// TestStyles compares the style of attachment that is found with the planted one.
func TestStyles(t *testing.T) {
	for style, text := range map[string]string{
		"anxious":  "I keep checking my phone to see if he has replied, and I'm terrified that he will leave me.",
		"avoidant": "I keep people at a distance. When someone gets close I want to run.",
		"secure":   "It's easy for me to ask my partner for comfort, and I feel safe with her.",
	} {
		found := local.Analyse("relational_memory", []local.Text{{ID: "a", Text: text}})
		at := slices.IndexFunc(found, func(f local.Finding) bool { return f.Type == "attachment_style" })
		if at < 0 || found[at].Content["style"] != style {
			t.Errorf("%s: %+v", style, found)
		}
	}
}

// TestNoThemeByChance draws texts of unrelated chatter: what they share is chance.
func TestNoThemeByChance(t *testing.T) {
	if raceEnabled {
		t.Skip("it takes minutes, and starts nothing else")
	}
	var chatter []string
	for _, set := range []string{"../bonds/own_*.jsonl", "dev_*.jsonl"} {
		for kind, cases := range readPlanted(t, set) {
			if kind == "theme" {
				continue
			}
			for _, p := range cases {
				for _, text := range p.texts() {
					if !slices.Contains(p.Expect.Evidence, text.ID) {
						chatter = append(chatter, text.Text)
					}
				}
			}
		}
	}
	slices.Sort(chatter)
	chatter = slices.Compact(chatter)
	random := rand.New(rand.NewPCG(1, 2))
	const draws = 300
	themes := 0
	for range draws {
		var texts []local.Text
		for i, at := range random.Perm(len(chatter))[:8+random.IntN(8)] {
			texts = append(texts, local.Text{ID: fmt.Sprint(i), Text: chatter[at]})
		}
		for _, f := range local.Analyse("narrative_coherence", texts) {
			if f.Type == "theme" {
				t.Logf("%s", f.Description)
				themes++
			}
		}
	}
	t.Logf("%d texts of chatter: %d themes in %d draws", len(chatter), themes, draws)
	if themes*100 > draws {
		t.Errorf("%d themes in %d draws of unrelated texts", themes, draws)
	}
}

func FuzzBonds(f *testing.F) {
	for _, seed := range []string{"", "My sister and I fought again.", "I trust @tom 's my my my mum's", "Mr", "Dr Who and me", "he she they " + strings.Repeat("always ", 30), "\xff my \u202emum and I",
		strings.Repeat("I used to be ", 20) + " now I am", "my mum\u0300\u0316\u0316\u0316\u0316 and i always fight", "My friend Zoë, and I argue. " + strings.Repeat("(", 50)} {
		f.Add(seed, "I can always call my brother when I am sad.")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a)+len(b) > 1000 {
			t.Skip("what is long is slow while its coverage is measured")
		}
		texts := []local.Text{{ID: "a", Text: a}, {ID: "b", Text: b}, {ID: "c", Text: a + "\n" + b}, {ID: "d", Text: b + " " + a}}
		for _, kind := range []string{"relational_memory", "narrative_coherence"} {
			found := local.Analyse(kind, texts)
			again := local.Analyse(kind, texts)
			if fmt.Sprint(found) != fmt.Sprint(again) {
				t.Fatalf("other findings the second time: %v, %v", found, again)
			}
			for _, f := range found {
				if len(f.Evidence) == 0 || !slices.Contains(ofBonds, f.Type) || !(f.Confidence > 0 && f.Confidence <= 1) {
					t.Fatalf("%+v", f)
				}
				if n := utf8.RuneCountInString(f.Description); n > 300 || !utf8.ValidString(f.Description) {
					t.Fatalf("%d characters: %q", n, f.Description)
				}
				for _, r := range f.Description + f.Recommendation {
					if !unicode.IsPrint(r) {
						t.Fatalf("%+q in %+q", r, f.Description)
					}
				}
			}
		}
	})
}
