package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/reactors/usage"
)

// budgetSettings are what providers may be asked for in a day, and what they cost:
// as they were given, and read.
type budgetSettings struct {
	tokens, requests, userTokens, userRequests, price string // of language models
	embeddingTokens, embeddingUserTokens              string
	embeddingPrice                                    string

	budgets map[string]usage.Budget // by purpose
	prices  usage.Prices
}

func (s *budgetSettings) settings() []setting {
	return []setting{
		{"llm-daily-tokens", "HELIX_LLM_DAILY_TOKENS", "2000000", "tokens a day (UTC) of language models, for all users; it stops at 90% of it; 0: any", &s.tokens},
		{"llm-daily-requests", "HELIX_LLM_DAILY_REQUESTS", "2000", "requests a day to language models, likewise", &s.requests},
		{"llm-user-daily-tokens", "HELIX_LLM_USER_DAILY_TOKENS", "200000", "tokens a day of language models, for each user", &s.userTokens},
		{"llm-user-daily-requests", "HELIX_LLM_USER_DAILY_REQUESTS", "200", "requests a day to language models, for each user", &s.userRequests},
		{"llm-price", "HELIX_LLM_PRICE", "", "USD for a million tokens of input and of output, by provider: anthropic=3/15,openai=0.15/0.6; for helixd usage", &s.price},
		{"embeddings-daily-tokens", "HELIX_EMBEDDINGS_DAILY_TOKENS", "10000000", "tokens a day of embeddings, for all users; 0: any", &s.embeddingTokens},
		{"embeddings-user-daily-tokens", "HELIX_EMBEDDINGS_USER_DAILY_TOKENS", "1000000", "tokens a day of embeddings, for each user", &s.embeddingUserTokens},
		{"embeddings-price", "HELIX_EMBEDDINGS_PRICE", "", "USD for a million tokens of embeddings: 0.02, or by provider: openai=0.02", &s.embeddingPrice},
	}
}

func (s *budgetSettings) parse() error {
	llm := usage.Budget{Setting: "HELIX_LLM"} // an analysis and a skill spend it together
	embeddings := usage.Budget{Setting: "HELIX_EMBEDDINGS"}
	for _, n := range []struct {
		flag, given string
		value       *int64
	}{
		{"llm-daily-tokens", s.tokens, &llm.Tokens},
		{"llm-daily-requests", s.requests, &llm.Requests},
		{"llm-user-daily-tokens", s.userTokens, &llm.UserTokens},
		{"llm-user-daily-requests", s.userRequests, &llm.UserRequests},
		{"embeddings-daily-tokens", s.embeddingTokens, &embeddings.Tokens},
		{"embeddings-user-daily-tokens", s.embeddingUserTokens, &embeddings.UserTokens},
	} {
		v, err := strconv.ParseInt(n.given, 10, 64)
		if err != nil || v < 0 {
			return &usageError{fmt.Errorf("--%s %q: it takes a number, such as 200000, or 0 for any", n.flag, n.given)}
		}
		*n.value = v
	}
	s.budgets = map[string]usage.Budget{usage.PurposeAnalysis: llm, usage.PurposeSkill: llm, usage.PurposeEmbedding: embeddings}
	prices, err := usage.ParsePrices(s.price, usage.PurposeAnalysis, usage.PurposeSkill)
	if err != nil {
		return &usageError{fmt.Errorf("--llm-price: %w", err)}
	}
	// A cost that is known by half would be shown as the whole.
	for part := range strings.SplitSeq(s.price, ",") {
		if strings.TrimSpace(part) != "" && !strings.Contains(part, "/") {
			return &usageError{fmt.Errorf("--llm-price %q: it takes the price of output, too, such as anthropic=3/15", strings.TrimSpace(part))}
		}
	}
	more, err := usage.ParsePrices(s.embeddingPrice, usage.PurposeEmbedding)
	if err != nil {
		return &usageError{fmt.Errorf("--embeddings-price: %w", err)}
	}
	s.prices = append(prices, more...)
	// Nor is a price whose provider nobody is.
	for _, p := range s.prices {
		if !slices.ContainsFunc([]string{"", llmAnthropic, llmOpenAI}, func(name string) bool {
			return p.Provider == name || name != "" && strings.HasPrefix(p.Provider, name+" ")
		}) {
			return &usageError{fmt.Errorf("%q has a price and is no provider: it takes anthropic or openai, with a model or without, such as \"openai gpt-4.1=2/8\"", p.Provider)}
		}
	}
	return nil
}

// newLedger makes the books in which all that is asked of providers stands.
func newLedger(cfg *config, db *pgxpool.Pool) *usage.Ledger {
	return usage.NewLedger(db, cfg.budget.budgets, cfg.budget.prices)
}
