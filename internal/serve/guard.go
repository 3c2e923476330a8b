package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"strings"
	"syscall"
)

// guard decides who may ask.
type guard struct {
	token  [sha256.Size]byte
	asks   bool // for the token
	origin *http.CrossOriginProtection
}

func newGuard(token string) *guard {
	return &guard{token: sha256.Sum256([]byte(token)), asks: token != "", origin: http.NewCrossOriginProtection()}
}

// open lets everybody in whom a web page has not sent.
func (g *guard) open(h http.Handler) http.Handler {
	h = headers(h)
	if g.asks {
		return h
	}
	// A page can have its own name lead to 127.0.0.1, and read what is answered there.
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopback(hostname(r.Host)) {
			http.Error(w, "Host must be localhost or an address of loopback, unless HELIX_HTTP_TOKEN is set", http.StatusMisdirectedRequest)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// closed lets in who has the token. Browsers ask for it as a password, with any
// name; what another site has them send is refused.
func (g *guard) closed(h http.Handler) http.Handler {
	h = g.open(g.origin.Handler(h))
	if !g.asks {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.knows(r) {
			w.Header().Set("WWW-Authenticate", `Basic realm="helixd", charset="UTF-8"`)
			http.Error(w, "it takes the header Authorization: Bearer <HELIX_HTTP_TOKEN>", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// knows compares in constant time, whatever the lengths are.
func (g *guard) knows(r *http.Request) bool {
	_, given, basic := r.BasicAuth()
	if !basic {
		var scheme string
		scheme, given, _ = strings.Cut(r.Header.Get("Authorization"), " ")
		if !strings.EqualFold(scheme, "bearer") {
			return false
		}
	}
	sum := sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(sum[:], g.token[:]) == 1
}

// headers keep answers out of caches and frames.
func headers(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("X-Frame-Options", "DENY")
		h.ServeHTTP(w, r)
	})
}

// hostname is a Host header's, without its port and brackets.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

// loopback reports whether a host's name can only be of this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

func inUse(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }
