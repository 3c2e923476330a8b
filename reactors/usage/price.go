package usage

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Price is what a million tokens cost, in USD, as decimal numbers.
type Price struct {
	Provider      string   // that it begins with; empty: any
	Purposes      []string // none: any
	Input, Output string
}

// dollars is about what tokens cost: the books have the exact sum. Without a Price it
// is 0.
func (p *Price) dollars(input, output int64) float64 {
	if p == nil {
		return 0
	}
	in, _ := strconv.ParseFloat(cmp.Or(p.Input, "0"), 64) // ParsePrices has seen them
	out, _ := strconv.ParseFloat(cmp.Or(p.Output, "0"), 64)
	return (float64(input)*in + float64(output)*out) / 1e6
}

// Prices are what an operator has told: there is no list of prices here.
type Prices []Price

var decimal = regexp.MustCompile(`^[0-9]{1,6}(\.[0-9]{1,9})?$`)

// mostPrices are in a setting.
const mostPrices = 100

// ParsePrices reads "anthropic=3/15,openai=0.15/0.6": of providers whose names begin
// so, USD for a million tokens of input and of output. "0.02" alone is for any
// provider, and for input only.
func ParsePrices(text string, purposes ...string) (Prices, error) {
	var all Prices
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		name, rate, named := strings.Cut(part, "=")
		if !named {
			name, rate = "", part
		}
		p := Price{Provider: strings.TrimSpace(name), Purposes: purposes}
		p.Input, p.Output, _ = strings.Cut(strings.TrimSpace(rate), "/")
		if p.Output == "" && !strings.HasSuffix(rate, "/") {
			p.Output = "0"
		}
		if !decimal.MatchString(p.Input) || !decimal.MatchString(p.Output) || named && p.Provider == "" {
			return nil, fmt.Errorf("%q is no price: it is USD for a million tokens, such as anthropic=3/15 of input and output, or openai=0.02 or 0.02 of embeddings", part)
		}
		if slices.ContainsFunc(all, func(q Price) bool { return q.Provider == p.Provider }) {
			return nil, fmt.Errorf("%q has a price already", p.Provider)
		}
		if all = append(all, p); len(all) > mostPrices {
			return nil, fmt.Errorf("more than %d prices", mostPrices)
		}
	}
	return all, nil
}

// Of finds the price whose provider is the longest; nil: none is known.
func (ps Prices) Of(purpose, provider string) *Price {
	var found *Price
	for i, p := range ps {
		if strings.HasPrefix(provider, p.Provider) && (len(p.Purposes) == 0 || slices.Contains(p.Purposes, purpose)) &&
			(found == nil || len(p.Provider) > len(found.Provider)) {
			found = &ps[i]
		}
	}
	return found
}
