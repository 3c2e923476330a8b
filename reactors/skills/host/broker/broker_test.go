package broker_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills/host/broker"
	"github.com/helixd/helixd/reactors/skills/host/broker/brokertest"
)

// TestMain names a proxy that nobody can reach: were it used, most tests would fail.
func TestMain(m *testing.M) {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "ALL_PROXY"} {
		if err := os.Setenv(name, "http://127.0.0.1:1"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

const secretValue = `s3cret/"value"+1`

func everywhere(string, uint16) bool { return true }

func secret(_ context.Context, name, _ string) (string, error) {
	if name != "api" {
		return "", sandbox.Errorf("secret_not_found", "no %s", name)
	}
	return secretValue, nil
}

func code(err error) sandbox.Code {
	var e *sandbox.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func TestAddresses(t *testing.T) {
	for text, want := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "::ffff:8.8.8.8": true, "2606:4700::1111": true, "2a00:1450:4001::1": true,
		"100.63.255.255": true, "100.128.0.0": true, "172.15.255.255": true, "172.32.0.0": true, "169.253.0.1": true, "223.255.255.255": true,
		"0.0.0.0": false, "0.1.2.3": false, "10.0.0.1": false, "10.255.255.255": false, "100.64.0.1": false, "100.100.100.200": false, "127.0.0.1": false, "127.255.0.1": false,
		"169.254.169.254": false, "172.16.0.1": false, "172.31.255.255": false, "192.0.0.1": false, "192.0.0.192": false, "192.0.2.1": false, "192.31.196.1": false, "192.52.193.1": false,
		"192.88.99.1": false, "192.168.1.1": false, "192.175.48.1": false, "198.18.0.1": false, "198.19.255.255": false, "198.51.100.1": false, "203.0.113.1": false,
		"224.0.0.1": false, "239.255.255.255": false, "240.0.0.1": false, "255.255.255.255": false, "168.63.129.16": false,
		"::": false, "::1": false, "::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::127.0.0.1": false, "64:ff9b::8.8.8.8": false, "64:ff9b::10.0.0.1": false, "64:ff9b:1::1": false,
		"100::1": false, "100:0:0:1::1": false, "2001::1": false, "2001:2::1": false, "2001:10::1": false, "2001:20::1": false, "2001:db8::1": false, "2002:7f00:1::1": false, "2002:808:808::1": false,
		"2620:4f:8000::1": false, "3ffe::1": false, "3fff::1": false, "3fff:fff::1": false, "5f00::1": false, "fc00::1": false, "fd00:ec2::254": false, "fe80::1": false, "fe80::1%eth0": false,
		"fec0::1": false, "ff02::1": false, "ff0e::1": false, "4000::1": false, "2606:4700::1111%1": false,
	} {
		if got := broker.IsPublic(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s is public: %v", text, got)
		}
	}
	t.Run("are never public where the standard library says what they are", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			b := rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "address")
			a := netip.AddrFrom16([16]byte(b))
			if rapid.Bool().Draw(t, "IPv4") {
				a = netip.AddrFrom4([4]byte(b[:4]))
			}
			special := !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsMulticast() || a.IsLinkLocalUnicast() || a.IsUnspecified()
			if special && broker.IsPublic(a) {
				t.Fatalf("%s", a)
			}
			if a.Is4() && broker.IsPublic(a) != broker.IsPublic(netip.AddrFrom16(a.As16())) {
				t.Fatalf("%s is not what it is mapped", a)
			}
		})
	})
	if broker.IsPublic(netip.Addr{}) {
		t.Error("no address is public")
	}
}

// echo answers with what it was sent.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("X-Authorization", r.Header.Get("Authorization"))
	fmt.Fprintf(w, "%s %s %s\n", r.Method, r.URL, r.Host)
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range r.Header {
			if !yield(name) {
				return
			}
		}
	}) {
		fmt.Fprintf(w, "%s: %s\n", name, r.Header.Get(name))
	}
	w.Write(body) //nolint:errcheck // the client's end says it
}

