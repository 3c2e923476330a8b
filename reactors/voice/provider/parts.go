package provider

import (
	"math"
	"strings"

	"github.com/helixd/helixd/reactors/voice/wav"
)

// Parts are as few as p takes a recording in.
func Parts(p Provider, audio wav.Audio) ([]wav.Part, error) {
	most := int64(wav.MostSamples)
	if bytes := p.MostBytes(); bytes > 0 {
		most = min(most, (bytes-wav.HeaderBytes)/wav.SampleBytes)
	}
	if longest := p.MostDuration(); longest > 0 {
		most = min(most, int64(longest.Seconds()*wav.Rate))
	}
	return audio.Split(most)
}

// Join makes one answer of those to parts: times count from the beginning of the
// whole, confidence weighs by duration, and the language is that of most of it.
func Join(parts []wav.Part, answers []Answer) Answer {
	if len(parts) == 1 {
		return answers[0]
	}
	var whole Answer
	var texts []string
	var confidence, known float64
	spoken := map[string]int64{}
	for i, a := range answers {
		if a.Transcript != "" {
			texts = append(texts, a.Transcript)
		}
		if a.Confidence != nil {
			confidence += *a.Confidence * float64(parts[i].Samples())
			known += float64(parts[i].Samples())
		}
		if a.Language != "" {
			spoken[a.Language] += parts[i].Samples()
			if spoken[a.Language] > spoken[whole.Language] || whole.Language == "" {
				whole.Language = a.Language
			}
		}
		from := float64(parts[i].From) / wav.Rate
		for _, w := range a.Words {
			w.Start, w.End = milliseconds(w.Start+from), milliseconds(w.End+from)
			whole.Words = append(whole.Words, w)
		}
		whole.Duration += wav.Time(parts[i].Samples())
	}
	whole.Transcript = strings.Join(texts, " ")
	if known > 0 {
		mean := confidence / known
		whole.Confidence = &mean
	}
	return whole
}

// milliseconds rounds seconds to what providers tell, without a sum's digits.
func milliseconds(seconds float64) float64 { return math.Round(seconds*1000) / 1000 }
