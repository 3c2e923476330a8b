package llm_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/llm"
)

func TestEvents(t *testing.T) {
	type events []llm.Event
	for text, want := range map[string]events{
		"":                                          nil,
		"data: a\n\n":                               {{"", "a"}},
		"data:a\n\n":                                {{"", "a"}},
		"data:  a\n\n":                              {{"", " a"}},
		"data: a\ndata: b\n\n":                      {{"", "a\nb"}},
		"data\ndata\n\n":                            {{"", "\n"}},
		"data\n\n":                                  {{"", ""}},
		"\ufeffdata: a\n\n":                         {{"", "a"}},
		"data: \ufeffa\n\n":                         {{"", "\ufeffa"}},
		"event: e\ndata: a\n\n":                     {{"e", "a"}},
		"event: e\n\ndata: a\n\n":                   {{"", "a"}},
		"data: a\nevent: e\n\n":                     {{"e", "a"}},
		": comment\n\ndata: a\n\n":                  {{"", "a"}},
		"data: a\n: comment\n\n":                    {{"", "a"}},
		"data: a\r\n\r\ndata: b\r\n\r\n":            {{"", "a"}, {"", "b"}},
		"data: a\r\rdata: b\r\r":                    {{"", "a"}, {"", "b"}},
		"data: a\r\n\ndata: b\n\r\n":                {{"", "a"}, {"", "b"}},
		"data: a\n\r\ndata: b\r\n\r":                {{"", "a"}, {"", "b"}},
		"id: 1\nretry: 5\nfoo\nfoo: b\ndata: a\n\n": {{"", "a"}},
		"data: a: b\n\n":                            {{"", "a: b"}},
		"dat: a\n\n":                                nil,
		" data: a\n\n":                              nil,
		"data: a\n\n\n\n\ndata: b\n\n":              {{"", "a"}, {"", "b"}},
		"data: a\n\ndata: b\n":                      {{"", "a"}},
		"data: a\n\ndata: b":                        {{"", "a"}},
		"data: é🙂\n\n":                              {{"", "é🙂"}},
		"data: \xff\x00\n\n":                        {{"", "\xff\x00"}},
	} {
		got, err := llm.Events(strings.NewReader(text))
		if err != nil || !reflect.DeepEqual(events(got), want) {
			t.Errorf("%q is %q, %v", text, got, err)
		}
		got, err = llm.Events(iotest.OneByteReader(strings.NewReader(text)))
		if err != nil || !reflect.DeepEqual(events(got), want) {
			t.Errorf("%q in bytes is %q, %v", text, got, err)
		}
	}
	for name, text := range map[string]string{
		"line": "data: a\n\ndata: " + strings.Repeat("x", llm.MaxLine), "comment": "data: a\n\n:" + strings.Repeat("x", llm.MaxLine),
		"event":                "data: a\n\n" + strings.Repeat("data: "+strings.Repeat("x", 1000)+"\n", llm.MaxEvent/1000),
		"event of empty lines": "data: a\n\n" + strings.Repeat("data\n", llm.MaxEvent+1),
	} {
		got, err := llm.Events(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), "too long") || len(got) != 1 {
			t.Errorf("a long %s: %d events, %v", name, len(got), err)
		}
	}
	lost := errors.New("lost")
	if got, err := llm.Events(io.MultiReader(strings.NewReader("data: a\n\ndata"), iotest.ErrReader(lost))); !errors.Is(err, lost) || len(got) != 1 {
		t.Error(got, err)
	}
}

// TestEventsSplit: however a stream is split, its events are the same, and what is
// written is read.
func TestEventsSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var stream strings.Builder
		var want []llm.Event
		value := rapid.StringMatching(`[a-z:é🙂 \x00]{0,8}`)
		for range rapid.IntRange(0, 6).Draw(t, "events") {
			end := rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "end")
			var e llm.Event
			if rapid.Bool().Draw(t, "named") {
				e.Kind = value.Draw(t, "kind")
				stream.WriteString("event: " + e.Kind + end)
			}
			var lines []string
			for range rapid.IntRange(1, 4).Draw(t, "lines") {
				if rapid.Bool().Draw(t, "commented") {
					stream.WriteString(":" + value.Draw(t, "comment") + end)
				}
				lines = append(lines, value.Draw(t, "line"))
				stream.WriteString("data: " + lines[len(lines)-1] + end)
			}
			e.Data = strings.Join(lines, "\n")
			// An LF after a lone CR would belong to it.
			stream.WriteString(end + ":" + end)
			want = append(want, e)
		}
		got, err := llm.Events(&splits{rest: []byte(stream.String()), size: func() int { return rapid.IntRange(0, 5).Draw(t, "size") }})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %q, %v", stream.String(), got, err)
		}
	})
}

// splits reads pieces of any size, also empty ones.
type splits struct {
	rest []byte
	size func() int
}

func (s *splits) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), s.size())], s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func FuzzEvents(f *testing.F) {
	for _, seed := range []string{"data: a\n\n", "event: e\r\ndata: a\r\rdata\n\n", "\ufeff:\n\ndata: \xff\n\r\n", "data\n\n\ndata: b"} {
		f.Add([]byte(seed), uint8(3))
	}
	f.Fuzz(func(t *testing.T, stream []byte, size uint8) {
		whole, err := llm.Events(bytes.NewReader(stream))
		if err != nil && !strings.Contains(err.Error(), "too long") {
			t.Fatal(err)
		}
		split, err2 := llm.Events(&splits{rest: stream, size: func() int { return int(size%16) + 1 }})
		if !reflect.DeepEqual(whole, split) || (err == nil) != (err2 == nil) {
			t.Fatalf("%q, %v and %q, %v", whole, err, split, err2)
		}
		for _, e := range whole {
			if strings.ContainsAny(e.Kind, "\r\n") || strings.Contains(e.Data, "\r") {
				t.Fatalf("%q", e)
			}
		}
		// A stream of these events is read as them.
		var again strings.Builder
		for _, e := range whole {
			again.WriteString("event: " + e.Kind + "\ndata: " + strings.ReplaceAll(e.Data, "\n", "\ndata: ") + "\n\n")
		}
		if repeated, err := llm.Events(strings.NewReader(again.String())); err != nil || !reflect.DeepEqual(repeated, whole) {
			t.Fatalf("%q is read as %q, %v", whole, repeated, err)
		}
	})
}
