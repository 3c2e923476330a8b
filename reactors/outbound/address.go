package outbound

import (
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/helixd/helixd/internal/trace"
)

const connectTimeout = 10 * time.Second

// Transport makes connections that are used once: on one that is used again, a
// second answer to one request, which a proxy may send, is taken for the answer to
// the next: another user's.
func Transport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dial,
		TLSHandshakeTimeout:    connectTimeout,
		ForceAttemptHTTP2:      true,
		MaxResponseHeaderBytes: 64 << 10,
		DisableKeepAlives:      true,
	}
}

// Client is base, or one with Transport where it is nil, which follows no
// redirects: they would take the key, and what is sent, elsewhere.
func Client(base *http.Client) *http.Client {
	client := http.Client{Transport: trace.Transport(Transport())}
	if base != nil {
		client = *base
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

var version = regexp.MustCompile(`/v\d+$`)

// Target is the URL of a path below a base URL's version.
func Target(base, path string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(base))
	switch {
	case err != nil: // which quotes it, and a password may be in it
		return nil, errors.New("it is no URL; it looks like https://host/v1")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, errors.New("it looks like https://host/v1")
	case u.User != nil:
		return nil, errors.New("the key goes into its own setting, not into the URL")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("it ends with its path, without ? and #")
	}
	at := strings.TrimSuffix(strings.TrimRight(u.Path, "/"), path)
	if !version.MatchString(at) {
		at += "/v1"
	}
	u.Path, u.RawPath = at+path, ""
	return u, nil
}

// ValidKey reports whether a key can be sent at all.
func ValidKey(key string) bool { return httpguts.ValidHeaderFieldValue(key) }

// InTheClear reports whether an address is without TLS and may be reached over the
// internet: a name without a dot is one of a container or of the own network.
func InTheClear(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" {
		return false
	}
	host := u.Hostname()
	if ip, err := netip.ParseAddr(host); err == nil {
		return !ip.IsLoopback() && !ip.IsPrivate() && !ip.IsLinkLocalUnicast()
	}
	return strings.Contains(host, ".") && !slices.ContainsFunc([]string{".local", ".internal", ".localhost"}, func(end string) bool {
		return strings.HasSuffix(host, end)
	})
}
