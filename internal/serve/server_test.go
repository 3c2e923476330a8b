package serve_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/helixd/helixd/internal/serve"
)

const token = "canary-9b41f6c07de25a83"

// listening gives the address of a server with /open, /closed and /below/.
func listening(t *testing.T, address, token string) string {
	t.Helper()
	s, err := serve.New(serve.Config{Address: address, Token: token, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		fmt.Fprint(w, r.URL.Path)
	})
	s.Open("/open", echo)
	s.Mount("/closed", echo)
	s.Mount("/below/", echo)
	at, err := s.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(at.String())
	if err != nil {
		t.Fatal(err)
	}
	return "127.0.0.1:" + port
}

// ask gives the status of an answer; change may be nil.
func ask(t *testing.T, method, url string, body io.Reader, change func(*http.Request)) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp
}

func TestWhoMayAsk(t *testing.T) {
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	both := func(a, b func(*http.Request)) func(*http.Request) { return func(r *http.Request) { a(r); b(r) } }
	bearer := header("Authorization", "Bearer "+token)
	loopback, guarded, everywhere := listening(t, "127.0.0.1:0", ""), listening(t, "127.0.0.1:0", token), listening(t, "0.0.0.0:0", token)
	for name, c := range map[string]struct {
		at, method, path string
		change           func(*http.Request)
		want             int
	}{
		"loopback answers":                             {loopback, "GET", "/closed", nil, 200},
		"loopback answers below a prefix":              {loopback, "GET", "/below/a/b", nil, 200},
		"loopback knows localhost":                     {loopback, "GET", "/closed", host("localhost:1"), 200},
		"loopback knows IPv6":                          {loopback, "GET", "/closed", host("[::1]:9464"), 200},
		"a page's own name leads nowhere":              {loopback, "GET", "/closed", host("evil.example"), 421},
		"nor to what is open":                          {loopback, "GET", "/open", host("evil.example:9464"), 421},
		"nor with a name that begins so":               {loopback, "GET", "/open", host("localhost.evil.example"), 421},
		"nor with a name that looks like an address":   {loopback, "GET", "/open", host("127.0.0.1.evil.example"), 421},
		"another site's form is refused":               {loopback, "POST", "/below/cancel", header("Sec-Fetch-Site", "cross-site"), 403},
		"one's own is taken":                           {loopback, "POST", "/below/cancel", header("Sec-Fetch-Site", "same-origin"), 200},
		"a token that is set is asked for on loopback": {guarded, "GET", "/closed", nil, 401},
		"what is open is open with a token":            {everywhere, "GET", "/open", host("helixd.example"), 200},
		"nothing else is without it":                   {everywhere, "GET", "/closed", nil, 401},
		"nothing else is below a prefix":               {everywhere, "GET", "/below/x", nil, 401},
		"the token lets in":                            {everywhere, "GET", "/closed", both(bearer, host("helixd.example")), 200},
		"whatever the scheme's case is":                {everywhere, "GET", "/closed", header("Authorization", "bearer "+token), 200},
		"a part of it does not":                        {everywhere, "GET", "/closed", header("Authorization", "Bearer "+token[:8]), 401},
		"nor more than it":                             {everywhere, "GET", "/closed", header("Authorization", "Bearer "+token+"x"), 401},
		"nor nothing":                                  {everywhere, "GET", "/closed", header("Authorization", "Bearer "), 401},
		"nor another scheme":                           {everywhere, "GET", "/closed", header("Authorization", "Token "+token), 401},
		"nor the query":                                {everywhere, "GET", "/closed?token=" + token, nil, 401},
		"a browser sends it as a password":             {everywhere, "GET", "/closed", func(r *http.Request) { r.SetBasicAuth("anybody", token) }, 200},
		"and not as a name":                            {everywhere, "GET", "/closed", func(r *http.Request) { r.SetBasicAuth(token, "") }, 401},
		"another site's form is refused with it, too":  {everywhere, "POST", "/below/x", both(bearer, header("Origin", "https://evil.example")), 403},
	} {
		t.Run(name, func(t *testing.T) {
			resp := ask(t, c.method, "http://"+c.at+c.path, nil, c.change)
			if resp.StatusCode != c.want {
				t.Errorf("%s", resp.Status)
			}
			if (resp.StatusCode == 401) != (resp.Header.Get("WWW-Authenticate") != "") {
				t.Errorf("WWW-Authenticate is %q", resp.Header.Get("WWW-Authenticate"))
			}
			if resp.StatusCode == 200 && (resp.Header.Get("Cache-Control") != "no-store" || resp.Header.Get("X-Frame-Options") != "DENY") {
				t.Errorf("%v", resp.Header)
			}
		})
	}
}

