package trace

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	otrace "go.opentelemetry.io/otel/trace"
)

// Jobs lets traces go on in River's jobs: each carries in its metadata the span that
// enqueued it, in the same transaction. It gives nothing where nothing is collected.
func Jobs() []rivertype.Middleware {
	if !On() {
		return nil
	}
	return []rivertype.Middleware{&jobs{}}
}

type jobs struct{ river.MiddlewareDefaults }

// working is the context key of the kind of job that is worked.
type working struct{}

// InsertMany implements rivertype.JobInsertMiddleware.
func (*jobs) InsertMany(ctx context.Context, many []*rivertype.JobInsertParams, insert func(context.Context) ([]*rivertype.JobInsertResult, error)) ([]*rivertype.JobInsertResult, error) {
	// Jobs that keep themselves going would be in one trace for ever.
	self, _ := ctx.Value(working{}).(string)
	traced := slices.DeleteFunc(slices.Clone(many), func(p *rivertype.JobInsertParams) bool { return p.Kind == self })
	if len(traced) == 0 || !inSpan(ctx) {
		return insert(ctx)
	}
	name := traced[0].Kind
	if slices.ContainsFunc(traced, func(p *rivertype.JobInsertParams) bool { return p.Kind != name }) {
		name = "jobs"
	}
	inner, span := start(ctx, []string{"enqueue", name}, otrace.WithSpanKind(otrace.SpanKindProducer))
	span.Count("helixd.jobs", len(traced))
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(inner, carrier)
	for _, p := range traced {
		metadata := map[string]json.RawMessage{}
		if len(p.Metadata) > 0 {
			if err := json.Unmarshal(p.Metadata, &metadata); err != nil {
				return nil, fmt.Errorf("metadata of %s: %w", p.Kind, err)
			}
		}
		for k, v := range carrier { // hexadecimal digits and hyphens
			metadata[k] = json.RawMessage(`"` + v + `"`)
		}
		var err error
		if p.Metadata, err = json.Marshal(metadata); err != nil {
			return nil, err
		}
	}
	inserted, err := insert(inner)
	span.End(err)
	return inserted, err
}

// Work implements rivertype.WorkerMiddleware.
func (*jobs) Work(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) error {
	carrier := propagation.MapCarrier{}
	var metadata struct {
		Traceparent string `json:"traceparent"`
	}
	if json.Unmarshal(job.Metadata, &metadata) == nil && metadata.Traceparent != "" {
		carrier.Set("traceparent", metadata.Traceparent)
		ctx = propagation.TraceContext{}.Extract(ctx, carrier)
		// The time in the queue is a span, too: it is what one looks for first.
		now := time.Now()
		due := job.ScheduledAt
		if due.After(now) {
			due = now
		}
		_, wait := start(ctx, []string{"wait", job.Queue}, otrace.WithTimestamp(due))
		if wait != nil {
			wait.span.End(otrace.WithTimestamp(now))
		}
	}
	ctx, span := start(ctx, []string{"work", job.Kind}, otrace.WithSpanKind(otrace.SpanKindConsumer), otrace.WithAttributes(
		attribute.Int64("helixd.job.id", job.ID), attribute.String("helixd.job.queue", job.Queue), attribute.Int("helixd.job.attempt", job.Attempt)))
	err := work(context.WithValue(ctx, working{}, job.Kind))
	span.End(err)
	return err
}
