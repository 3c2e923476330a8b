// Package decode turns a recording of any format into 16 kHz mono samples: the
// decoders and filters of FFmpeg, compiled to WebAssembly (build.sh), are a guest of
// package sandbox. The bytes stay in the daemon; the guest asks for what it reads.
package decode

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/helixd/helixd/reactors/sandbox"
)

// Rate is that of decoded audio, in samples a second: mono, 16 bits, signed,
// little endian.
const Rate = 16_000

// Kind is that of the decoder among the programs of a sandbox.
const Kind = sandbox.KindAudio

// Runner runs programs; sandbox.Pool is one.
type Runner interface {
	Run(ctx context.Context, call sandbox.Call) (sandbox.Result, error)
}

// Denoise is how much noise is taken away. Recognisers hear better with none.
type Denoise string

// Settings of Denoise, and the filters that they are.
const (
	Off      Denoise = "off"
	Highpass Denoise = "highpass" // highpass=f=80
	Light    Denoise = "light"    // highpass=f=80,afftdn=nr=6:tn=1
	Strong   Denoise = "strong"   // highpass=f=80,afftdn=nr=12:nf=-40:tn=1
)

// Input is what a recorder made, in whatever format.
type Input interface {
	io.ReaderAt
	Size() int64 // bytes
}

// Options say how one recording is decoded.
type Options struct {
	Tenant  string // whose recording it is: a child serves one in its life
	Denoise Denoise
	Longest time.Duration // of the audio; more of it is TooLong
}

// Info is what was found.
type Info struct {
	Container string        `json:"container"` // FFmpeg's names
	Codec     string        `json:"codec"`
	Rate      int           `json:"rate"` // of the source
	Channels  int           `json:"channels"`
	Samples   int64         `json:"samples"` // that were written, at Rate
	Packets   int64         `json:"packets"`
	Bad       int64         `json:"bad"` // packets and frames that could not be decoded
	CPU       time.Duration `json:"-"`
}

// Duration is that of the decoded audio.
func (i Info) Duration() time.Duration {
	return time.Duration(i.Samples) * time.Second / Rate
}

// Code says why a recording was not decoded.
type Code string

// Codes of an Error.
const (
	Empty       Code = "audio_empty"    // 0 bytes, or no sample in it
	Undecodable Code = "undecodable"    // no format that is known, no audio in it, or damaged from the start
	TooLong     Code = "audio_too_long" // longer than Options.Longest
	TooHard     Code = "decode_limit"   // took more time or memory than any recording needs
	Unavailable Code = "decoder_unavailable"
)

// Error is why a recording was not decoded.
type Error struct {
	Code    Code
	Message string // one sentence a person can act on
	cause   error
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

// Unwrap gives the sandbox's error.
func (e *Error) Unwrap() error { return e.cause }
