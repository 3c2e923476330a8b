package broker_test

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/skills/host/broker"
)

// FuzzTarget: whatever a URL is made of, it leads to a host by a plain name, and
// to the one that a client would connect to.
func FuzzTarget(f *testing.F) {
	for _, text := range []string{"https://api.example:8443/x", "https://api.example@evil.example/", "https://evil.example#@api.example/", `https://api.example\@evil.example/`,
		"https://BÜCHER.example", "https://[::1]:443/", "https://0x7f.1/", "https://api.example%2eevil.example/", "https://api.example:443:1/", "https:/api.example"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := url.Parse(text)
		if err != nil {
			return
		}
		host, port, err := broker.Target(u)
		if err != nil {
			return
		}
		if _, err := netip.ParseAddr(host); err == nil || strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" || !strings.Contains(host, ".") || port == 0 {
			t.Errorf("%q leads to %q at %d", text, host, port)
		}
		if isASCII(u.Host) && !strings.EqualFold(u.Hostname(), host) {
			t.Errorf("%q leads to %q, and a client connects to %q", text, host, u.Hostname())
		}
	})
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > 127 }) < 0
}