func TestFetch(t *testing.T) {
	n := brokertest.New(t)
	host := n.Serve(t, http.HandlerFunc(echo), "api.example")[0]
	fetch := func(r broker.Request) (*broker.Response, error) {
		if r.URL == "" {
			r.URL = "https://" + host + "/x?y=1#z"
		}
		return n.Broker.Fetch(t.Context(), r, everywhere, secret)
	}
	t.Run("sends what it is told and gives what comes", func(t *testing.T) {
		resp, err := fetch(broker.Request{Method: "post", Headers: map[string]string{"x-one": "1", "Accept-Encoding": "br"}, Body: []byte("body"), Key: "k-1"})
		if err != nil {
			t.Fatal(err)
		}
		want := "POST /x?y=1 " + host + "\nAccept-Encoding: gzip\nContent-Length: 4\nIdempotency-Key: k-1\nUser-Agent: helixd\nX-One: 1\nbody"
		if resp.Status != 200 || string(resp.Body) != want {
			t.Errorf("%d %s\nwant %s", resp.Status, resp.Body, want)
		}
		if resp.Headers["content-type"] == "" {
			t.Errorf("headers %v", resp.Headers)
		}
	})
	t.Run("keeps the skill's own idempotency key, and gives none to a GET", func(t *testing.T) {
		resp, err := fetch(broker.Request{Method: "PUT", Key: "k-1", Headers: map[string]string{"idempotency-key": "mine"}})
		if err != nil || !strings.Contains(string(resp.Body), "Idempotency-Key: mine\n") {
			t.Errorf("%v %v", resp, err)
		}
		resp, err = fetch(broker.Request{Key: "k-1"})
		if err != nil || strings.Contains(string(resp.Body), "Idempotency-Key") {
			t.Errorf("%v %v", resp, err)
		}
	})
	t.Run("puts a secret into a header and hides it where it comes back", func(t *testing.T) {
		resp, err := fetch(broker.Request{Method: "POST", Headers: map[string]string{"Authorization": "Bearer {{secret:api}}"},
			Body: []byte("{{secret:api}} " + url.QueryEscape(secretValue) + " " + base64.StdEncoding.EncodeToString([]byte(secretValue)) + ` s3cret/\"value\"+1`)})
		if err != nil {
			t.Fatal(err)
		}
		if body := string(resp.Body); !strings.Contains(body, "Authorization: Bearer ***\n") || !strings.HasSuffix(body, "\n{{secret:api}} *** *** ***") {
			t.Errorf("body %s", body)
		}
		if got := resp.Headers["x-authorization"]; got != "Bearer ***" {
			t.Errorf("header %q", got)
		}
	})
	t.Run("sends nothing where a secret cannot be had", func(t *testing.T) {
		if _, err := fetch(broker.Request{Headers: map[string]string{"Authorization": "{{secret:other}}"}}); code(err) != "secret_not_found" {
			t.Error(err)
		}
	})
	t.Run("refuses what no skill may send", func(t *testing.T) {
		for _, r := range []broker.Request{
			{Method: "CONNECT"}, {Method: "TRACE"}, {Method: "OPTIONS"}, {Method: "GET /x HTTP/1.1\r\nHost: y\r\n\r\n"}, {Body: []byte("x")},
			{URL: "http://" + host}, {URL: "ftp://" + host}, {URL: "file:///etc/passwd"}, {URL: "//" + host}, {URL: host}, {URL: "https://u:p@" + host}, {URL: "https://" + host + "/{{secret:api}}"},
			{URL: "https://" + host + "/" + strings.Repeat("x", 9000)}, {URL: "https://" + host + "/\r\nX: y"},
			{Headers: map[string]string{"Host": "other.example"}}, {Headers: map[string]string{"content-length": "1"}}, {Headers: map[string]string{"Transfer-Encoding": "chunked"}},
			{Headers: map[string]string{"Connection": "X-One"}}, {Headers: map[string]string{"TE": "trailers"}}, {Headers: map[string]string{"Upgrade": "h2c"}}, {Headers: map[string]string{"Trailer": "X"}},
			{Headers: map[string]string{"Proxy-Authorization": "x"}}, {Headers: map[string]string{"Keep-Alive": "x"}}, {Headers: map[string]string{"X-Forwarded-For": "127.0.0.1"}},
			{Headers: map[string]string{"X": "1", "x": "2"}}, {Headers: map[string]string{"X: y\r\nZ": "1"}}, {Headers: map[string]string{"X": "1\r\nHost: y"}}, {Headers: map[string]string{"": "1"}},
			{Headers: map[string]string{"X": strings.Repeat("x", 70_000)}},
		} {
			if resp, err := fetch(r); code(err) != broker.InvalidRequest {
				t.Errorf("%.200q gives %v, %v", fmt.Sprint(r), resp, err)
			}
		}
	})
	t.Run("refuses hosts that are no names", func(t *testing.T) {
		for _, u := range []string{"https://127.0.0.1/", "https://[::1]/", "https://localhost/", "https://0x7f.1/", "https://2130706433/", "https://intranet/", "https://", "https://api.example./", "https://１２７.0.0.1/", "https:opaque"} {
			if resp, err := fetch(broker.Request{URL: u}); code(err) != broker.HostNotAllowed {
				t.Errorf("%s gives %v, %v", u, resp, err)
			}
		}
	})
	t.Run("reaches the allowed hosts only, by name and port", func(t *testing.T) {
		var asked []string
		allow := func(host string, port uint16) bool {
			asked = append(asked, fmt.Sprint(host, " ", port))
			return false
		}
		_, err := n.Broker.Fetch(t.Context(), broker.Request{URL: "https://API.example:8443/", Headers: map[string]string{"X": "{{secret:none}}"}}, allow, secret)
		if code(err) != broker.HostNotAllowed || !slices.Equal(asked, []string{"api.example 8443"}) {
			t.Errorf("%v, asked for %v", err, asked)
		}
	})
	t.Run("ends with its context", func(t *testing.T) {
		slow := n.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), "slow.example")[0]
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if _, err := n.Broker.Fetch(ctx, broker.Request{URL: "https://" + slow}, everywhere, secret); code(err) != broker.NetworkError {
			t.Error(err)
		}
	})
}

