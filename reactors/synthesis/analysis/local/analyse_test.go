package local_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/helixd/helixd/reactors/synthesis/analysis/local"
)

// types gives the types of what is found in one text, sorted.
func types(text string) []string {
	var all []string
	for _, f := range local.Analyse("full_synthesis", []local.Text{{ID: "a", Text: text}}) {
		all = append(all, f.Type)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func TestOnlyTheUserCounts(t *testing.T) {
	told := "I am terrified that I will end up alone."
	for _, c := range []struct {
		name, text string
		found      bool
	}{
		{"plain", told, true},
		{"user", "User: " + told, true},
		{"me", "Mum: how are you?\nMe: " + told, true},
		{"human", "Human: " + told + "\nAssistant: I hear you.", true},
		{"I", "I: " + told + "\nTherapist: Go on.", true},
		{"bold label", "**User:** " + told + "\n**Assistant:** I hear you.", true},
		{"times", "[10:32] Me: " + told + "\n[10:33] Mum: oh no", true},
		{"second line of a turn", "Assistant: How are you?\nUser: Well.\n" + told, true},
		{"one line", "Assistant: How are you? User: " + told, true},
		{"heading", "Today: rain.\nFears: " + told, true},
		{"assistant", "User: an example?\nAssistant: " + told, false},
		{"assistant's second line", "User: an example?\nAssistant: Here it is.\n" + told, false},
		{"assistant in one line", "User: an example? Assistant: " + told, false},
		{"mum", "Mum: " + told + "\nMe: oh", false},
		{"names", "Anna: hi\nBen: hi\nAnna: " + told, false},
		{"quoted", "She wrote: “" + told + "” and left.", false},
		{"straight quotes", `The poster says "` + told + `"`, false},
		{"mail", "> " + told + "\nWho wrote this?", false},
		{"code", "```\n" + told + "\n```", false},
		{"fiction", "Write a short story about this. " + told, false},
		{"translation", "Please translate this into French: " + told, false},
		{"somebody else", "My sister is terrified that she will end up alone.", false},
		{"denied", "I am not terrified that I will end up alone.", false},
		{"supposed", "If I were you I would be terrified that I will end up alone.", false},
		{"polite", "I'm afraid we do not have a table at eight.", false},
	} {
		if found := slices.Contains(types(c.text), "feared_outcome"); found != c.found {
			t.Errorf("%s: found %v in %q", c.name, found, c.text)
		}
	}
}

func TestOtherLanguages(t *testing.T) {
	for _, text := range []string{
		"Immer wenn mein Chef mir schreibt, werde ich nervös und habe Angst. Mein Ziel ist es, ein Haus zu bauen. Ehrlichkeit ist mir wichtiger als alles andere. Ich war am Boden zerstört, und die Wut wird stärker.",
		"Chaque fois que mon chef m'écrit, je suis anxieux. Mon but est de courir un marathon. L'honnêteté compte plus que tout pour moi. J'ai peur de finir seul, et quand je suis stressé je vais courir.",
		"Cada vez que mi jefe me escribe me pongo nervioso. Mi meta es correr un maratón. La honestidad es lo más importante para mí. Tengo miedo de acabar solo; cuando estoy triste salgo a correr.",
		"上司からメールが来るたびに不安になります。私の目標はマラソンを走ることです。正直さが何よりも大切です。",
		"Когда начальник пишет мне, я боюсь. Моя цель — купить дом. Честность для меня важнее всего.",
	} {
		if found := local.Analyse("full_synthesis", []local.Text{{ID: "a", Text: text}}); len(found) > 0 {
			t.Errorf("%q: %v", text, found)
		}
	}
}

func TestKinds(t *testing.T) {
	texts := []local.Text{{ID: "a", Text: "Whenever my boss emails me I get anxious. My goal is to run my own bakery."}}
	of := func(kind string) []string {
		var all []string
		for _, f := range local.Analyse(kind, texts) {
			all = append(all, f.Type)
		}
		return all
	}
	if got := of("emotional_patterns"); !slices.Contains(got, "trigger") || slices.Contains(got, "goal") {
		t.Errorf("emotional_patterns: %v", got)
	}
	if got := of("prospective_self"); !slices.Contains(got, "goal") || slices.Contains(got, "trigger") {
		t.Errorf("prospective_self: %v", got)
	}
	if got := of("full_synthesis"); !slices.Contains(got, "goal") || !slices.Contains(got, "trigger") {
		t.Errorf("full_synthesis: %v", got)
	}
	for alias, kind := range map[string]string{"relational_dynamics": "relational_memory", "narrative_themes": "narrative_coherence"} {
		if !reflect.DeepEqual(of(alias), of(kind)) {
			t.Errorf("%s: %v, %s: %v", alias, of(alias), kind, of(kind))
		}
	}
	if got := of("horoscope"); got != nil {
		t.Errorf("an unknown kind: %v", got)
	}
}

// TestSameThing says what is one Finding: what is about the same, and surer by each
// text that tells of it.
func TestSameThing(t *testing.T) {
	goal := func(texts ...string) []local.Finding {
		var all []local.Text
		for i, text := range texts {
			all = append(all, local.Text{ID: fmt.Sprint(i), Text: text})
		}
		return slices.DeleteFunc(local.Analyse("prospective_self", all), func(f local.Finding) bool { return f.Type != "goal" })
	}
	one := goal("I am saving for a house.")
	two := goal("I am saving for a house.", "My goal is to buy a small house by the sea.")
	apart := goal("I am saving for a house.", "My goal is to run a marathon.")
	if len(one) != 1 || len(two) != 1 || len(apart) != 2 {
		t.Fatalf("%d, %d, %d findings", len(one), len(two), len(apart))
	}
	if !reflect.DeepEqual(two[0].Evidence, []string{"0", "1"}) || !(two[0].Confidence > one[0].Confidence) || one[0].Confidence != 0.6 {
		t.Errorf("%v, %v after %v", two[0].Evidence, two[0].Confidence, one[0].Confidence)
	}
	if again := goal("I am saving for a house. I am saving for a house. I am saving for a house."); again[0].Confidence != one[0].Confidence {
		t.Errorf("what one text says thrice has %v", again[0].Confidence)
	}
}

// TestTrend finds a mood that falls, and none where it only goes up and down.
func TestTrend(t *testing.T) {
	texts := func(valence func(i int) float64) []local.Text {
		var all []local.Text
		for i := range 20 {
			v := valence(i)
			all = append(all, local.Text{ID: fmt.Sprint(i), Text: "Nothing much.", Time: time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC), Valence: &v})
		}
		return all
	}
	found := local.Analyse("emotional_patterns", texts(func(i int) float64 { return 0.6 - 0.06*float64(i) }))
	if len(found) != 1 || found[0].Type != "intensity" || found[0].Content["trend"] != "falling" || len(found[0].Evidence) == 0 {
		t.Errorf("falling: %+v", found)
	}
	if found := local.Analyse("emotional_patterns", texts(func(i int) float64 { return 0.6 * float64(i%2*2-1) })); len(found) > 0 {
		t.Errorf("up and down: %+v", found)
	}
	if found := local.Analyse("emotional_patterns", texts(func(int) float64 { return -0.2 })); len(found) > 0 {
		t.Errorf("always the same: %+v", found)
	}
}

// TestChance finds no topic where the feeling is in all texts, whatever they are about.
func TestChance(t *testing.T) {
	var texts []local.Text
	for i, of := range []string{"garden", "train", "garden", "office", "garden", "kitchen", "garden", "river"} {
		texts = append(texts, local.Text{ID: fmt.Sprint(i), Text: "The " + of + " today. I was so sad."})
	}
	for _, f := range local.Analyse("emotional_patterns", texts) {
		if f.Type == "topic_emotion" {
			t.Errorf("%+v", f)
		}
	}
}

// checkFindings says what is wrong with findings in texts, whatever these are.
func checkFindings(t testing.TB, texts []local.Text, found []local.Finding) {
	t.Helper()
	ids := map[string]bool{}
	for _, text := range texts {
		ids[text.ID] = true
	}
	of := map[string]int{}
	for _, f := range found {
		of[f.Type]++
		if len(f.Evidence) == 0 || !(f.Confidence > 0 && f.Confidence <= 1) || f.Description == "" {
			t.Errorf("%+v", f)
		}
		seen := map[string]bool{}
		for _, id := range f.Evidence {
			if !ids[id] || seen[id] {
				t.Errorf("%s: evidence %q", f.Type, id)
			}
			seen[id] = true
		}
		content, err := json.Marshal(f.Content)
		if err != nil {
			t.Error(err)
		}
		for _, line := range []string{f.Description, f.Recommendation, string(content)} {
			if !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsGraphic(r) }) || len(line) > 2000 {
				t.Errorf("%s: %q", f.Type, line)
			}
		}
	}
	for kind, n := range of {
		if slices.Contains(ofThisFile, kind) && n > 21 { // 20 and the trend of valence
			t.Errorf("%d of %s", n, kind)
		}
	}
}

