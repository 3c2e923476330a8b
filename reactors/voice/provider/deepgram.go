package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/url"
	"time"

	"github.com/helixd/helixd/reactors/outbound"
)

// deepgramMostBytes is documented: 2 GB.
const deepgramMostBytes = 2_000_000_000

// Deepgram is https://developers.deepgram.com/reference/speech-to-text/listen-pre-recorded.
type Deepgram struct {
	endpoint *endpoint
	model    string
}

// NewDeepgram makes one. Without a model it is nova-3: Deepgram's own default is
// an old one.
func NewDeepgram(o Options) *Deepgram {
	d := &Deepgram{model: o.Model}
	if d.model == "" {
		d.model = "nova-3"
	}
	d.endpoint = newEndpoint(o, endpoint{Service: outbound.Service{Name: "deepgram", KeySetting: "DEEPGRAM_API_KEY", Retry422: true}, scheme: "Token"}, "https://api.deepgram.com", "/listen")
	return d
}

// Name is "deepgram" and the model.
func (d *Deepgram) Name() string { return "deepgram " + d.model }

// MostBytes is Deepgram's limit.
func (d *Deepgram) MostBytes() int64 { return deepgramMostBytes }

// MostDuration is 0: Deepgram limits how long it works, not how long the audio is.
func (d *Deepgram) MostDuration() time.Duration { return 0 }

// TakesURL is true.
func (d *Deepgram) TakesURL() bool { return true }

// Transcribe implements Provider.
func (d *Deepgram) Transcribe(ctx context.Context, r Request) (Answer, error) {
	if err := d.endpoint.check(r, d.MostBytes()); err != nil {
		return Answer{}, err
	}
	body, contentType, failure := d.body(r)
	if failure != nil {
		return Answer{}, failure
	}
	said, header, err := d.endpoint.ask(ctx, r, d.query(r), contentType, body)
	if err != nil {
		return Answer{}, err
	}
	a, err := deepgramAnswer(said)
	if err != nil {
		return Answer{}, d.endpoint.Unreadable(err, header)
	}
	a.RequestID = d.endpoint.Identify(a.RequestID, header)
	return a, nil
}

func (d *Deepgram) query(r Request) url.Values {
	q := url.Values{"model": {d.model}, "smart_format": {"true"}, "punctuate": {"true"}, "paragraphs": {"true"}, "utterances": {"true"}}
	if language := tag(r.Language); language != "" {
		q.Set("language", language)
	} else {
		q.Set("detect_language", "true")
	}
	return q
}

// body is the audio, or where it is.
func (d *Deepgram) body(r Request) (*upload, string, *Error) {
	if r.URL != "" {
		text, err := json.Marshal(map[string]string{"url": r.URL})
		if err != nil {
			return nil, "", &Error{Code: Rejected, Message: "the address of the audio cannot be sent"}
		}
		return newUpload(bytes.NewReader(text), io.NopCloser(nil), int64(len(text))), "application/json", nil
	}
	audio, failure := d.endpoint.open(r)
	if failure != nil {
		return nil, "", failure
	}
	return newUpload(audio, audio, r.Size), mediaType(r.ContentType), nil
}

// deepgramAnswer reads the body of a 200. Audio that is not multichannel has one
// channel, with one alternative where no more are asked for.
func deepgramAnswer(body []byte) (Answer, error) {
	var said struct {
		Metadata struct {
			RequestID string  `json:"request_id"`
			Duration  float64 `json:"duration"`
		} `json:"metadata"`
		Results struct {
			Channels first[struct {
				Alternatives first[struct {
					Transcript *string  `json:"transcript"`
					Confidence *float64 `json:"confidence"`
					Words      words    `json:"words"`
				}] `json:"alternatives"`
				Detected string `json:"detected_language"`
			}] `json:"channels"`
		} `json:"results"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		return Answer{}, err
	}
	channel := said.Results.Channels.element
	if channel == nil || channel.Alternatives.element == nil || channel.Alternatives.element.Transcript == nil {
		return Answer{}, errNoTranscript
	}
	best := channel.Alternatives.element
	a := Answer{Transcript: *best.Transcript, Confidence: best.Confidence, Words: best.Words,
		Language: channel.Detected, Duration: duration(said.Metadata.Duration), RequestID: said.Metadata.RequestID}
	a.tidy()
	return a, nil
}
