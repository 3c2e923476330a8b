package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors/llm"
	"github.com/helixd/helixd/reactors/outbound"
	"github.com/helixd/helixd/reactors/redact"
	"github.com/helixd/helixd/reactors/synthesis/analysis"
	"github.com/helixd/helixd/replication/stream"
)

// Language models, as HELIX_LLM names them.
const (
	llmAuto      = "auto"
	llmAnthropic = "anthropic"
	llmOpenAI    = "openai"
	llmLocal     = "local"
)

// analysisSettings are those of language models and of what is taken out before
// anything is sent: as they were given, and read.
type analysisSettings struct {
	provider, model, baseURL, key     string
	anthropicKey, anthropicURL        string
	timeout, concurrency, chunkTokens string
	redacted, nameFile                string

	missing string // what the provider that was asked for lacks
	config  analysis.Config
	options llm.Options // of the provider; without a key and an address there is none
	rules   redact.Rules
}

func (s *analysisSettings) settings() []setting {
	byDefault := analysis.DefaultConfig
	return []setting{
		{"llm", "HELIX_LLM", llmAuto, "who analyses: anthropic, openai (any server of that protocol), local (nothing is sent) or auto, the one whose key or address is set", &s.provider},
		{"llm-model", "HELIX_LLM_MODEL", "", "the provider's model; claude-sonnet-5-5 of Anthropic, gpt-4.1-mini of OpenAI; with --llm-url say which", &s.model},
		{"llm-url", "HELIX_LLM_URL", "", "base address of a server with OpenAI's protocol, such as http://localhost:11434/v1", &s.baseURL},
		{"llm-timeout", "HELIX_LLM_TIMEOUT", "10m", "how long a model's answer may take", &s.timeout},
		{"llm-concurrency", "HELIX_LLM_CONCURRENCY", strconv.Itoa(byDefault.Concurrency), "analyses, and requests to a model, at a time in this process", &s.concurrency},
		{"llm-chunk-tokens", "HELIX_LLM_CHUNK_TOKENS", strconv.FormatInt(byDefault.ChunkTokens, 10), "tokens of texts in one request, as estimated", &s.chunkTokens},
		{"anthropic-url", "HELIX_ANTHROPIC_URL", "", "base address of Anthropic's API, where it is another one", &s.anthropicURL},
		{"redact", "HELIX_REDACT", "all", "what placeholders stand for in what is sent: all, off, or some of name,email,phone,card,iban,national_id,ip", &s.redacted},
		{"redact-names", "HELIX_REDACT_NAMES", "", "file with names that are taken out of what is sent, one a line", &s.nameFile},
		{"", "HELIX_LLM_KEY", "", "key of a server with OpenAI's protocol", &s.key},
		{"", "ANTHROPIC_API_KEY", "", "key of Anthropic, for analyses and the tool llm", &s.anthropicKey},
	}
}

func (s *analysisSettings) parse() error {
	s.config = analysis.DefaultConfig
	c := &s.config
	if err := cmp.Or(
		readNumber("llm-concurrency", s.concurrency, 1, math.MaxInt16, &c.Concurrency),
		readNumber("llm-chunk-tokens", s.chunkTokens, analysis.LeastChunkTokens, analysis.MostChunkTokens, &c.ChunkTokens),
	); err != nil {
		return err
	}
	timeout, err := time.ParseDuration(s.timeout)
	if err != nil || timeout < time.Second || timeout > time.Hour {
		return &usageError{fmt.Errorf("--llm-timeout %q: it takes a time from 1s to 1h, such as 10m", s.timeout)}
	}
	for flag, text := range map[string]string{"llm-url": s.baseURL, "anthropic-url": s.anthropicURL} {
		if err := checkAddress(text); err != nil {
			return &usageError{fmt.Errorf("--%s: %w", flag, err)}
		}
	}
	if s.rules.Kinds, err = redact.ParseKinds(s.redacted); err != nil {
		return &usageError{fmt.Errorf("--redact: %w", err)}
	}
	if s.rules.Names, err = readNames(s.nameFile); err != nil {
		return &usageError{fmt.Errorf("--redact-names: %w", err)}
	}
	if _, err := redact.New(s.rules); err != nil {
		return &usageError{fmt.Errorf("--redact-names: %w", err)}
	}
	c.Redact = s.rules
	s.options = llm.Options{Model: s.model, Timeout: timeout}
	return s.parseProvider()
}

