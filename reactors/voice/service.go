package voice

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/internal/turn"
	"github.com/helixd/helixd/reactors"
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
	Rate            int // recordings of one user that are begun in an hour; 0: any number
	Denoise         decode.Denoise
	MostBytes       int64         // of a recording
	Longest         time.Duration // of a recording
	MostTries       int           // of a recording, before it fails
	Off             string        // the setting that has switched it off; "": none has
}

// DefaultConfig is an operator's who says nothing.
var DefaultConfig = Config{Concurrency: 16, UserConcurrency: 4, Denoise: decode.Off, MostBytes: 100 << 20, Longest: 4 * time.Hour, MostTries: 10}

const (
	stopGrace  = 5 * time.Second // for requests under way at the end
	sweepEvery = 30 * time.Second
	watchEvery = 500 * time.Millisecond
)

// Service does the jobs of voice, in one process.
type Service struct {
	cfg      Config
	pool     *pgxpool.Pool
	decoder  Decoder
	provider Transcriber
	objects  Objects
	log      zerolog.Logger

	decoding turn.Turns[string] // by user

	jobs    *reactors.Jobs
	results *reactors.Results
	ctx     context.Context
	stop    context.CancelFunc
	loops   sync.WaitGroup
	lanes   sync.WaitGroup

	mu       sync.Mutex
	stopping bool // no lane may begin
	active   map[*active]bool
}

// NewService makes a Service; reactors.With gives it to the jobs. Without a
// decoder providers get recordings as they are; without a Transcriber recordings
// wait, and without Objects those in Storage do.
func NewService(cfg Config, pool *pgxpool.Pool, d Decoder, t Transcriber, o Objects, log zerolog.Logger) *Service {
	return &Service{cfg: cfg, pool: pool, decoder: d, provider: t, objects: o, log: log, active: map[*active]bool{}}
}

// Configure implements reactors.Service.
func (s *Service) Configure(config *river.Config) {
	river.AddWorker(config.Workers, &reactors.Worker[Lane]{Longest: 64 * time.Second, Do: s.work})
	config.Queues[queue] = river.QueueConfig{MaxWorkers: s.cfg.Concurrency}
}

// Start implements reactors.Service.
func (s *Service) Start(ctx context.Context, jobs *reactors.Jobs) error {
	var err error
	if s.results, err = reactors.NewResults(ctx, s.pool, name, "public.voice_recordings"); err != nil {
		return err
	}
	s.jobs = jobs
	s.ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.loops.Go(func() {
		reactors.Every(s.ctx, watchEvery, s.log, "could not look for deleted recordings; trying again", s.watch)
	})
	s.loops.Go(func() {
		reactors.Every(s.ctx, sweepEvery, s.log, "could not look for recordings that were left behind; trying again", s.sweep)
	})
	return nil
}

// Stop implements reactors.Service: no recording is begun any more, requests under
// way may still be answered, and the others go back.
func (s *Service) Stop(ctx context.Context) {
	s.mu.Lock()
	s.stopping = true
	s.mu.Unlock()
	if !s.idle(ctx) {
		s.cancelAll(errStopping)
		if !s.idle(context.WithoutCancel(ctx)) {
			s.log.Warn().Msg("recordings were not given back in time; they will be tried again")
		}
	}
	s.stop()
	s.loops.Wait()
}

// idle waits until no lane is worked, or ctx ends, or for the grace.
func (s *Service) idle(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, stopGrace)
	defer cancel()
	ended := make(chan struct{})
	go func() {
		s.lanes.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return true
	case <-ctx.Done():
		return false
	}
}