func TestResponses(t *testing.T) {
	n := brokertest.New(t)
	host := n.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/most":
			w.Write(make([]byte, broker.MaxBody)) //nolint:errcheck // the client's end says it
		case "/more":
			w.Write(make([]byte, broker.MaxBody+1)) //nolint:errcheck // the client ends it
		case "/endless":
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			for range 1000 {
				if _, err := z.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		case "/small.gz":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			z.Write([]byte("unpacked")) //nolint:errcheck // the client's end says it
			z.Close()                   //nolint:errcheck // as above
		case "/headers":
			for i := range 100 {
				w.Header().Set(fmt.Sprint("X-", i), strings.Repeat("x", 1000))
			}
		}
	}), "api.example")[0]
	for path, want := range map[string]sandbox.Code{"/more": broker.ResponseTooLarge, "/endless": broker.ResponseTooLarge, "/bomb": broker.ResponseTooLarge, "/headers": broker.NetworkError} {
		t.Run(path+" is too much", func(t *testing.T) {
			if resp, err := n.Broker.Fetch(t.Context(), broker.Request{URL: "https://" + host + path}, everywhere, secret); code(err) != want {
				t.Errorf("%v, %v", resp != nil, err)
			}
		})
	}
	t.Run("as long as may be are whole", func(t *testing.T) {
		resp, err := n.Broker.Fetch(t.Context(), broker.Request{URL: "https://" + host + "/most"}, everywhere, secret)
		if err != nil || !bytes.Equal(resp.Body, make([]byte, broker.MaxBody)) {
			t.Error(err)
		}
	})
	t.Run("are unpacked", func(t *testing.T) {
		resp, err := n.Broker.Fetch(t.Context(), broker.Request{URL: "https://" + host + "/small.gz"}, everywhere, secret)
		if err != nil || string(resp.Body) != "unpacked" {
			t.Errorf("%v, %v", resp, err)
		}
	})
}

