package phrase_test

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/synthesis/phrase"
)

// intents reads the sentences of the intents data by label, those out of scope left out.
func intents(t testing.TB) (labels []string, texts [][]string) {
	t.Helper()
	f, err := os.Open("../testdata/intents/intents.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	by := map[string][]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var row struct{ Text, Label string }
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		if row.Label != "oos" {
			by[row.Label] = append(by[row.Label], row.Text)
		}
	}
	for label := range by {
		labels = append(labels, label)
	}
	slices.Sort(labels)
	for _, label := range labels {
		texts = append(texts, by[label])
	}
	return labels, texts
}

// TestKeysNameIntents has the phrases of most intents contain a word of what people called it. That two words are forms
// of one is told without the package: the shorter one, less at most two letters, begins the other.
func TestKeysNameIntents(t *testing.T) {
	labels, texts := intents(t)
	if len(labels) != 40 {
		t.Fatalf("%d labels", len(labels))
	}
	named := 0
	for i, keys := range phrase.Keys(texts, 5) {
		var said []string
		found := false
		for _, key := range keys {
			said = append(said, key.Text)
			for _, word := range strings.Fields(strings.ToLower(key.Text)) {
				for part := range strings.SplitSeq(labels[i], "_") {
					found = found || akin(word, part)
				}
			}
		}
		t.Logf("%-24s %-5v %s", labels[i], found, strings.Join(said, " | "))
		if found {
			named++
		}
		if len(keys) == 0 || len(keys) > 5 {
			t.Errorf("%s: %d phrases", labels[i], len(keys))
		}
	}
	t.Logf("%d of %d labels are named", named, len(labels))
	if named*10 < len(labels)*8 {
		t.Errorf("%d of %d labels are named, less than 80%%", named, len(labels))
	}
}

// functional are words of labels which nearly every sentence could have.
var functional = []string{"do", "you", "have", "how", "old", "are", "what", "is", "your", "can", "i"}

func akin(a, b string) bool {
	if slices.Contains(functional, a) || slices.Contains(functional, b) {
		return false
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || len(a) >= 4 && strings.HasPrefix(b, a[:max(4, len(a)-2)])
}