func TestHostile(t *testing.T) {
	goal := "My goal is to run "
	many := strings.Builder{}
	for i := range 1000 {
		fmt.Fprintf(&many, "My goal is to become a w%dx. I am terrified of v%dy.\n", i*7919, i*7919)
	}
	for _, text := range map[string]string{
		"no spaces":     strings.Repeat("x", 1<<16),
		"spaces":        strings.Repeat(" ", 1<<16),
		"quotes":        strings.Repeat(`"`, 1<<16),
		"open quotes":   strings.Repeat("«“ ", 1<<16),
		"apostrophes":   strings.Repeat("' ", 1<<16),
		"colons":        strings.Repeat("A: ", 1<<16),
		"lines":         strings.Repeat("User: \n", 1<<12),
		"commas":        strings.Repeat("i ,", 1<<16),
		"feelings":      strings.Repeat("i am so very really terrified of when i feel ", 1<<12),
		"invalid":       goal + strings.Repeat("\xff\xfe", 1<<10) + " a marathon\xc3.",
		"right to left": goal + "\u202e\u2067 a marathon \u0007 in שלום\u200f.",
		"marks":         goal + "a" + strings.Repeat("\u0301", 1<<10) + " marathon",
		"many":          many.String(),
		"null":          "\x00" + goal + "\x00a marathon\x00",
	} {
		texts := []local.Text{{ID: "a", Text: text}, {ID: "b", Text: "Nothing."}, {ID: "a", Text: text}}
		checkFindings(t, texts, local.Analyse("full_synthesis", texts))
	}
}

