package usage_test

import (
	"reflect"
	"testing"

	"github.com/helixd/helixd/reactors/usage"
)

func TestParsePrices(t *testing.T) {
	for text, want := range map[string]usage.Prices{
		"":                                nil,
		"anthropic=3/15, openai=0.15/0.6": {{Provider: "anthropic", Input: "3", Output: "15"}, {Provider: "openai", Input: "0.15", Output: "0.6"}},
		"0.02":                            {{Input: "0.02", Output: "0"}},
		"openai=0.02":                     {{Provider: "openai", Input: "0.02", Output: "0"}},
		"anthropic claude-opus=15/75":     {{Provider: "anthropic claude-opus", Input: "15", Output: "75"}},
	} {
		got, err := usage.ParsePrices(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, error %v", text, got, err)
		}
	}
	for _, text := range []string{"anthropic", "a=", "a=1/", "a=/1", "=1/2", "a=-1/2", "a=1e3/2", "a=NaN/1", "a=1/2/3", "a=.1/.6", "a=1/2,a=1/2", "1,2", "a=1234567/1", "a=1;drop table x"} {
		if got, err := usage.ParsePrices(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestPrices: the longest name holds, of the purpose.
func TestPrices(t *testing.T) {
	b := newBench(t)
	llm, err := usage.ParsePrices("1/2,openai=10/20,openai gpt=100/200", "analysis", "skill")
	if err != nil {
		t.Fatal(err)
	}
	embeddings, err := usage.ParsePrices("openai=0.02", "embedding")
	if err != nil {
		t.Fatal(err)
	}
	l := b.ledger(t, nil, append(llm, embeddings...))
	user := b.User(t)
	for _, tt := range []struct{ purpose, provider, want string }{
		{"analysis", "anthropic", "3"}, {"analysis", "openai o", "30"}, {"skill", "openai gpt-9", "300"},
		{"embedding", "openai small", "0.02"}, {"embedding", "own", "?"}, {"other", "openai", "?"},
	} {
		settle(t, hold(t, l, user, tt.purpose, tt.provider, 1), 1_000_000, 1_000_000)
		got := get[string](t, b.Admin, "select coalesce(trim_scale(cost_usd)::text, '?') from helix.usage where purpose = $1 and provider = $2", tt.purpose, tt.provider)
		if got != tt.want {
			t.Errorf("%s of %s: %s USD, want %s", tt.purpose, tt.provider, got, tt.want)
		}
	}
	// A tenth of a cent a million times is not rounded away.
	for range 3 {
		settle(t, hold(t, l, user, "embedding", "openai tiny", 1), 1, 0)
	}
	if got := get[string](t, b.Admin, "select trim_scale(cost_usd)::text from helix.usage where provider = 'openai tiny'"); got != "0.00000006" {
		t.Errorf("three tokens cost %s", got)
	}
}
