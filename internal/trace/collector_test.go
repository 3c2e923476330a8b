package trace_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/helixd/helixd/internal/trace"
)

// TestCollectorsKeyIsNotLogged: some collectors take their key in the path or the query
// of their address, and one that refuses may repeat a header in its status.
func TestCollectorsKeyIsNotLogged(t *testing.T) {
	const key = "canary-5b1e90"
	refusing, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = refusing.Close() })
	go func() {
		for {
			conn, err := refusing.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if r, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					fmt.Fprintf(conn, "HTTP/1.1 403 %s\r\nContent-Length: 0\r\n\r\n", r.Header.Get("X-Key"))
				}
			}()
		}
	}()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]net.Addr{"it refuses": refusing.Addr(), "nobody listens": gone.Addr()} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			env := map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://" + at.String() + "/" + key + "?key=" + key, "OTEL_EXPORTER_OTLP_HEADERS": "x-key=" + key}
			end, err := trace.Begin(t.Context(), func(name string) string { return env[name] }, "test", "test", zerolog.New(&log))
			if err != nil {
				t.Fatal(err)
			}
			trace.Apply(t.Context(), time.Now()).End(nil)
			end()
			if said := log.String(); strings.Contains(said, key) || !strings.Contains(said, at.String()) || !strings.Contains(said, "spans") {
				t.Error(said)
			}
		})
	}
	t.Run("a header that cannot be sent", func(t *testing.T) {
		for _, headers := range []string{"x-key=" + key + "%0d%0ax-more=1", key + " x=1"} {
			env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_HEADERS": headers}
			_, err := trace.Begin(t.Context(), func(name string) string { return env[name] }, "test", "test", zerolog.Nop())
			if err == nil || !strings.Contains(err.Error(), "OTEL_EXPORTER_OTLP_HEADERS") || strings.Contains(err.Error(), key) {
				t.Errorf("%q: %v", headers, err)
			}
		}
	})
}