func TestNames(t *testing.T) {
	n := brokertest.New(t)
	reached := func(w http.ResponseWriter, r *http.Request) { t.Errorf("%s was reached", r.Host) }
	host := n.Serve(t, http.HandlerFunc(reached), "inside.example")[0]
	_, port, err := net.SplitHostPort(host)
	if err != nil {
		t.Fatal(err)
	}
	for name, addresses := range map[string][]string{
		"private.example":  {"10.0.0.1"},
		"loopback.example": {"127.0.0.2"}, // which on Linux answers as well
		"metadata.example": {"169.254.169.254"},
		"mapped.example":   {"::ffff:127.0.0.2"},
		"six.example":      {"::1"},
		"nat64.example":    {"64:ff9b::7f00:2"},
		"both.example":     {"8.8.8.8", "127.0.0.2"}, // one of them is enough
		"all.example":      {"127.0.0.1", "::1"},
		"second.example":   {"127.0.0.1", "127.0.0.2"},
	} {
		n.Name(name, addresses...)
		t.Run(name+" is forbidden", func(t *testing.T) {
			_, err := n.Broker.Fetch(t.Context(), broker.Request{URL: "https://" + name + ":" + port}, everywhere, secret)
			if code(err) != broker.AddressForbidden {
				t.Error(err)
			}
			if err != nil && slices.ContainsFunc(addresses, func(a string) bool { return strings.Contains(err.Error(), a) }) {
				t.Errorf("the error tells the address: %v", err)
			}
		})
	}
	t.Run("that are not there are an error of the network", func(t *testing.T) {
		if _, err := n.Broker.Fetch(t.Context(), broker.Request{URL: "https://nowhere.example"}, everywhere, secret); code(err) != broker.NetworkError {
			t.Error(err)
		}
	})
	t.Run("that have another certificate are an error of the network", func(t *testing.T) {
		n.Name("other.example", n.Permitted.String())
		if _, err := n.Broker.Fetch(t.Context(), broker.Request{URL: "https://other.example:" + port}, everywhere, secret); code(err) != broker.NetworkError || !strings.Contains(err.Error(), "certificate") {
			t.Error(err)
		}
	})
	t.Run("that change their mind are looked up once a connection", func(t *testing.T) {
		rebinding := n.Serve(t, http.HandlerFunc(echo), "rebinding.example")[0]
		n.Name("rebinding.example", "127.0.0.2") // from the second time on
		if _, err := n.Broker.Fetch(t.Context(), broker.Request{URL: "https://" + rebinding}, everywhere, secret); err != nil {
			t.Error(err)
		}
		if got := n.Lookups("rebinding.example"); got != 1 {
			t.Errorf("%d lookups", got)
		}
		n.Broker.Close()
		if _, err := n.Broker.Fetch(t.Context(), broker.Request{URL: "https://" + rebinding}, everywhere, secret); code(err) != broker.AddressForbidden {
			t.Error(err)
		}
	})
}

