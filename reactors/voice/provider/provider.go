// Package provider asks speech recognisers for transcripts. Each Provider makes
// one HTTP request a call; a Client in front of it knows how many may be under
// way, when to ask again and when not to ask at all.
package provider

import (
	"context"
	"io"
	"time"

	"github.com/helixd/helixd/reactors/outbound"
)

// Provider is a recogniser.
type Provider interface {
	// Name goes into the rows, such as "deepgram nova-3".
	Name() string
	// MostBytes is the size of the largest body that it takes, and MostDuration the
	// longest audio; 0: any.
	MostBytes() int64
	MostDuration() time.Duration
	// TakesURL reports whether Request.URL may stand in for a body.
	TakesURL() bool
	// Transcribe makes one request, and reads Request.Open's audio no longer than it
	// runs. Its error is an *Error, or ctx's.
	Transcribe(ctx context.Context, r Request) (Answer, error)
}

// Request is one piece of audio.
type Request struct {
	// Open gives the audio from its start, each time: Size bytes of ContentType.
	Open        func() (io.ReadCloser, error)
	Size        int64
	ContentType string // "audio/wav", or that of the original bytes
	// URL, if it is not empty, is where the provider fetches the audio itself.
	URL string
	// Language is a BCP 47 tag, a hint; "" has it detected.
	Language string
	// Key is the same for each repetition of this request.
	Key string
	// Owner is whose recording it is. What one owner sends may be what fails.
	Owner string
}

// Answer is what was heard.
type Answer struct {
	Transcript string        `json:"transcript"`
	Confidence *float64      `json:"confidence,omitempty"` // 0..1
	Words      []Word        `json:"words,omitempty"`
	Language   string        `json:"language,omitempty"` // BCP 47, as it was detected
	Duration   time.Duration `json:"duration,omitempty"` // 0: not told
	RequestID  string        `json:"request_id,omitempty"`
}

// Word is one word and when it was said, in seconds from the start of the audio.
type Word struct {
	Word       string   `json:"word"`
	Start      float64  `json:"start"`
	End        float64  `json:"end"`
	Confidence *float64 `json:"confidence"` // null: not told
}

// Error is why there is no answer, and Code the code of it on a row.
type (
	Error = outbound.Error
	Code  = outbound.Code
)

// Codes of an Error, and whether they are retried.
const (
	Rejected        = outbound.Rejected        // 400 and the like: never
	Unauthorized    = outbound.Unauthorized    // 401, 403: never, until an operator mends it
	NotFound        = outbound.NotFound        // 404, 405: no such address or model; as above
	PaymentRequired = outbound.PaymentRequired // 402: all requests pause, and this one is made again
	TooLarge        = outbound.TooLarge        // 413: never
	RateLimited     = outbound.RateLimited     // 429: yes
	Unavailable     = outbound.Unavailable     // 408, 409, Deepgram's 422 (an interrupted upload), 5xx, network, time-out: yes
	BadAnswer       = outbound.BadAnswer       // 200 with what is no answer: yes
)