// TestManyTerms has themes sought in memory that grows as the texts do: each word was
// once weighed anew against every text.
func TestManyTerms(t *testing.T) {
	if raceEnabled {
		t.Skip("it takes long, and starts nothing that other tests do not")
	}
	taken := func(n int) uint64 {
		var texts []local.Text
		for i := range n {
			var b strings.Builder
			fmt.Fprintf(&b, "I have the %d. ", i)
			for k := range 200 { // each word in four texts
				fmt.Fprintf(&b, "I have my q%sq and ", strings.Map(func(r rune) rune { return r + 'a' - '0' }, fmt.Sprint(i/4*200+k)))
			}
			texts = append(texts, local.Text{ID: fmt.Sprint(i), Text: b.String()})
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		local.Analyse("narrative_coherence", texts)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	taken(1) // what is made once
	few, many := taken(150), taken(600)
	t.Logf("150 texts: %d MB; 600: %d MB", few>>20, many>>20)
	if many > 5*few {
		t.Errorf("150 texts take %d MB, 600 take %d MB", few>>20, many>>20)
	}
}

func TestDeterministic(t *testing.T) {
	var texts []local.Text
	for _, kind := range ofThisFile {
		for i, p := range readPlanted(t, "fresh_*.jsonl")[kind] {
			for _, text := range p.texts() {
				text.ID = fmt.Sprint(kind, i, text.ID)
				texts = append(texts, text)
			}
		}
	}
	first := local.Analyse("full_synthesis", texts)
	if len(first) == 0 {
		t.Fatal("nothing is found")
	}
	checkFindings(t, texts, first)
	for range 3 {
		if !reflect.DeepEqual(local.Analyse("full_synthesis", texts), first) {
			t.Fatal("the same texts give other findings")
		}
	}
}

func FuzzAnalyse(f *testing.F) {
	for _, text := range []string{
		"Whenever my boss emails me I get anxious.", "User: I bottle it up\nAssistant: oh", "“I am” 'so.' terrified\xff of", "What if I fail?\n\nMy goal: a marathon by June",
		"the anger is getting stronger, honesty matters more to me than anything\u202e", "```\n>", "I see myself as a teacher; I am afraid I am becoming him",
	} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		texts := []local.Text{{ID: "1", Text: one}, {ID: "2", Text: two}, {ID: "3", Text: one + "\n" + two}}
		checkFindings(t, texts, local.Analyse("full_synthesis", texts))
	})
}
