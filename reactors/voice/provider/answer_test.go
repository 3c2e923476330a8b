package provider_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/voice/provider"
	"github.com/helixd/helixd/reactors/voice/provider/providertest"
)

// deepgramBody is a documented answer around words, which are JSON.
func deepgramBody(transcript, words string) string {
	return fmt.Sprintf(`{"metadata":{"request_id":"r","duration":2.5},"results":{"channels":[{"alternatives":[{"transcript":%s,"confidence":0.9,"words":%s}],"detected_language":"en"}]}}`, transcript, words)
}

func TestGarbage(t *testing.T) {
	// Bodies of a 200 that are no answers of either.
	for name, body := range map[string]string{
		"nothing": "", "spaces": "   ", "HTML": "<html>Sign in to the network</html>", "text": "hello", "a number": "7", "null": "null", "a string": `"hello"`, "an array": "[]", "an object": "{}",
		"truncated":              `{"text":"a","results":{"channels":[{"alternatives":[{"transc`,
		"two answers":            deepgramBody(`"a"`, "[]") + `{"text":"a"}`,
		"NaN":                    `{"text":"a","duration":NaN}`,
		"Infinity":               `{"text":"a","words":[{"word":"a","start":Infinity}]}`,
		"a number of 1e999":      `{"text":"a","words":[{"word":"a","start":1e999,"end":1}],"results":{"channels":[{"alternatives":[{"transcript":"a","words":[{"word":"a","start":1e999}]}]}]}}`,
		"a null":                 `{"text":null,"results":null}`,
		"null in it":             `{"results":{"channels":[null]}}`,
		"no channel":             `{"results":{"channels":[]}}`,
		"no alternative":         `{"results":{"channels":[{"alternatives":[]}]}}`,
		"no transcript":          `{"results":{"channels":[{"alternatives":[{"confidence":1}]}]}}`,
		"a transcript of 7":      `{"text":7,"results":{"channels":[{"alternatives":[{"transcript":7}]}]}}`,
		"words that are none":    `{"text":"a","words":7,"results":{"channels":[{"alternatives":[{"transcript":"a","words":{"a":1}}]}]}}`,
		"a word of a number":     `{"text":"a","words":[{"word":7}],"results":{"channels":[{"alternatives":[{"transcript":"a","words":[{"word":7}]}]}]}}`,
		"a time in words":        `{"text":"a","words":[{"word":"a","start":"one"}],"results":{"channels":[{"alternatives":[{"transcript":"a","words":[{"word":"a","start":"one"}]}]}]}}`,
		"10,001 arrays":          strings.Repeat("[", 10_001),
		"the request's own keys": `{"err_code":"x","err_msg":"y"}`,
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, p provider.Provider, s *providertest.Server) {
				s.Script(providertest.Step{Body: []byte(body)})
				a, err := p.Transcribe(within(t), request(wav(0.1, 1)))
				if err == nil {
					t.Fatalf("it is taken for %+v", a)
				}
				if e := refusal(t, err); e.Code != provider.BadAnswer || !e.Retry || !e.Sent || e.Status != 200 {
					t.Errorf("%+v", e)
				}
			})
		})
	}
	for name, step := range map[string]providertest.Step{
		"a gigabyte":              {Body: []byte(`{"text":"` + strings.Repeat("a", 1<<20)), Repeat: 1 << 10},
		"an endless one":          {Body: []byte(strings.Repeat(" ", 1<<16)), Repeat: -1},
		"one of a hundred hours":  {Body: []byte(`{"text":"` + strings.Repeat("a", provider.BaseAnswer+100_000) + `"}`)},
		"a million words":         {Body: []byte(strings.Replace(deepgramBody(`"a"`, "["+strings.Repeat("{},", 1_000_000)+"{}]"), "{", `{"text":"a",`, 1))},
		"a million nothings":      {Body: []byte(`{"text":"a","words":[` + strings.Repeat("0,", 500_000) + `0],"results":{"channels":[` + strings.Repeat("0,", 10) + `0]}}`)},
		"a million segments' own": {Body: []byte(`{"text":"a","segments":[{"words":[` + strings.Repeat("0,", 500_000) + `0]}],"results":{}}`)},
	} {
		t.Run(name+" is too much for the length of the audio", func(t *testing.T) {
			each(t, func(t *testing.T, p provider.Provider, s *providertest.Server) {
				s.Script(step)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, err := p.Transcribe(within(t), request(wav(0.1, 1)))
				runtime.ReadMemStats(&after)
				if e := refusal(t, err); e.Code != provider.BadAnswer {
					t.Errorf("%+v", e)
				}
				// The servers allocate as well; the answer itself may have 1 MB.
				if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<20 {
					t.Errorf("it took %d MB", grown>>20)
				}
			})
		})
	}
	t.Run("what is too much for a moment is not for a minute", func(t *testing.T) {
		each(t, func(t *testing.T, p provider.Provider, s *providertest.Server) {
			long := strings.Repeat("a", provider.BaseAnswer+100_000)
			s.Script(providertest.Step{Body: []byte(strings.Replace(deepgramBody(`"`+long+`"`, "[]"), "{", `{"text":"`+long+`",`, 1))})
			if a, err := p.Transcribe(within(t), request(wav(360, 1))); err != nil || a.Transcript != long {
				t.Errorf("%d characters, %v", len(a.Transcript), err)
			}
		})
	})
	t.Run("more words than anybody says are too many, however long the audio", func(t *testing.T) {
		many := "[" + strings.Repeat("null,", provider.MostWords) + "null]"
		for name, body := range map[string]string{"openai": `{"text":"a","words":` + many + `}`, "openai's segments": `{"text":"a","segments":[{"words":[null]},{"words":` + strings.TrimSuffix(many, ",null]") + `]}]}`} {
			if _, err := provider.OpenAIAnswer([]byte(body)); err == nil {
				t.Errorf("%s: they are taken", name)
			}
		}
		if _, err := provider.DeepgramAnswer([]byte(deepgramBody(`"a"`, many))); err == nil {
			t.Error("deepgram: they are taken")
		}
	})
}

