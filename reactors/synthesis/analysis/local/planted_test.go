package local_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/synthesis/analysis/local"
)

// planted is a conversation with a pattern that somebody planted, or with none.
type planted struct {
	Case   string
	Type   string
	Expect struct{ Evidence []string }
	Texts  []struct {
		ID        string
		Text      string
		Timestamp time.Time
		Valence   *float64
	}
}

func (p planted) texts() []local.Text {
	var texts []local.Text
	for _, t := range p.Texts {
		texts = append(texts, local.Text{ID: t.ID, Text: t.Text, Time: t.Timestamp, Valence: t.Valence})
	}
	return texts
}

// readPlanted gives the cases of files by their type. With the race detector all of
// them would take minutes, and find no more than some.
func readPlanted(t testing.TB, pattern string) map[string][]planted {
	t.Helper()
	if raceEnabled && !strings.HasPrefix(pattern, "fresh") {
		return nil
	}
	files, err := filepath.Glob(filepath.Join("testdata", "planted", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files of %s, %v", len(files), pattern, err)
	}
	cases := map[string][]planted{}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<22)
		for lines.Scan() {
			var p planted
			if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			cases[p.Type] = append(cases[p.Type], p)
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return cases
}

// cited gives the ids that findings of a type cite.
func cited(found []local.Finding, kind string) []string {
	var ids []string
	for _, f := range found {
		if f.Type == kind {
			ids = append(ids, f.Evidence...)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// foundIn says whether a planted pattern was found: texts that show it are cited, at
// least half of them, and no others.
func foundIn(p planted, found []local.Finding) bool {
	ids := cited(found, p.Type)
	right := 0
	for _, id := range ids {
		if slices.Contains(p.Expect.Evidence, id) {
			right++
		}
	}
	return right > 0 && right == len(ids) && 2*right >= len(p.Expect.Evidence)
}

// TestPlanted counts what is found of the planted patterns, type by type, and that
// nothing is found where nothing was planted.
func TestPlanted(t *testing.T) {
	for _, set := range []string{"own", "dev", "held", "fresh"} {
		all := readPlanted(t, set+"_*.jsonl")
		for _, kind := range ofThisFile {
			cases := all[kind]
			n, texts, right := 0, 0, 0
			for _, p := range cases {
				found := local.Analyse("full_synthesis", p.texts())
				if foundIn(p, found) {
					n++
				} else {
					t.Logf("%s: cites %v, want %v", p.Case, cited(found, kind), p.Expect.Evidence)
				}
				texts += len(p.Expect.Evidence)
				for _, id := range cited(found, kind) {
					if slices.Contains(p.Expect.Evidence, id) {
						right++
					}
				}
			}
			if len(cases) == 0 {
				continue
			}
			t.Logf("%s %s: found %d of %d; of their texts %d of %d", set, kind, n, len(cases), right, texts)
			if 10*n < 8*len(cases) {
				t.Errorf("%s %s: found %d of %d", set, kind, n, len(cases))
			}
		}
		for _, p := range all["none"] {
			for _, f := range local.Analyse("full_synthesis", p.texts()) {
				if slices.Contains(ofThisFile, f.Type) {
					t.Errorf("%s: %s %q, %v", p.Case, f.Type, f.Description, f.Evidence)
				}
			}
		}
	}
}

var ofThisFile = []string{"trigger", "regulation", "intensity", "topic_emotion", "goal", "feared_outcome", "possible_self", "value"}
