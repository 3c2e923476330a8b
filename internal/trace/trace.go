// Package trace follows work from the commit of a row to the commit of its result, as
// OpenTelemetry spans: apply, react, enqueue, wait, work, a provider's request, commit.
// Without a collector there is no tracer, and each call ends at once.
//
// Spans have names, counts, positions and ids of jobs and runs; never a row's values, a
// user's id or a secret.
package trace

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	otrace "go.opentelemetry.io/otel/trace"
)

// tracer is nil where nobody collects.
var tracer atomic.Pointer[otrace.Tracer]

// On reports whether spans are collected.
func On() bool { return tracer.Load() != nil }

// endTimeout is what the last spans of a process may take.
const endTimeout = 2 * time.Second

// Begin makes spans go to the collector that the environment names with OpenTelemetry's
// own variables; where it names none nothing happens. Instance names this process among
// others. What Begin gives sends the last spans, and is called once.
//
// Spans wait in a queue that is bounded, and are dropped where the collector does not
// take them: work never waits for it.
func Begin(ctx context.Context, getenv func(string) string, version, instance string, log zerolog.Logger) (end func(), err error) {
	collector, err := newCollector(getenv)
	if collector == nil || err != nil {
		return func() {}, err
	}
	// OpenTelemetry's own log would repeat headers that it cannot read.
	otel.SetLogger(logr.Discard())
	otel.SetErrorHandler(&complainer{log: log})
	exporter, err := otlptrace.New(ctx, collector)
	if err != nil {
		return func() {}, err
	}
	of, err := resource.New(ctx, resource.WithAttributes(
		attribute.String("service.name", "helixd"), attribute.String("service.version", version), attribute.String("service.instance.id", instance)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return func() {}, errors.New("OTEL_RESOURCE_ATTRIBUTES is not name=value,...")
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(of)) // its sampler and limits are the environment's
	t := provider.Tracer("github.com/helixd/helixd")
	tracer.Store(&t)
	log.Info().Str("collector", collector.name()).Msg("traces are sent")
	return func() {
		tracer.Store(nil)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer cancel()
		if err := provider.Shutdown(ctx); err != nil {
			log.Warn().Err(err).Msg("the last spans did not reach their collector")
		}
	}, nil
}

// complainEvery is how often a collector's trouble is worth a line of the log.
const complainEvery = time.Minute

type complainer struct {
	log  zerolog.Logger
	next atomic.Int64 // in Unix nanoseconds
}

// Handle implements otel.ErrorHandler.
func (c *complainer) Handle(err error) {
	now, next := time.Now().UnixNano(), c.next.Load()
	if now >= next && c.next.CompareAndSwap(next, now+int64(complainEvery)) {
		c.log.Warn().Err(err).Msg("spans do not reach their collector, and are dropped; nothing else is")
	}
}