func TestRedirects(t *testing.T) {
	n := brokertest.New(t)
	var hosts []string
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
			return
		}
		echo(w, r)
	})
	hosts = n.Serve(t, handler, "one.example", "two.example", "sub.one.example")
	one, two, sub := "https://"+hosts[0], "https://"+hosts[1], "https://"+hosts[2]
	n.Name("private.example", "10.0.0.1")
	to := func(first string, next ...string) string {
		u := next[len(next)-1]
		for _, hop := range slices.Backward(append([]string{first}, next[:len(next)-1]...)) {
			u = hop + "/?to=" + url.QueryEscape(u)
		}
		return u
	}
	fetch := func(u string, allow broker.Allow) (*broker.Response, error) {
		return n.Broker.Fetch(t.Context(), broker.Request{Method: "POST", URL: u, Body: []byte("body"), Key: "k",
			Headers: map[string]string{"X-Api-Key": "{{secret:api}}", "Authorization": "Basic x", "Cookie": "a=b", "X-Plain": "plain"}}, allow, secret)
	}
	kept := func(t *testing.T, u string, want bool) {
		t.Helper()
		resp, err := fetch(u, everywhere)
		if err != nil {
			t.Fatal(err)
		}
		body := string(resp.Body)
		for _, header := range []string{"X-Api-Key: ***", "Authorization: Basic x", "Cookie: a=b"} {
			if strings.Contains(body, header) != want {
				t.Errorf("%s was sent: %v", header, !want)
			}
		}
		if !strings.Contains(body, "X-Plain: plain") || !strings.HasSuffix(body, "body") || strings.Contains(body, "Referer") {
			t.Errorf("arrived as %s", body)
		}
	}
	t.Run("within a host take credentials along", func(t *testing.T) { kept(t, to(one, one+"/end"), true) })
	t.Run("to another host take none", func(t *testing.T) { kept(t, to(one, two+"/end"), false) })
	t.Run("to a subdomain take none", func(t *testing.T) { kept(t, to(one, sub+"/end"), false) })
	t.Run("to another host and back take none", func(t *testing.T) { kept(t, to(one, two, one+"/end"), false) })
	t.Run("reach allowed hosts only", func(t *testing.T) {
		if _, err := fetch(to(one, two+"/end"), func(host string, _ uint16) bool { return host == "one.example" }); code(err) != broker.HostNotAllowed {
			t.Error(err)
		}
	})
	for _, u := range []string{"https://private.example/", "https://10.0.0.1/", "http://one.example/", "file:///etc/passwd", "https://localhost/"} {
		t.Run("do not reach "+u, func(t *testing.T) {
			if resp, err := fetch(to(one, u), everywhere); err == nil || !slices.Contains([]sandbox.Code{broker.AddressForbidden, broker.HostNotAllowed, broker.InvalidRequest}, code(err)) {
				t.Errorf("%v, %v", resp, err)
			}
		})
	}
	t.Run("end after five", func(t *testing.T) {
		if _, err := fetch(to(one, one, one, one, one, one+"/end"), everywhere); err != nil {
			t.Error(err)
		}
		if _, err := fetch(to(one, one, one, one, one, one, one+"/end"), everywhere); code(err) != broker.NetworkError {
			t.Error(err)
		}
	})
}

func TestRoundTripper(t *testing.T) {
	n := brokertest.New(t)
	hosts := n.Serve(t, http.HandlerFunc(echo), "mcp.example", "other.example")
	client := http.Client{Transport: n.Broker.RoundTripper(func(host string, _ uint16) bool { return host == "mcp.example" })}
	get := func(u string, change func(*http.Request)) error {
		r, err := http.NewRequestWithContext(t.Context(), "GET", u, nil)
		if err != nil {
			t.Fatal(err)
		}
		change(r)
		resp, err := client.Do(r)
		if err == nil {
			resp.Body.Close() //nolint:errcheck // it was asked whether there is one
		}
		return err
	}
	same := func(*http.Request) {}
	if err := get("https://"+strings.ToUpper(hosts[0]), same); err != nil {
		t.Error(err)
	}
	if err := get("https://"+hosts[1], same); code(err) != broker.HostNotAllowed {
		t.Error(err)
	}
	if err := get("https://"+hosts[0], func(r *http.Request) { r.Host = "other.example" }); code(err) != broker.InvalidRequest {
		t.Error(err)
	}
	if err := get("http://"+hosts[0], same); code(err) != broker.InvalidRequest {
		t.Error(err)
	}
}
