package skills_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rs/zerolog"
	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/sandbox/wasm"
	"github.com/helixd/helixd/reactors/skills/javascript"
	"github.com/helixd/helixd/reactors/skills/schema"
	"github.com/helixd/helixd/reactors/skills/workflow"
)

func TestMain(m *testing.M) {
	if sandbox.IsChild() {
		os.Exit(sandbox.RunChild(map[string]sandbox.Guest{
			sandbox.KindWASM: wasm.Guest{}, sandbox.KindJavaScript: javascript.Guest{},
		}))
	}
	os.Exit(m.Run())
}

// row is what a skill.json holds.
type row struct {
	Name       string          `json:"name"`
	Kind       string          `json:"kind"`
	Parameters json.RawMessage `json:"parameters"`
	Steps      json.RawMessage `json:"steps"`
}

func TestWordcount(t *testing.T) {
	skills := newSkills(t)
	for name, c := range map[string]struct{ input, want string }{
		"words are counted without their case": {`{"text":"To be, or not to be.","top":2}`,
			`{"words":6,"unique":4,"characters":20,"sentences":1,"top":[{"word":"be","count":2},{"word":"to","count":2}]}`},
		"no text has no words": {`{"text":""}`, `{"words":0,"unique":0,"characters":0,"sentences":0,"top":[]}`},
		"an apostrophe is inside a word": {`{"top":1,"text":"Don't! 'Quoted'"}`,
			`{"words":2,"unique":2,"characters":15,"sentences":2,"top":[{"word":"don't","count":1}]}`},
		"escapes are read": {`{"text":"a\nb\t\u00e9\ud83d\ude00 \"c\"","top":1}`,
			`{"words":4,"unique":4,"characters":10,"sentences":1,"top":[{"word":"a","count":1}]}`},
		"what it does not know is passed over": {`{"x":[{"text":"no"},"]",null,-1.5e3],"text":"yes","y":{"top":5},"top":1}`,
			`{"words":1,"unique":1,"characters":3,"sentences":1,"top":[{"word":"yes","count":1}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := skills.run(t, "wordcount", c.input); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestWordcountIsWhatItsBuildMakes(t *testing.T) {
	script, err := os.ReadFile("wordcount/build.sh")
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile("wordcount/wordcount.wasm")
	if err != nil {
		t.Fatal(err)
	}
	if sum := fmt.Sprintf("sum=%x\n", sha256.Sum256(module)); !strings.Contains(string(script), sum) {
		t.Errorf("build.sh does not say %s", sum)
	}
	if len(module) > 50<<10 {
		t.Errorf("it has %d bytes", len(module))
	}
}

func TestWordcountCountsWhatGoCounts(t *testing.T) {
	skills := newSkills(t)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("aAb1 .,!'\n\"\\/\u0001é€😀")), 0, 300, -1).Draw(t, "text")
		input, err := json.Marshal(map[string]any{"before": map[string]string{"text": text}, "text": text, "top": 3})
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Words, Unique, Characters int }
		if err := json.Unmarshal([]byte(skills.run(t, "wordcount", string(input))), &got); err != nil {
			t.Fatal(err)
		}
		lower := strings.Map(func(r rune) rune {
			if 'A' <= r && r <= 'Z' {
				return r + 'a' - 'A'
			}
			return r
		}, text)
		letter := func(r rune) bool {
			return r >= utf8.RuneSelf || 'a' <= r && r <= 'z' || '0' <= r && r <= '9'
		}
		words, unique := 0, map[string]bool{}
		for _, part := range strings.FieldsFunc(lower, func(r rune) bool { return !letter(r) && r != '\'' }) {
			// An apostrophe counts between letters only; two of them part words.
			for _, word := range apart(part) {
				words++
				unique[word] = true
			}
		}
		if got.Words != words || got.Unique != len(unique) || got.Characters != utf8.RuneCountInString(text) {
			t.Errorf("got %+v, want %d words, %d of them different, in %d characters", got, words, len(unique), utf8.RuneCountInString(text))
		}
	})
}

// apart cuts a run of letters and apostrophes into words.
func apart(run string) []string {
	var words []string
	for word := range strings.SplitSeq(run, "''") {
		// Of more than two, one may be left at an end.
		if word = strings.Trim(word, "'"); word != "" {
			words = append(words, word)
		}
	}
	return words
}

func TestStreak(t *testing.T) {
	skills := newSkills(t)
	for _, c := range []struct{ name, date, want string }{
		{"the first day begins it", "2028-02-27", `{"habit":"writing","days":1,"best":1,"last":"2028-02-27","counted":true}`},
		{"the next day goes on", "2028-02-28", `{"habit":"writing","days":2,"best":2,"last":"2028-02-28","counted":true}`},
		{"the same day counts once", "2028-02-28", `{"habit":"writing","days":2,"best":2,"last":"2028-02-28","counted":false}`},
		{"a leap day is a day", "2028-02-29", `{"habit":"writing","days":3,"best":3,"last":"2028-02-29","counted":true}`},
		{"a month ends", "2028-03-01", `{"habit":"writing","days":4,"best":4,"last":"2028-03-01","counted":true}`},
		{"a day left out begins anew", "2028-03-03", `{"habit":"writing","days":1,"best":4,"last":"2028-03-03","counted":true}`},
		{"a day of the past changes nothing", "2028-03-01", `{"habit":"writing","days":1,"best":4,"last":"2028-03-03","counted":false}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := skills.run(t, "streak", fmt.Sprintf(`{"habit":"writing","date":%q}`, c.date)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	t.Run("what is no day is refused", func(t *testing.T) {
		_, err := skills.call(t.Context(), "streak", []byte(`{"habit":"writing","date":"2028-13-01"}`))
		var known *sandbox.Error
		if !errors.As(err, &known) || known.Code != sandbox.Exception || !strings.Contains(known.Message, "2028-13-01 is not a day") {
			t.Errorf("got %v", err)
		}
	})
}

func TestJournal(t *testing.T) {
	skills := newSkills(t)
	steps, err := workflow.Parse(skills.rows["journal"].Steps, workflow.Options{})
	if err != nil {
		t.Fatal(err)
	}
	run := func(t *testing.T, entry, date string) (string, []workflow.StepResult) {
		t.Helper()
		input, err := json.Marshal(map[string]string{"entry": entry, "date": date})
		if err != nil {
			t.Fatal(err)
		}
		var results []workflow.StepResult
		output, err := steps.Run(t.Context(), workflow.Run{
			ID: "run", Input: input, Tools: skills, Now: time.Now, Rand: rand.New(rand.NewPCG(1, 2)),
			OnStep: func(r workflow.StepResult) error { results = append(results, r); return nil },
			Sleep:  func(context.Context, time.Duration) error { return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(output), results
	}
	entry := strings.Repeat("The river was high, the boats were loud. ", 3)
	t.Run("an entry counts", func(t *testing.T) {
		output, _ := run(t, entry, "2028-03-01")
		same(t, output, `{"words":24,"favourites":["the","boats","high"],"streak":1}`)
	})
	t.Run("a few words do not", func(t *testing.T) {
		output, results := run(t, "Nothing today.", "2028-03-02")
		if !results[1].Skipped {
			t.Errorf("the second step: %+v", results[1])
		}
		same(t, output, `{"words":2,"favourites":["nothing","today"],"streak":null}`)
	})
	t.Run("a step that fails is tried again", func(t *testing.T) {
		skills.shelf.fail("kv.set", 2)
		output, results := run(t, entry, "2028-03-02")
		if results[1].RetriesUsed != 2 {
			t.Errorf("retries: %+v", results[1])
		}
		same(t, output, `{"words":24,"favourites":["the","boats","high"],"streak":2}`)
	})
}

// same compares JSON.
func same(t *testing.T, got, want string) {
	t.Helper()
	var g, w any
	if err := errors.Join(json.Unmarshal([]byte(got), &g), json.Unmarshal([]byte(want), &w)); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(g) != fmt.Sprint(w) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// skills are the examples in a sandbox.
type skills struct {
	pool     *sandbox.Pool
	shelf    *shelf
	rows     map[string]row
	programs map[string]sandbox.Program
	schemas  map[string]*schema.Schema
}

func newSkills(t *testing.T) *skills {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} { // a child is of another user
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	pool, err := sandbox.NewPool(t.Context(), sandbox.Config{Dir: dir, Workers: 2, Limits: sandbox.DefaultLimits, Log: zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.WarnLevel)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &skills{pool: pool, shelf: &shelf{values: map[string]json.RawMessage{}, failing: map[string]int{}},
		rows: map[string]row{}, programs: map[string]sandbox.Program{}, schemas: map[string]*schema.Schema{}}
	for _, name := range []string{"wordcount", "streak", "journal"} {
		text, err := os.ReadFile(filepath.Join(name, "skill.json"))
		if err != nil {
			t.Fatal(err)
		}
		var r row
		if err := json.Unmarshal(text, &r); err != nil || r.Name != name {
			t.Fatalf("%s: its name is %q: %v", name, r.Name, err)
		}
		s.rows[name] = r
		if s.schemas[name], err = schema.Compile(r.Parameters); err != nil {
			t.Fatalf("%s: its parameters: %v", name, err)
		}
		if file, ok := map[string]string{sandbox.KindWASM: name + ".wasm", sandbox.KindJavaScript: name + ".js"}[r.Kind]; ok {
			code, err := os.ReadFile(filepath.Join(name, file))
			if err != nil {
				t.Fatal(err)
			}
			s.programs[name] = sandbox.Program{Kind: r.Kind, SHA256: sha256.Sum256(code),
				Code: func(_ context.Context, write func([]byte) error) error { return write(code) }}
			// As helixd does before a skill runs: compiling is none of a step's time.
			if _, err := pool.Check(t.Context(), "somebody", s.programs[name]); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	return s
}

// Call serves a step.
func (s *skills) Call(ctx context.Context, ref workflow.Ref, input json.RawMessage, _ string) (json.RawMessage, error) {
	if ref.Kind != workflow.KindSkill {
		return nil, fmt.Errorf("%s is no skill", ref.Name)
	}
	output, err := s.call(ctx, ref.Name, input)
	var known *sandbox.Error
	if errors.As(err, &known) {
		return nil, &workflow.Error{Code: string(known.Code), Message: known.Message}
	}
	return output, err
}

func (s *skills) call(ctx context.Context, name string, input []byte) ([]byte, error) {
	if err := s.schemas[name].Validate(input); err != nil {
		return nil, err
	}
	return s.invoke(ctx, name, input)
}

// invoke calls without asking the parameters' schema.
func (s *skills) invoke(ctx context.Context, name string, input []byte) ([]byte, error) {
	result, err := s.pool.Run(ctx, sandbox.Call{Tenant: "somebody", Program: s.programs[name], Input: input,
		Limits: sandbox.DefaultLimits, Now: time.Unix(1_800_000_000, 0), Host: s.shelf})
	return result.Output, err
}

// run invokes what must end well.
func (s *skills) run(t interface {
	Helper()
	Context() context.Context
	Fatal(...any)
}, name, input string) string {
	t.Helper()
	output, err := s.invoke(t.Context(), name, []byte(input))
	if err != nil {
		t.Fatal(err)
	}
	return string(output)
}

// shelf is a Host with the one store that the examples use.
type shelf struct {
	mu      sync.Mutex
	values  map[string]json.RawMessage
	failing map[string]int
}

// fail makes the next n calls of a name fail.
func (s *shelf) fail(name string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failing[name] = n
}

func (s *shelf) Call(_ context.Context, name string, request []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing[name] > 0 {
		s.failing[name]--
		return nil, errors.New("the database is away")
	}
	var r struct {
		Key   string
		Value json.RawMessage
	}
	if err := json.Unmarshal(request, &r); err != nil {
		return nil, err
	}
	switch name {
	case "kv.get":
		value := s.values[r.Key]
		if value == nil {
			value = json.RawMessage("null")
		}
		return json.Marshal(map[string]json.RawMessage{"value": value})
	case "kv.set":
		s.values[r.Key] = r.Value
		return []byte("{}"), nil
	}
	return nil, fmt.Errorf("host call %s", name)
}
