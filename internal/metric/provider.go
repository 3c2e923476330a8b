package metric

import "time"

// Of what is asked of providers. A provider's label is its name in helix.usage, such
// as "openai text-embedding-3-small": an operator sets it, so there are few.
var (
	providerRequests = counters("provider_requests_total", "Requests made to a provider, by outcome: ok, a code of the errors on rows, or cancelled.", "provider", "purpose", "outcome")
	providerDuration = histograms("provider_request_duration_seconds", "Time until a provider's answer was read, or known not to come.",
		[]float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600}, "provider", "purpose")
	providerPaused = gauges("provider_paused", "1 while nothing is asked of a provider, since it asked for that, does not work or lets nobody in.", "provider")
	providerTokens = counters("provider_tokens_total", "Tokens that requests have taken, as in helix.usage.", "provider", "purpose", "direction")
	providerCost   = counters("provider_cost_dollars_total", "Cost of those tokens in USD, where a price is set.", "provider", "purpose")
)

// Outcomes of a request, beside the codes of errors.
const (
	OK = "ok"
)

// Asked counts a request to a provider.
func Asked(provider, purpose, outcome string, took time.Duration) {
	providerRequests.WithLabelValues(provider, purpose, outcome).Inc()
	providerDuration.WithLabelValues(provider, purpose).Observe(took.Seconds())
}

// Paused tells whether nothing is asked of a provider now.
func Paused(provider string, paused bool) {
	providerPaused.WithLabelValues(provider).Set(number(paused))
}

// Spent counts what requests have taken.
func Spent(provider, purpose string, input, output int64, dollars float64) {
	providerTokens.WithLabelValues(provider, purpose, "input").Add(float64(input))
	providerTokens.WithLabelValues(provider, purpose, "output").Add(float64(output))
	providerCost.WithLabelValues(provider, purpose).Add(dollars)
}

func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