func TestOddAnswers(t *testing.T) {
	number := func(f float64) *float64 { return &f }
	words := `[{"word":"hi","punctuated_word":"Hi,","start":-0.5,"end":0.25,"confidence":1.5},
		{"word":" b\u0000c\u0007 ","start":3,"end":1,"confidence":-2},{"word":"","start":1,"end":2},{"word":"\u0000","start":1,"end":2},
		{"word":"x\ud800y\xff","start":1e300,"end":1e308,"probability":0.5},null,{"word":"z"}]`
	want := []provider.Word{
		{Word: "Hi,", Start: 0, End: 0.25, Confidence: number(1)}, {Word: "bc", Start: 3, End: 3, Confidence: number(0)},
		{Word: "x\uFFFDy\uFFFD", Start: 7 * 24 * 3600, End: 7 * 24 * 3600, Confidence: number(0.5)}, {Word: "z"},
	}
	check := func(t *testing.T, a provider.Answer, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		valid(t, a)
		if a.Transcript != "a\nbc\uFFFD" {
			t.Errorf("transcript %q", a.Transcript)
		}
		if fmt.Sprint(len(a.Words)) != fmt.Sprint(len(want)) {
			t.Fatalf("%d words: %+v", len(a.Words), a.Words)
		}
		for i, w := range want {
			got := a.Words[i]
			if got.Word != w.Word || got.Start != w.Start || got.End != w.End || (got.Confidence == nil) != (w.Confidence == nil) || got.Confidence != nil && *got.Confidence != *w.Confidence {
				t.Errorf("word %d is %+v, and not %+v", i, got, w)
			}
		}
	}
	words = strings.ReplaceAll(words, `\xff`, "\xff")
	transcript := strings.ReplaceAll(`" a\nb\u0000c\xff "`, `\xff`, "\xff")
	t.Run("of Deepgram are made valid", func(t *testing.T) {
		a, err := provider.DeepgramAnswer([]byte(deepgramBody(transcript, words)))
		check(t, a, err)
		if a.Duration != 2500*time.Millisecond || a.RequestID != "r" || a.Language != "en" || *a.Confidence != 0.9 {
			t.Errorf("%+v", a)
		}
	})
	t.Run("of OpenAI are made valid", func(t *testing.T) {
		a, err := provider.OpenAIAnswer([]byte(`{"text":` + transcript + `,"language":"german","duration":"8.5","words":` + words + `}`))
		check(t, a, err)
		if a.Duration != 8500*time.Millisecond || a.Language != "de" || a.Confidence != nil {
			t.Errorf("%+v", a)
		}
	})
	t.Run("of faster-whisper have words in their segments", func(t *testing.T) {
		a, err := provider.OpenAIAnswer([]byte(`{"text":` + transcript + `,"segments":[{"start":0,"end":1,"words":[]},{"start":1,"end":2,"words":` + words + `}]}`))
		check(t, a, err)
	})
	t.Run("weigh the confidence of segments by their length", func(t *testing.T) {
		a, err := provider.OpenAIAnswer([]byte(`{"text":"a","segments":[{"start":0,"end":9,"avg_logprob":0},{"start":9,"end":10,"avg_logprob":-1000},{"start":10,"end":99}]}`))
		if err != nil || a.Confidence == nil || *a.Confidence < 0.899 || *a.Confidence > 0.901 {
			t.Errorf("%v, %v", a.Confidence, err)
		}
	})
	t.Run("of silence are answers", func(t *testing.T) {
		for _, parse := range []func() (provider.Answer, error){
			func() (provider.Answer, error) { return provider.DeepgramAnswer([]byte(deepgramBody(`""`, "[]"))) },
			func() (provider.Answer, error) { return provider.OpenAIAnswer([]byte(`{"text":""}`)) },
		} {
			if a, err := parse(); err != nil || a.Transcript != "" || len(a.Words) > 0 {
				t.Errorf("%+v, %v", a, err)
			}
		}
	})
	t.Run("have durations that can be, or none", func(t *testing.T) {
		for text, want := range map[string]time.Duration{"-1": 0, "0": 0, "1e300": 0, "1e-300": 0, `"inf"`: 0, "1.5": 1500 * time.Millisecond, "null": 0, "700000": 0} {
			a, err := provider.OpenAIAnswer([]byte(`{"text":"a","duration":` + text + `}`))
			if err != nil || a.Duration != want {
				t.Errorf("%s is %v, %v", text, a.Duration, err)
			}
		}
	})
	t.Run("have languages by tag", func(t *testing.T) {
		for text, want := range map[string]string{"english": "en", "English": "en", "en": "en", "haitian creole": "ht", "javanese": "jv", "cantonese": "yue", "": "", "no such\\u0000": "", "klingonian-language": ""} {
			a, err := provider.OpenAIAnswer([]byte(`{"text":"a","language":"` + text + `"}`))
			if err != nil || a.Language != want {
				t.Errorf("%q is %q, %v", text, a.Language, err)
			}
		}
	})
}
