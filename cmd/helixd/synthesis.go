package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors/skills"
	"github.com/helixd/helixd/reactors/synthesis"
)

// synthesisSettings are those of the reactor synthesis: as they were given, and read.
type synthesisSettings struct {
	method, concurrency, delay, mostMemories, cache string

	config synthesis.Config
}

func (s *synthesisSettings) settings() []setting {
	byDefault := synthesis.DefaultConfig
	return []setting{
		{"synthesis-method", "HELIX_SYNTHESIS_METHOD", string(byDefault.Method), "how embeddings are clustered: graph, hdbscan, dbscan or kmeans", &s.method},
		{"synthesis-concurrency", "HELIX_SYNTHESIS_CONCURRENCY", strconv.Itoa(byDefault.Concurrency), "users whose memories are synthesised at a time in this process", &s.concurrency},
		{"synthesis-delay", "HELIX_SYNTHESIS_DELAY", byDefault.Delay.String(), "from a change of memories until they are synthesised, with what came meanwhile", &s.delay},
		{"synthesis-max-memories", "HELIX_SYNTHESIS_MAX_MEMORIES", strconv.Itoa(byDefault.MostMemories), "memories of one user that are synthesised, whatever memory_limit says", &s.mostMemories},
		{"synthesis-cache", "HELIX_SYNTHESIS_CACHE", strconv.FormatInt(byDefault.CacheBytes>>20, 10) + "MB", "memory for embeddings of the users who were synthesised last", &s.cache},
	}
}

func (s *synthesisSettings) parse() error {
	c := &s.config
	if c.Method = synthesis.Method(s.method); !slices.Contains(synthesis.Methods, c.Method) {
		return &usageError{fmt.Errorf("--synthesis-method %q: it takes graph, hdbscan, dbscan or kmeans", s.method)}
	}
	if err := cmp.Or(
		readNumber("synthesis-concurrency", s.concurrency, 1, math.MaxInt16, &c.Concurrency),
		readNumber("synthesis-max-memories", s.mostMemories, 1, 100_000, &c.MostMemories),
	); err != nil {
		return err
	}
	var err error
	if c.Delay, err = time.ParseDuration(s.delay); err != nil || c.Delay <= 0 || c.Delay > time.Hour {
		return &usageError{fmt.Errorf("--synthesis-delay %q: it takes a time up to 1h, such as 2s", s.delay)}
	}
	if c.CacheBytes, err = skills.ParseBytes(s.cache); err != nil || c.CacheBytes < 0 {
		return &usageError{fmt.Errorf("--synthesis-cache %q: it takes a size, such as 256MB", s.cache)}
	}
	return nil
}

// newSynthesis makes what synthesises. Go's collector is to hurry only past what
// embeddings take, beside the rest.
func newSynthesis(cfg *config, db *pgxpool.Pool, log zerolog.Logger) *synthesis.Service {
	c := cfg.synthesis.config
	if os.Getenv("GOMEMLIMIT") == "" {
		c.Hold = func(bytes int64) { debug.SetMemoryLimit(memoryLimit + bytes) }
	}
	return synthesis.NewService(c, db, log)
}
