package main

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors/embedding"
	"github.com/helixd/helixd/reactors/llm"
)

// embeddingTimeout is for a local server, which may take long for a full request; after
// one that was too long the next has fewer texts.
const embeddingTimeout = 2 * time.Minute

// embeddingSettings are those of the reactor embedding: as they were given, and read.
type embeddingSettings struct {
	mode, key, baseURL, model, batch, rate string

	config embedding.Config
}

func (s *embeddingSettings) settings() []setting {
	byDefault := embedding.DefaultConfig
	return []setting{
		{"embeddings", "HELIX_EMBEDDINGS", "on", "on: memories without an embedding get one, once a provider is set; off: none of it", &s.mode},
		{"embeddings-url", "EMBEDDINGS_URL", "", "base address of the embedding provider, any server of OpenAI's protocol, such as http://localhost:11434/v1", &s.baseURL},
		{"embeddings-model", "EMBEDDINGS_MODEL", "text-embedding-3-small", "the provider's model; it must give as many dimensions as memories.embedding has", &s.model},
		{"embeddings-batch", "HELIX_EMBEDDINGS_BATCH", strconv.Itoa(byDefault.Batch), "texts in a request, at most", &s.batch},
		{"embeddings-rate", "HELIX_EMBEDDINGS_RATE", strconv.Itoa(byDefault.Rate), "texts a minute, of all processes, 0 for any number", &s.rate},
		{"", "EMBEDDINGS_API_KEY", "", "key of the embedding provider", &s.key},
	}
}

func (s *embeddingSettings) parse() error {
	s.config = embedding.DefaultConfig
	if s.mode != "on" && s.mode != "off" {
		return &usageError{fmt.Errorf("--embeddings %q: it takes on or off", s.mode)}
	}
	if err := checkAddress(s.baseURL); err != nil {
		return &usageError{fmt.Errorf("--embeddings-url: %w", err)}
	}
	if err := cmp.Or(
		readNumber("embeddings-batch", s.batch, 1, 2048, &s.config.Batch), // OpenAI's bound
		readNumber("embeddings-rate", s.rate, 0, math.MaxInt32, &s.config.Rate),
	); err != nil {
		return err
	}
	return nil
}

// on reports whether the reactor is registered.
func (s *embeddingSettings) on() bool { return s.mode != "off" }

// newEmbedding makes what does the jobs of embedding. A local server needs no key.
func newEmbedding(cfg *config, db *pgxpool.Pool, log zerolog.Logger) (*embedding.Service, error) {
	s := &cfg.embedding
	c := s.config
	c.Redact = cfg.analysis.rules
	ledger := newLedger(cfg, db)
	if s.key == "" && s.baseURL == "" {
		log.Info().Str("provider", "none: memories without an embedding wait").Msg("embedding")
		return embedding.NewService(c, db, nil, ledger, log), nil
	}
	e, err := llm.NewEmbedder(llm.Options{BaseURL: s.baseURL, Key: s.key, Model: s.model, Timeout: embeddingTimeout, IdleTimeout: embeddingTimeout})
	if err != nil {
		return nil, &usageError{fmt.Errorf("--embeddings-url: %w", err)}
	}
	tellProvider(log, "embedding", e.Name(), s.baseURL, cfg.analysis.redacted)
	return embedding.NewService(c, db, llm.NewEmbedClient(e, llm.ClientConfig{Concurrency: c.Concurrency, Log: log}), ledger, log), nil
}
