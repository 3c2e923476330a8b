package trace

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"golang.org/x/net/http/httpguts"
	"google.golang.org/protobuf/proto"
)

// collector sends spans as OTLP over HTTP. OpenTelemetry's own client links gRPC, of
// which it uses nothing here, and with it a third of the program.
type collector struct {
	url    *url.URL
	header http.Header
	gzip   bool
	http   *http.Client
}

const (
	sendTimeout = 10 * time.Second // OpenTelemetry's default
	firstPause  = 500 * time.Millisecond
	mostAnswer  = 64 << 10
)

// variables is the environment. Those of OTLP are for traces or for all signals.
type variables func(name string) string

func (get variables) otlp(name string) string {
	if v := get("OTEL_EXPORTER_OTLP_TRACES_" + name); v != "" {
		return v
	}
	return get("OTEL_EXPORTER_OTLP_" + name)
}

// newCollector reads the environment; nil: it names no collector. What is wrong is
// said without the value, which may be a secret.
func newCollector(getenv func(string) string) (*collector, error) {
	get := variables(getenv)
	endpoint, path := get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), ""
	if endpoint == "" {
		endpoint, path = get("OTEL_EXPORTER_OTLP_ENDPOINT"), "/v1/traces"
	}
	if endpoint == "" || strings.EqualFold(get("OTEL_SDK_DISABLED"), "true") || get("OTEL_TRACES_EXPORTER") == "none" {
		return nil, nil
	}
	if p := get.otlp("PROTOCOL"); p != "" && p != "http/protobuf" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL %q: helixd speaks http/protobuf, most often at port 4318", p)
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT is no address; it looks like http://localhost:4318")
	}
	if u.Path = strings.TrimRight(u.Path, "/") + path; u.Path == "" {
		u.Path = "/"
	}
	c := &collector{url: u, header: http.Header{}, gzip: get.otlp("COMPRESSION") == "gzip"}
	for pair := range strings.SplitSeq(get.otlp("HEADERS"), ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if value, err = url.PathUnescape(strings.TrimSpace(value)); strings.TrimSpace(pair) != "" && (!ok || err != nil) {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS is not name=value,...")
		}
		if ok {
			if name = strings.TrimSpace(name); !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
				return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS is not name=value,...")
			}
			c.header.Set(name, value)
		}
	}
	timeout := sendTimeout
	if ms := get.otlp("TIMEOUT"); ms != "" {
		n, err := strconv.Atoi(ms)
		if err != nil || n <= 0 {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT %q: it takes milliseconds", ms)
		}
		timeout = time.Duration(n) * time.Millisecond
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if transport.TLSClientConfig, err = get.tls(); err != nil {
		return nil, err
	}
	c.http = &http.Client{Transport: transport, Timeout: timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // headers are not for others
	return c, nil
}

// tls reads the certificates that the environment names.
func (get variables) tls() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if file := get.otlp("CERTIFICATE"); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %s has no certificate", file)
		}
	}
	if file := get.otlp("CLIENT_CERTIFICATE"); file != "" {
		pair, err := tls.LoadX509KeyPair(file, get.otlp("CLIENT_KEY"))
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// Start implements otlptrace.Client: there is nothing to open.
func (*collector) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *collector) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// name is the collector for the log: some take their key in the path or the query.
func (c *collector) name() string { return c.url.Scheme + "://" + c.url.Host }

// UploadTraces implements otlptrace.Client. It tries again where that may help, until
// ctx ends.
func (c *collector) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// It is the same on the wire as the collector service's own message.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return fmt.Errorf("write spans: %w", err)
	}
	if c.gzip {
		var zipped bytes.Buffer
		w := gzip.NewWriter(&zipped)
		_, _ = w.Write(body) // into memory
		_ = w.Close()
		body = zipped.Bytes()
	}
	for pause := firstPause; ; pause *= 2 {
		again, err := c.send(ctx, body)
		if err == nil || !again {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// send makes one request.
func (c *collector) send(ctx context.Context, body []byte) (again bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url.String(), bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	r.Header = c.header.Clone()
	r.Header.Set("User-Agent", "helixd")
	r.Header.Set("Content-Type", "application/x-protobuf")
	if c.gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	resp, err := c.http.Do(r)
	if err != nil {
		var of *url.Error
		if errors.As(err, &of) { // it quotes the address
			err = of.Err
		}
		return true, fmt.Errorf("send spans to %s: %w", c.name(), err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, mostAnswer)) // so that the connection is used again
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	if resp.StatusCode/100 != 2 {
		// Not the words of its status: they may repeat what it was sent.
		return again, fmt.Errorf("send spans to %s: %d %s", c.name(), resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	return false, nil
}
