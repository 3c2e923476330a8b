package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/helixd/helixd/reactors/outbound"
)

const (
	// openAIMostBytes is documented: 25 MB, of which the other parts of the form
	// need some.
	openAIMostBytes = 25<<20 - formBytes
	formBytes       = 4 << 10
)

// OpenAI is https://platform.openai.com/docs/api-reference/audio/createTranscription,
// and the many servers that speak the same.
type OpenAI struct {
	endpoint *endpoint
	model    string
	// terse says that the model does not know verbose_json, as the gpt-4o ones do not.
	terse atomic.Bool
}

// NewOpenAI makes one. Without a model it is whisper-1.
func NewOpenAI(o Options) *OpenAI {
	p := &OpenAI{model: o.Model}
	if p.model == "" {
		p.model = "whisper-1"
	}
	p.endpoint = newEndpoint(o, endpoint{Service: outbound.Service{Name: "openai", KeySetting: "HELIX_VOICE_KEY"}, scheme: "Bearer"}, "https://api.openai.com/v1", "/audio/transcriptions")
	return p
}

// Name is "openai" and the model.
func (p *OpenAI) Name() string { return "openai " + p.model }

// MostBytes is OpenAI's limit. Servers that have another are not asked for it.
func (p *OpenAI) MostBytes() int64 { return openAIMostBytes }

// MostDuration is 0: WAV of MostBytes lasts 13 minutes, which every model takes.
func (p *OpenAI) MostDuration() time.Duration { return 0 }

// TakesURL is false.
func (p *OpenAI) TakesURL() bool { return false }

// Transcribe implements Provider. What a model that refuses verbose_json is asked
// next it is asked without: also this, which the caller counts as another request.
func (p *OpenAI) Transcribe(ctx context.Context, r Request) (Answer, error) {
	r.URL = ""
	if err := p.endpoint.check(r, p.MostBytes()); err != nil {
		return Answer{}, err
	}
	terse := p.terse.Load()
	a, err := p.ask(ctx, r, terse)
	var refused *Error
	if errors.As(err, &refused) && refusesVerbose(refused) && !terse {
		p.terse.Store(true)
		refused.Code, refused.Retry = BadAnswer, true
		refused.Message = "openai's model " + p.model + " tells no times of words; it is asked again without them"
	}
	return a, err
}

func (p *OpenAI) ask(ctx context.Context, r Request, terse bool) (Answer, error) {
	audio, failure := p.endpoint.open(r)
	if failure != nil {
		return Answer{}, failure
	}
	body, contentType, err := p.form(r, audio, terse)
	if err != nil {
		audio.Close() // nothing was read
		return Answer{}, &Error{Code: Rejected, Message: "the request to openai cannot be made"}
	}
	said, header, err := p.endpoint.ask(ctx, r, url.Values{}, contentType, body)
	if err != nil {
		return Answer{}, err
	}
	a, err := openAIAnswer(said)
	if err != nil {
		return Answer{}, p.endpoint.Unreadable(err, header)
	}
	a.RequestID = p.endpoint.Identify("", header)
	return a, nil
}

// form streams the audio between the two ends of a multipart form.
func (p *OpenAI) form(r Request, audio io.ReadCloser, terse bool) (*upload, string, error) {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	fields := [][2]string{{"model", p.model}}
	if language := shortLanguage(r.Language); language != "" {
		fields = append(fields, [2]string{"language", language})
	}
	if terse {
		fields = append(fields, [2]string{"response_format", "json"})
	} else {
		fields = append(fields, [2]string{"response_format", "verbose_json"},
			[2]string{"timestamp_granularities[]", "word"}, [2]string{"timestamp_granularities[]", "segment"})
	}
	for _, f := range fields {
		if err := w.WriteField(f[0], f[1]); err != nil {
			return nil, "", err
		}
	}
	// The audio is the last part, so that a server may refuse what it read before.
	if _, err := w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {fmt.Sprintf(`form-data; name="file"; filename=%q`, fileName(r.ContentType))},
		"Content-Type":        {mediaType(r.ContentType)},
	}); err != nil {
		return nil, "", err
	}
	begin := form.Len()
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	head, tail := form.Bytes()[:begin], form.Bytes()[begin:]
	whole := io.MultiReader(bytes.NewReader(head), audio, bytes.NewReader(tail))
	return newUpload(whole, audio, r.Size+int64(form.Len())), w.FormDataContentType(), nil
}

// refusesVerbose reports whether a 400 is about the format of the answer, in
// OpenAI's words or vLLM's.
func refusesVerbose(e *Error) bool {
	return (e.Status == http.StatusBadRequest || e.Status == http.StatusUnprocessableEntity) && e.Names("response_format", "verbose_json", "timestamp_granularities")
}

// openAIAnswer reads the body of a 200: {text}, or {text, language, duration,
// words, segments}.
func openAIAnswer(body []byte) (Answer, error) {
	var said struct {
		Text     *string  `json:"text"`
		Language string   `json:"language"`
		Duration number   `json:"duration"`
		Words    words    `json:"words"`
		Segments segments `json:"segments"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		return Answer{}, err
	}
	if said.Text == nil {
		return Answer{}, errNoTranscript
	}
	a := Answer{Transcript: *said.Text, Confidence: said.Segments.confidence(), Words: said.Words,
		Language: whisperLanguage(said.Language), Duration: duration(float64(said.Duration))}
	if len(a.Words) == 0 {
		a.Words = said.Segments.words
	}
	a.tidy()
	return a, nil
}

// number is one in JSON, or one in a string, as OpenAI's first answers had it.
type number float64

func (n *number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	f, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	*n = number(f)
	if err != nil || math.IsNaN(f) {
		return &json.UnmarshalTypeError{Value: "duration"}
	}
	return nil
}

// segments is a JSON array of Whisper's segments, summed up.
type segments struct {
	likelihood, length float64 // Σ exp(avg_logprob) · length, and Σ length
	words              words   // faster-whisper's servers have them here
}

func (s *segments) UnmarshalJSON(array []byte) error {
	for e, err := range elements[struct {
		Start      float64  `json:"start"`
		End        float64  `json:"end"`
		AvgLogprob *float64 `json:"avg_logprob"`
		Words      words    `json:"words"`
	}](array) {
		if err != nil {
			return err
		}
		if length := clamp(e.End-e.Start, 0.01, longestAudio.Seconds()); e.AvgLogprob != nil {
			s.likelihood += math.Exp(min(*e.AvgLogprob, 0)) * length
			s.length += length
		}
		if len(s.words)+len(e.Words) > mostWords {
			return errWords
		}
		s.words = append(s.words, e.Words...)
	}
	return nil
}

// confidence is the mean probability of a token; nil: not told.
func (s *segments) confidence() *float64 {
	if s.length == 0 {
		return nil
	}
	c := s.likelihood / s.length
	return &c
}