func TestAddress(t *testing.T) {
	for address, want := range map[string]error{
		"127.0.0.1:0": nil, "localhost:0": nil, "[::1]:0": nil, "127.8.9.1:0": nil,
		"0.0.0.0:0": serve.ErrNoToken, ":0": serve.ErrNoToken, "[::]:0": serve.ErrNoToken, "10.0.0.1:0": serve.ErrNoToken, "db.example:0": serve.ErrNoToken,
	} {
		if _, err := serve.New(serve.Config{Address: address}); !errors.Is(err, want) {
			t.Errorf("%s without a token: %v", address, err)
		}
		if _, err := serve.New(serve.Config{Address: address, Token: token}); err != nil {
			t.Errorf("%s with one: %v", address, err)
		}
	}
	for _, short := range []string{"x", token[:serve.MinToken-1], strings.Repeat("é", serve.MinToken-1)} {
		if _, err := serve.New(serve.Config{Address: "127.0.0.1:0", Token: short}); !errors.Is(err, serve.ErrShortToken) {
			t.Errorf("a token of %d bytes: %v", len(short), err)
		}
	}
	s, err := serve.New(serve.Config{Address: listening(t, "127.0.0.1:0", "")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Listen(t.Context()); !errors.Is(err, serve.ErrTaken) {
		t.Errorf("a port that is taken: %v", err)
	}
}

// TestBounds: a client takes little, however long it is about it.
func TestBounds(t *testing.T) {
	t.Parallel()
	at := listening(t, "127.0.0.1:0", "")
	t.Run("a large body is not read", func(t *testing.T) {
		if resp := ask(t, "POST", "http://"+at+"/below/x", strings.NewReader(strings.Repeat("x", 2<<20)), nil); resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Error(resp.Status)
		}
	})
	t.Run("nor large headers", func(t *testing.T) {
		if resp := ask(t, "GET", "http://"+at+"/open", nil, func(r *http.Request) { r.Header.Set("X", strings.Repeat("x", 64<<10)) }); resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Error(resp.Status)
		}
	})
	t.Run("the addresses of one host are of one network", func(t *testing.T) {
		for address, want := range map[string]string{
			"192.0.2.1:80": "192.0.2.1", "[::ffff:192.0.2.1]:80": "192.0.2.1", "192.0.2.2:81": "192.0.2.2",
			"[2001:db8:1:2::1]:80": "2001:db8:1:2::/64", "[2001:db8:1:2:ffff::9]:81": "2001:db8:1:2::/64", "[2001:db8:1:3::1]:80": "2001:db8:1:3::/64",
			"[fe80::1%eth0]:80": "fe80::/64", "@": "@",
		} {
			if got := serve.Network(address); got != want {
				t.Errorf("%s is of %s", address, got)
			}
		}
	})
	t.Run("connections of some addresses leave room for another's", func(t *testing.T) {
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
		if probe, err := dialer.DialContext(t.Context(), "tcp", at); err != nil {
			t.Skip("this system has no other address on loopback:", err)
		} else {
			probe.Close()
		}
		for n := range 3 * 40 {
			others := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(3+n%3))}}
			conn, err := others.DialContext(t.Context(), "tcp", at)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
		}
		// Less than the server waits for the requests that do not come.
		client := http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}, Timeout: 4 * time.Second}
		defer client.CloseIdleConnections()
		resp, err := client.Get("http://" + at + "/open")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Error(resp.Status)
		}
	})
	t.Run("which an address has again that closes them", func(t *testing.T) {
		for range 40 {
			conn, err := net.Dial("tcp", at)
			if err != nil {
				t.Fatal(err)
			}
			conn.Close()
		}
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		deadline := time.Now().Add(time.Minute)
		for {
			resp, err := client.Get("http://" + at + "/open")
			if err == nil {
				resp.Body.Close()
				return
			}
			if time.Now().After(deadline) {
				t.Fatal(err)
			}
		}
	})
	t.Run("a request that does not come is not waited for", func(t *testing.T) {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprint(conn, "GET /open HTTP/1.1\r\nHost: localhost\r\n")
		_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := io.ReadAll(conn); err != nil {
			t.Errorf("the connection is open still: %v", err)
		}
	})
}
