package provider_test

import (
	"encoding/json"
	"testing"

	"github.com/helixd/helixd/reactors/voice/provider"
)

// FuzzDeepgramAnswer: whatever the body of a 200 is, it is an error or an Answer
// that can be stored.
func FuzzDeepgramAnswer(f *testing.F) {
	for _, body := range []string{
		`{"metadata":{"transaction_key":"deprecated","request_id":"00000000-0000-4000-8000-000000000001","sha256":"ab","created":"2026-01-01T00:00:00.000Z","duration":25.933313,"channels":1,"models":["m"],"model_info":{"m":{"name":"general-nova-3","version":"2024-12-20.0","arch":"nova-3"}}},"results":{"channels":[{"alternatives":[{"transcript":"Yeah. As much as it's worth.","confidence":0.99902344,"words":[{"word":"yeah","start":0.08,"end":0.32,"confidence":0.9975586,"punctuated_word":"Yeah."}],"paragraphs":{"transcript":"\nYeah.","paragraphs":[{"sentences":[{"text":"Yeah.","start":0.08,"end":0.32}],"num_words":1,"start":0.08,"end":0.32}]}}],"detected_language":"en","language_confidence":0.99}],"utterances":[{"start":0.08,"end":0.32,"confidence":0.99,"channel":0,"transcript":"Yeah.","words":[],"id":"u"}]}}`,
		deepgramBody(`"a\u0000\ud800"`, `[{"word":"a","start":-1,"end":1e308,"confidence":7},null,{}]`),
		deepgramBody(`""`, `null`), deepgramBody(`null`, `[]`), `{"results":{"channels":[null]}}`, `{"err_code":"x"}`, `<html>`, `{"results":{"channels":[{"alternatives":[{"transcript":"a"},7]},7]}}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) { stored(t, body, provider.DeepgramAnswer) })
}

// FuzzOpenAIAnswer: as FuzzDeepgramAnswer.
func FuzzOpenAIAnswer(f *testing.F) {
	for _, body := range []string{
		`{"task":"transcribe","language":"english","duration":8.470000267028809,"text":"The beach was a popular spot.","words":[{"word":"The","start":0.0,"end":0.23999999463558197}],"segments":[{"id":0,"seek":0,"start":0.0,"end":3.319999933242798,"text":" The beach was a popular spot.","tokens":[50364,440,7534],"temperature":0.0,"avg_logprob":-0.2860786020755768,"compression_ratio":1.2363636493682861,"no_speech_prob":0.00985979475080967}],"usage":{"type":"duration","seconds":9}}`,
		`{"text":"a\u0000\ud800","duration":"8.47","language":"haitian creole","words":[{"word":" a","start":-1,"end":1e308,"probability":7},null,{}]}`,
		`{"text":"a","segments":[{"start":5,"end":1,"avg_logprob":900,"words":[{"word":"b"}]},null]}`, `{"text":""}`, `{"text":null}`, `{"error":{"message":"x"}}`, `{"text":"a","duration":"NaN"}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) { stored(t, body, provider.OpenAIAnswer) })
}

// stored writes an answer as the database gets it, and reads it back.
func stored(t *testing.T, body []byte, parse func([]byte) (provider.Answer, error)) {
	a, err := parse(body)
	if err != nil {
		return
	}
	valid(t, a)
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var again provider.Answer
	if err := json.Unmarshal(text, &again); err != nil || again.Transcript != a.Transcript || len(again.Words) != len(a.Words) {
		t.Fatalf("%s is read back as %+v, %v", text, again, err)
	}
}
