package rights_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/skills/rights"
)

func TestCapabilities(t *testing.T) {
	t.Run("have one spelling", func(t *testing.T) {
		for text, want := range map[string]string{
			"network:https":                      "network:https",
			"network:https:API.Example.com":      "network:https:api.example.com",
			"network:https:api.example.com:443":  "network:https:api.example.com",
			"network:https:api.example.com:8443": "network:https:api.example.com:8443",
			"network:https:Bücher.example":       "network:https:xn--bcher-kva.example",
			"network:https:a。example":            "network:https:a.example",
			"network:https:xn--bcher-kva.de":     "network:https:xn--bcher-kva.de",
			"memories:read":                      "memories:read",
			"memories:write":                     "memories:write",
			"llm":                                "llm",
			"kv":                                 "kv",
			"secrets:open_ai-2":                  "secrets:open_ai-2",
		} {
			c, err := rights.Parse(text)
			if err != nil || c.String() != want {
				t.Errorf("%q is %q, %v; want %q", text, c, err, want)
			}
		}
	})
	t.Run("that are none are refused", func(t *testing.T) {
		for _, text := range []string{
			"", " kv", "KV", "kv ", "kv:all", "memories", "memories:delete", "filesystem:read", "filesystem:/tmp", "filesystem",
			"network", "network:", "network:localhost", "network:http", "network:http:example.com", "network:tcp:example.com:25",
			"network:https:", "network:https:localhost", "network:https:localhost:8443", "network:https:a.localhost", "network:https:printer.local",
			"network:https:metadata.google.internal", "network:https:nas.home.arpa", "network:https:abc.onion",
			"network:https:*.example.com", "network:https:*", "network:https:example", "network:https:example.com.",
			"network:https:.example.com", "network:https:a..example", "network:https:a_b.example", "network:https:example.com/x", "network:https:u@example.com",
			"network:https:127.0.0.1", "network:https:8.8.8.8", "network:https:0x7f.1", "network:https:1.2.0177", "network:https:example.0x1", "network:https:2130706433",
			"network:https:[::1]", "network:https:::1", "network:https:[::ffff:127.0.0.1]:443", "network:https:１２７.0.0.1",
			"network:https:example.com:", "network:https:example.com:0", "network:https:example.com:65536", "network:https:example.com:+443",
			"network:https:example.com:0443", "network:https:example.com:443:1", "network:https:example.com:https",
			"network:https:example.com\x00", "network:https:exa mple.com",
			"llm:", "llm:gpt", "LLM", "secrets", "secrets:", "secrets:A", "secrets:a/b", "secrets:../b", "secrets:a.b", "secrets:a\n", "secrets:" + strings.Repeat("a", 65), "secrets:*",
			"network:https:" + strings.Repeat("a.", 150) + "example",
		} {
			c, err := rights.Parse(text)
			var e *rights.Error
			if !errors.As(err, &e) || e.Code != rights.Refused || e.Message == "" {
				t.Errorf("%q gives %v, %v", text, c, err)
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"network:https:api.example.com:8443", "network:https:Bücher.example", "secrets:a", "kv", "network:https:０x7f.1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := rights.Parse(text)
		if err != nil {
			return
		}
		again, err := rights.Parse(c.String())
		if err != nil || again != c {
			t.Errorf("%q is %q, which is %q, %v", text, c, again, err)
		}
		if c.Kind == rights.Network && c.Host != "" {
			if strings.Trim(c.Host, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" || !strings.Contains(c.Host, ".") || c.Port == 0 {
				t.Errorf("%q has host %q and port %d", text, c.Host, c.Port)
			}
		}
	})
}
