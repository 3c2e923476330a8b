package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"time"
	"unicode"

	"github.com/helixd/helixd/reactors/outbound"
)

const (
	// mostWords is what is said in 14 hours, at 5 words a second.
	mostWords = 1 << 18
	// An answer may have so many bytes, and so many more for each second of audio.
	// Deepgram says each word three times, in 350 bytes.
	baseAnswer      = 1 << 20
	answerPerSecond = 4 << 10
	largestAnswer   = 64 << 20
	// longestAudio is longer than any: a time after it is not one.
	longestAudio = 7 * 24 * time.Hour
)

var (
	errNoTranscript = errors.New("it has no transcript")
	errWords        = fmt.Errorf("it has more than %d words", mostWords)
	errList         = errors.New("it has something else where a list belongs")
)

// seconds is how long the audio lasts at the most: helixd's own WAV has 32,000
// bytes a second, and nobody records speech with less than 500.
func (r Request) seconds() float64 {
	rate := 500.
	if r.ContentType == "audio/wav" {
		rate = 32_000
	}
	return float64(r.Size) / rate
}

// mostAnswer is the size of the largest answer that is read, in bytes.
func (r Request) mostAnswer() int64 {
	if r.URL != "" { // Size may not be known
		return largestAnswer
	}
	return int64(min(baseAnswer+answerPerSecond*r.seconds(), largestAnswer))
}

// tidy makes a valid Answer of one that was parsed: text for Postgres, numbers in
// their ranges. An answer that is paid for is not thrown away for one odd time.
func (a *Answer) tidy() {
	a.Transcript = strings.TrimSpace(plain(a.Transcript))
	a.Confidence = unit(a.Confidence)
	a.Language = tag(a.Language)
	a.RequestID = outbound.Printable(a.RequestID, 128)
	kept := a.Words[:0]
	for _, w := range a.Words {
		if w.Word = strings.TrimSpace(plain(w.Word)); w.Word == "" {
			continue
		}
		w.Start = clamp(w.Start, 0, longestAudio.Seconds())
		w.End = clamp(w.End, w.Start, longestAudio.Seconds())
		w.Confidence = unit(w.Confidence)
		kept = append(kept, w)
	}
	a.Words = kept
}

// duration reads seconds; 0: that cannot be.
func duration(seconds float64) time.Duration {
	if !(seconds > 0 && seconds <= longestAudio.Seconds()) {
		return 0
	}
	return time.Duration(seconds * float64(time.Second))
}

func unit(confidence *float64) *float64 {
	if confidence == nil || math.IsNaN(*confidence) {
		return nil
	}
	c := clamp(*confidence, 0, 1)
	return &c
}

// clamp gives the end of the range that x is outside of; NaN is below.
func clamp(x, least, most float64) float64 {
	if !(x > least) {
		return least
	}
	return min(x, most)
}

// plain takes out what Postgres does not store, NUL, and other control characters
// but for lines and tabs.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// elements reads a JSON array one by one: 64 MB of "{}," must not become a
// hundred times as much in memory. null is an empty one.
func elements[T any](array []byte) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		d := json.NewDecoder(bytes.NewReader(array))
		switch begin, err := d.Token(); {
		case err != nil:
			yield(none, err)
			return
		case begin == nil:
			return
		case begin != json.Delim('['):
			yield(none, errList)
			return
		}
		for d.More() {
			var e T
			if err := d.Decode(&e); err != nil {
				yield(none, err)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// first is the first element of a JSON array; nil: it has none.
type first[T any] struct{ element *T }

func (f *first[T]) UnmarshalJSON(array []byte) error {
	for e, err := range elements[T](array) {
		if err != nil {
			return err
		}
		f.element = &e
		break
	}
	return nil
}

// words is a JSON array of at most mostWords words: Deepgram's, Whisper's, or
// those of faster-whisper's servers, which have a probability.
type words []Word

func (ws *words) UnmarshalJSON(array []byte) error {
	for w, err := range elements[struct {
		Word        string   `json:"word"`
		Punctuated  string   `json:"punctuated_word"`
		Start       float64  `json:"start"`
		End         float64  `json:"end"`
		Confidence  *float64 `json:"confidence"`
		Probability *float64 `json:"probability"`
	}](array) {
		switch {
		case err != nil:
			return err
		case len(*ws) == mostWords:
			return errWords
		case w.Punctuated != "": // as it is in the transcript
			w.Word = w.Punctuated
		}
		if w.Confidence == nil {
			w.Confidence = w.Probability
		}
		*ws = append(*ws, Word{Word: w.Word, Start: w.Start, End: w.End, Confidence: w.Confidence})
	}
	return nil
}