// parseProvider finds out who is asked. A key never goes to an address that may be
// meant for the other provider.
func (s *analysisSettings) parseProvider() error {
	anthropic, openai := s.anthropicKey != "", s.baseURL != "" || s.key != ""
	switch s.provider {
	case llmAuto:
		switch {
		case anthropic && openai:
			return &usageError{errors.New("--llm: ANTHROPIC_API_KEY and HELIX_LLM_URL or HELIX_LLM_KEY are both set: say anthropic, openai or local")}
		case anthropic:
			s.provider = llmAnthropic
		case openai:
			s.provider = llmOpenAI
		default:
			s.provider, s.config.Local = llmLocal, "no key is set"
			return nil
		}
	case llmLocal:
		s.config.Local = "HELIX_LLM is local"
		return nil
	case llmAnthropic, llmOpenAI:
	default:
		return &usageError{fmt.Errorf("--llm %q: it takes auto, anthropic, openai or local", s.provider)}
	}
	if s.provider == llmAnthropic {
		if !anthropic { // where a key is missing nothing fails: rows are answered locally, which say so
			s.provider, s.config.Local, s.missing = llmLocal, "no key is set", "ANTHROPIC_API_KEY"
			return nil
		}
		s.options.Key, s.options.BaseURL = s.anthropicKey, s.anthropicURL
		return nil
	}
	if !openai {
		s.provider, s.config.Local, s.missing = llmLocal, "no key is set", "HELIX_LLM_KEY or HELIX_LLM_URL"
		return nil
	}
	s.options.Key, s.options.BaseURL = s.key, s.baseURL
	return nil
}

const mostNameFile = 16 << 20

// readNames reads a file with one name a line; # begins a remark.
func readNames(path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() > mostNameFile {
		return nil, fmt.Errorf("%s has more than %d MB", path, mostNameFile>>20)
	}
	var names []string
	for lines := bufio.NewScanner(f); ; {
		if !lines.Scan() {
			if err := lines.Err(); err != nil {
				return nil, fmt.Errorf("read %s: %w", path, err)
			}
			return names, nil
		}
		if name := strings.TrimSpace(lines.Text()); name != "" && !strings.HasPrefix(name, "#") {
			names = append(names, name)
		}
	}
}

// newModel makes the client of the language model that is set, nil where none is.
// All who ask in this process share it: analyses and skills.
func newModel(cfg *config, log zerolog.Logger) (*llm.Client, error) {
	s := &cfg.analysis
	make := llm.NewAnthropic
	switch s.provider {
	case llmLocal:
		return nil, nil
	case llmOpenAI:
		make = llm.NewOpenAI
	}
	model, err := make(s.options)
	if err != nil {
		return nil, &stream.SetupError{Problem: err.Error(), Hint: "Set it, or HELIX_LLM=local, with which nothing is sent."}
	}
	return llm.NewClient(model, llm.ClientConfig{Concurrency: s.config.Concurrency, Log: log}), nil
}

// newAnalysis makes what answers memory_synthesis_jobs. The client may be nil.
func newAnalysis(cfg *config, db *pgxpool.Pool, client *llm.Client, log zerolog.Logger) *analysis.Service {
	ledger := newLedger(cfg, db)
	if client == nil {
		if missing := cfg.analysis.missing; missing != "" {
			log.Warn().Msg("HELIX_LLM names a provider, and " + missing + " is not set: analyses are made locally until it is")
		}
		log.Info().Str("provider", "local ("+cfg.analysis.config.Local+")").Msg("analysis")
		return analysis.NewService(cfg.analysis.config, db, nil, ledger, log)
	}
	tellProvider(log, "analysis", client.Name(), cfg.analysis.options.BaseURL, cfg.analysis.redacted)
	return analysis.NewService(cfg.analysis.config, db, client, ledger, log)
}

// tellProvider says what is sent to whom, and where others may read it on its way.
func tellProvider(log zerolog.Logger, what, provider, address, redacted string) {
	told := log.Info().Str("provider", provider).Str("redact", redacted)
	if address != "" {
		told.Str("address", address)
	}
	told.Msg(what)
	if outbound.InTheClear(address) {
		log.Warn().Str("address", address).Msg(what + ": what is sent, the key with it, can be read on its way: use https")
	}
}
