package voice

import (
	"context"
	"io"
	"time"

	"github.com/helixd/helixd/reactors/voice/decode"
	"github.com/helixd/helixd/reactors/voice/provider"
)

// Decoder makes 16 kHz mono of a recording; decode.Decoder is one.
type Decoder interface {
	Decode(ctx context.Context, opts decode.Options, in decode.Input, out io.Writer) (decode.Info, error)
}

// Transcriber asks a provider; provider.Client is one.
type Transcriber interface {
	provider.Provider
	// Ready is when a request may be made: the zero time is now. why says what it
	// waits for, for people.
	Ready() (at time.Time, why *provider.Error)
}

// Objects are those of Supabase Storage; storage.Client is one.
type Objects interface {
	// Open gives an object of at most most bytes that the user may read.
	Open(ctx context.Context, userID, path string, most int64) (io.ReadCloser, error)
	// SignedURL gives a URL of such an object, for a provider, and its size.
	SignedURL(ctx context.Context, userID, path string, expires time.Duration) (url string, size int64, err error)
}

// Config is what an operator says.
type Config struct {
	Concurrency     int // recordings at a time, in all processes
	UserConcurrency int // of one user
	Denoise         decode.Denoise
	MostBytes       int64         // of a recording
	Longest         time.Duration // of a recording
	MostTries       int           // of a recording, before it fails
}

// DefaultConfig is an operator's who says nothing.
var DefaultConfig = Config{Concurrency: 16, UserConcurrency: 4, Denoise: decode.Off, MostBytes: 100 << 20, Longest: 4 * time.Hour, MostTries: 8}
