package serve_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestTricks: however a request is written, without the token or with a web page's
// host it gets nothing that is not open, and is not sent to another site.
func TestTricks(t *testing.T) {
	guarded, loopback := listening(t, "127.0.0.1:0", token), listening(t, "127.0.0.1:0", "")
	raw := func(t *testing.T, at, request string) *http.Response {
		t.Helper()
		conn, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		fmt.Fprint(conn, request)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	refused := func(t *testing.T, resp *http.Response) {
		t.Helper()
		if to := resp.Header.Get("Location"); resp.StatusCode < 300 || to != "" && (!strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.HasPrefix(to, `/\`)) {
			t.Errorf("%s %v", resp.Status, resp.Header)
		}
	}
	for _, path := range []string{"/closed", "//closed", "/./closed", "/open/../closed", "/open/%2e%2e/closed", "/open%2f..%2fclosed", "/below/../closed", "/below//x", "//below/x",
		"/below%2fx", "/below/%2e%2e/%2e%2e/x", "//evil.example/../closed", `/\evil.example/..//x`, "/closed;open", "/closed?/open", "/CLOSED", "/closed/", "/below", "http://localhost/closed"} {
		for _, method := range []string{"GET", "HEAD", "POST", "OPTIONS", "CONNECT", "PROPFIND", "get"} {
			t.Run(method+" "+path, func(t *testing.T) {
				refused(t, raw(t, guarded, method+" "+path+" HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 127.0.0.1\r\nX-Original-URL: /open\r\nX-HTTP-Method-Override: GET\r\nContent-Length: 0\r\n\r\n"))
				if !strings.HasPrefix(path, "http:") {
					refused(t, raw(t, loopback, method+" "+path+" HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: localhost\r\nForwarded: host=localhost\r\nContent-Length: 0\r\n\r\n"))
				}
			})
		}
	}
	for name, head := range map[string]string{
		"no host, as of old":           "GET /open HTTP/1.0\r\n\r\n",
		"two hosts":                    "GET /open HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
		"a host within an address":     "GET http://evil.example/open HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"a user before the host":       "GET /open HTTP/1.1\r\nHost: localhost@evil.example\r\n\r\n",
		"any address":                  "GET /open HTTP/1.1\r\nHost: 0.0.0.0:9464\r\n\r\n",
		"a name for loopback":          "GET /open HTTP/1.1\r\nHost: 127.0.0.1.nip.io\r\n\r\n",
		"another page on this machine": "POST /below/x HTTP/1.1\r\nHost: localhost:9464\r\nOrigin: http://localhost:3000\r\nContent-Length: 0\r\n\r\n",
		"a page without an origin":     "POST /below/x HTTP/1.1\r\nHost: localhost:9464\r\nOrigin: null\r\nContent-Length: 0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) { refused(t, raw(t, loopback, head)) })
	}
}
