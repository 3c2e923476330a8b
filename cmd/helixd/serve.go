package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/internal/metric"
	"github.com/helixd/helixd/internal/pulse"
	"github.com/helixd/helixd/internal/riverui"
	"github.com/helixd/helixd/internal/serve"
	"github.com/helixd/helixd/internal/status"
	"github.com/helixd/helixd/replication/stream"
)

// httpSettings say how helixd run answers over HTTP.
type httpSettings struct {
	address string // as it was given; "": the default
	token   string
	limit   string

	applyLimit time.Duration
}

const (
	defaultAddress = "127.0.0.1:9464" // the port that OpenTelemetry's exporters for Prometheus have
	addressOff     = "off"

	riverPrefix = "/river/" // River's own interface
)

func (s *httpSettings) settings() []setting {
	return []setting{
		{"http", "HELIX_HTTP", "", "of helixd run: where /livez, /readyz, /metrics and /status are, or off; " + defaultAddress + " if it is free", &s.address},
		{"", "HELIX_HTTP_TOKEN", "", "", &s.token},
		{"livez-apply", "HELIX_LIVEZ_APPLY", "5m", "how long one apply may take until /livez says that it is stuck", &s.limit},
	}
}

func (s *httpSettings) parse() error {
	var err error
	if s.applyLimit, err = time.ParseDuration(s.limit); err != nil || s.applyLimit <= 0 {
		return &usageError{fmt.Errorf("--livez-apply %q: it takes a time, such as 5m", s.limit)}
	}
	if s.address == "" || s.address == addressOff {
		return nil
	}
	if _, port, err := net.SplitHostPort(s.address); err != nil || port == "" {
		return &usageError{fmt.Errorf("--http %q: it takes an address and a port, such as %s, or off", s.address, defaultAddress)}
	}
	return nil
}

// States of helixd run.
const (
	stateStarting = "starting" // or trying again
	stateLeading  = "leading"
	stateStandby  = "standby"
	stateWorking  = "working"
)

// observed is helixd run as it is seen from outside.
type observed struct {
	state  atomic.Pointer[string]
	signed atomic.Pointer[time.Time] // when the last heartbeat that was written was sent
}

func newObserved() *observed {
	o := &observed{}
	o.is(stateStarting)
	o.sign(time.Time{})
	metric.Build(version())
	return o
}

// is tells what the process does now.
func (o *observed) is(state string) { o.state.Store(&state) }

// sign tells of a heartbeat.
func (o *observed) sign(sent time.Time) { o.signed.Store(&sent) }

// now is what the process does. A leader whose signs do not get through does not say
// that it leads once a standby may have taken over.
func (o *observed) now() string {
	state := *o.state.Load()
	if state == stateLeading && time.Since(*o.signed.Load()) > stream.StaleAfter {
		return stateStarting
	}
	return state
}

// serveHTTP answers until the server is closed, which is nil where that is off. A port
// that somebody has asked for and that is taken is an error: what he looks at would be
// another process. The default one is only lost: of two processes on one machine the
// second must work all the same.
func serveHTTP(ctx context.Context, cfg *config, pool *pgxpool.Pool, o *observed, log zerolog.Logger) (*serve.Server, error) {
	if cfg.http.address == addressOff {
		return nil, nil
	}
	address := cfg.http.address
	if address == "" {
		address = defaultAddress
	}
	pulse.Apply.Limit(cfg.http.applyLimit)
	server, err := serve.New(serve.Config{Address: address, Token: cfg.http.token, Log: log})
	if errors.Is(err, serve.ErrNoToken) {
		return nil, &stream.SetupError{Problem: "others than this machine can reach " + address + ", and HELIX_HTTP_TOKEN is not set",
			Hint: "Set it to a long random text, such as openssl rand -hex 32 gives; or listen on 127.0.0.1; or set HELIX_HTTP=off."}
	}
	if errors.Is(err, serve.ErrShortToken) {
		return nil, &stream.SetupError{Problem: fmt.Sprintf("HELIX_HTTP_TOKEN is shorter than %d characters, and can be guessed", serve.MinToken),
			Hint: "Set it to a long random text, such as openssl rand -hex 32 gives."}
	}
	if err != nil {
		return nil, err
	}
	source := cfg.source(pool)
	reader := status.NewReader(source.Read)
	server.Open("GET /livez", http.HandlerFunc(live))
	server.Open("GET /readyz", o.ready(reader))
	server.Mount("GET /metrics", promhttp.HandlerFor(metric.Registry(status.NewCollector(reader), metric.State(o.now, stateStarting, stateLeading, stateStandby, stateWorking)), promhttp.HandlerOpts{MaxRequestsInFlight: 4}))
	server.Mount("GET /status", statusHandler(reader, log))
	server.Mount(riverPrefix, riverui.New(riverPrefix, "helix", pool, riverLogger(log)))
	at, err := server.Listen(ctx)
	switch {
	case errors.Is(err, serve.ErrTaken) && cfg.http.address == "":
		log.Warn().Str("address", address).Str("next", "give this process a port of its own with HELIX_HTTP, or set it to off").
			Msg("another process has the port: no metrics of this one")
		return nil, nil
	case errors.Is(err, serve.ErrTaken):
		return nil, &stream.SetupError{Problem: "another process has the port of " + address,
			Hint: "Choose another one with HELIX_HTTP or --http, or set it to off."}
	case err != nil:
		return nil, err
	}
	log.Info().Stringer("address", at).Bool("token", cfg.http.token != "").Msg("metrics and health over HTTP")
	return server, nil
}

// live says whether what must go on does.
func live(w http.ResponseWriter, _ *http.Request) {
	stuck := pulse.Look()
	if len(stuck) == 0 {
		answer(w, http.StatusOK, "ok")
		return
	}
	var lines []string
	for _, s := range stuck {
		lines = append(lines, s.String())
	}
	answer(w, http.StatusServiceUnavailable, strings.Join(lines, "\n"))
}

// ready says whether the process does what it is for.
func (o *observed) ready(reader *status.Reader) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		report, err := reader.Report(r.Context())
		state := o.now() // after what may take seconds
		switch {
		case err != nil: // which is not for everybody
			answer(w, http.StatusServiceUnavailable, "the database cannot be read")
		case len(report.Migrations.Pending) > 0:
			answer(w, http.StatusServiceUnavailable, "the schema lacks migrations")
		case state == stateStarting:
			answer(w, http.StatusServiceUnavailable, state)
		default:
			answer(w, http.StatusOK, state)
		}
	})
}

func answer(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = fmt.Fprintln(w, text) // whoever has gone does not want it
}

// statusHandler gives what helixd status prints as JSON.
func statusHandler(reader *status.Reader, log zerolog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		report, err := reader.Report(r.Context())
		w.Header().Set("Content-Type", "application/json")
		if err != nil {
			log.Warn().Err(err).Msg("the status could not be read")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = fmt.Fprintln(w, `{"error":"the database cannot be read; the log says why"}`)
			return
		}
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(report) // as in answer
	})
}
