package main_test

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/helixd/helixd/reactors/llm/llmtest"
	"github.com/helixd/helixd/testenv"
)

// collector takes spans as OTLP over HTTP.
type collector struct {
	*httptest.Server
	mu    sync.Mutex
	spans []*tracepb.Span
	raw   []byte // all that was sent
	odd   []string
}

const collectorKey = "canary-9f1d07c35b"

func newCollector(t *testing.T) *collector {
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		complain := func(format string, args ...any) { c.odd = append(c.odd, fmt.Sprintf(format, args...)) }
		if r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" || r.Header.Get("X-Key") != collectorKey {
			complain("%s %v", r.URL.Path, r.Header)
		}
		unzipped, err := gzip.NewReader(r.Body)
		if err != nil {
			complain("%v", err)
			return
		}
		body, err := io.ReadAll(unzipped)
		if err != nil {
			complain("%v", err)
			return
		}
		var data tracepb.TracesData
		if err := proto.Unmarshal(body, &data); err != nil {
			complain("%v", err)
			return
		}
		c.raw = append(c.raw, body...)
		for _, rs := range data.ResourceSpans {
			if name := attribute(rs.Resource.Attributes, "service.name"); name != "helixd-of-a-test" {
				complain("service %q", name)
			}
			for _, ss := range rs.ScopeSpans {
				c.spans = append(c.spans, ss.Spans...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// trace gives the spans of the trace that has one with this attribute, by their
// beginning; nil: there is none yet.
func (c *collector) trace(key, value string) []*tracepb.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.spans, func(s *tracepb.Span) bool { return attribute(s.Attributes, key) == value })
	if i < 0 {
		return nil
	}
	var all []*tracepb.Span
	for _, s := range c.spans {
		if bytes.Equal(s.TraceId, c.spans[i].TraceId) {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *tracepb.Span) int { return int(int64(a.StartTimeUnixNano) - int64(b.StartTimeUnixNano)) })
	return all
}

func attribute(of []*commonpb.KeyValue, key string) string {
	for _, a := range of {
		if a.Key == key {
			if n, ok := a.Value.Value.(*commonpb.AnyValue_IntValue); ok {
				return fmt.Sprint(n.IntValue)
			}
			return a.Value.GetStringValue()
		}
	}
	return ""
}

// TestTraces: what comes of a row is one trace, from its commit to that of the result,
// with the request to a provider between; nothing of the row is in it.
func TestTraces(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	model, c := llmtest.New(t), newCollector(t)
	user := db.NewUser(t).ID
	p := start(t, db.URL("postgres"), []string{"ANTHROPIC_API_KEY=" + llmtest.Key, "HELIX_ANTHROPIC_URL=" + model.URL,
		"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.URL, "OTEL_EXPORTER_OTLP_HEADERS=x-key=" + collectorKey, "OTEL_EXPORTER_OTLP_COMPRESSION=gzip",
		"OTEL_SERVICE_NAME=helixd-of-a-test", "OTEL_BSP_SCHEDULE_DELAY=100"}, "run", "--log-level", "trace", "--slot", db.SlotName("trace"))
	until(t, "streaming", func() bool { return strings.Contains(p.log.String(), `"streaming"`) })
	before := time.Now()
	run := get[uuid.UUID](t, admin, "insert into skill_runs (user_id, definition) values ($1, $2) returning id", user, `{"kind": "composite", "capabilities": ["llm"],
		"steps": [{"stepId": "a", "toolName": "llm", "inputMapping": {"prompt": "a word: quokka-41", "max_tokens": 100}}]}`)
	until(t, "the run's result", func() bool {
		return get[string](t, admin, "select status from skill_runs where id = $1", run) == "succeeded"
	})
	p.stop(t) // sends the last spans

	spans := c.trace("helixd.run.id", run.String())
	byID := map[string]*tracepb.Span{}
	for _, s := range spans {
		byID[hex.EncodeToString(s.SpanId)] = s
	}
	path := func(s *tracepb.Span) string {
		names := []string{s.Name}
		for p := byID[hex.EncodeToString(s.ParentSpanId)]; p != nil; p = byID[hex.EncodeToString(p.ParentSpanId)] {
			names = append(names, p.Name)
		}
		slices.Reverse(names)
		return strings.Join(names, " / ")
	}
	var got []string
	at := map[string]*tracepb.Span{}
	for _, s := range spans {
		got = append(got, path(s))
		at[path(s)] = s
	}
	for _, want := range []string{
		"apply", "apply / react skills", "apply / commit", "apply / enqueue skill_lane", "apply / enqueue skill_lane / wait skills",
		"apply / enqueue skill_lane / work skill_lane", "apply / enqueue skill_lane / work skill_lane / run",
		"apply / enqueue skill_lane / work skill_lane / run / POST 127.0.0.1", "apply / enqueue skill_lane / work skill_lane / run / commit",
	} {
		if at[want] == nil {
			t.Fatalf("no %q in\n%s", want, strings.Join(got, "\n"))
		}
	}
	for _, s := range spans {
		if s.Status != nil && s.Status.Code == tracepb.Status_STATUS_CODE_ERROR || s.EndTimeUnixNano < s.StartTimeUnixNano {
			t.Errorf("%s: %v", path(s), s)
		}
	}
	apply, result := at["apply"], at["apply / enqueue skill_lane / work skill_lane / run / commit"]
	if len(apply.ParentSpanId) != 0 || attribute(apply.Attributes, "helixd.transactions") != "1" || attribute(apply.Attributes, "helixd.changes") == "" ||
		!strings.Contains(attribute(apply.Attributes, "helixd.lsn"), "/") {
		t.Errorf("apply is %v", apply)
	}
	committed := time.Unix(0, int64(apply.StartTimeUnixNano))
	if received := at["apply / react skills"]; committed.Before(before.Add(-time.Second)) || apply.StartTimeUnixNano >= received.StartTimeUnixNano || result.EndTimeUnixNano <= apply.EndTimeUnixNano {
		t.Errorf("the row was inserted at %v; the trace is\n%v", before, spans)
	}
	if asked := at["apply / enqueue skill_lane / work skill_lane / run / POST 127.0.0.1"]; asked.Kind != tracepb.Span_SPAN_KIND_CLIENT || attribute(asked.Attributes, "http.response.status_code") != "200" {
		t.Errorf("the provider's request is %v", asked)
	}
	for _, secret := range []string{user, "quokka-41", llmtest.Key, "You said"} {
		if bytes.Contains(c.raw, []byte(secret)) {
			t.Errorf("the spans have %q", secret)
		}
	}
	if strings.Contains(p.log.String(), collectorKey) {
		t.Error("the log has the collector's key")
	}
	if len(c.odd) > 0 {
		t.Errorf("the collector says %q", c.odd)
	}
}

// TestCollectorAway: work goes on and helixd ends in time, whatever becomes of spans.
func TestCollectorAway(t *testing.T) {
	t.Parallel()
	silent := make(chan struct{})
	stuck := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-silent }))
	t.Cleanup(stuck.Close)
	t.Cleanup(func() { close(silent) })
	gone := httptest.NewServer(nil)
	gone.Close()
	for name, c := range map[string]struct {
		url  string
		told bool
	}{"it never answers": {stuck.URL, false}, "nobody listens": {gone.URL, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := testenv.New(t)
			admin := migrated(t, db)
			user := db.NewUser(t).ID
			p := start(t, db.URL("postgres"), []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=" + c.url + "/v1/traces",
				"OTEL_BSP_MAX_QUEUE_SIZE=16", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE=16", "OTEL_BSP_SCHEDULE_DELAY=10", "OTEL_BSP_EXPORT_TIMEOUT=700"}, "run", "--slot", db.SlotName("trace"))
			// Far more spans than the queue holds.
			exec1(t, admin, `insert into skill_runs (user_id, definition, dry_run) select $1, '{"kind": "javascript", "source": "execute = () => 7"}', true from generate_series(1, 200)`, user)
			until(t, "all results", func() bool {
				return !get[bool](t, admin, "select exists (select from skill_runs where finished_at is null)")
			})
			if c.told {
				until(t, "a line about it", func() bool { return strings.Contains(p.log.String(), "spans do not reach their collector") })
			}
			began := time.Now()
			p.stop(t)
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %v to end", took)
			}
			if n := strings.Count(p.log.String(), "spans do not reach their collector"); n > 2 {
				t.Errorf("the log complains %d times", n)
			}
		})
	}
}

// TestTraceSettings: what cannot be followed is said at the start, without what may be a secret.
func TestTraceSettings(t *testing.T) {
	t.Parallel()
	const secret = "canary-77e0"
	for variable, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4318/" + secret,
		"OTEL_EXPORTER_OTLP_HEADERS": secret, "OTEL_EXPORTER_OTLP_TIMEOUT": "10s", "OTEL_EXPORTER_OTLP_CERTIFICATE": "no-such-file",
	} {
		t.Run(variable, func(t *testing.T) {
			_, errs, status := command(t, "postgresql://postgres@127.0.0.1:1/postgres", "", []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", variable + "=" + value}, "run")
			if status != 1 || !strings.Contains(errs, variable) || !strings.Contains(errs, "docs/tracing.md") || strings.Contains(errs, secret) {
				t.Errorf("exit status %d: %s", status, errs)
			}
		})
	}
}
