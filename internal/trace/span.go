package trace

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/riverqueue/river"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	otrace "go.opentelemetry.io/otel/trace"
)

// Span is a piece of work in a trace. Its methods do nothing on nil, which is what
// everybody gets where nothing is collected.
type Span struct{ span otrace.Span }

// Start begins a span within the one that ctx has. The words make its name.
func Start(ctx context.Context, words ...string) (context.Context, *Span) {
	return start(ctx, words)
}

// Apply begins a trace, with the apply of what was committed at a time of the server's
// clock.
func Apply(ctx context.Context, committed time.Time) *Span {
	if !On() {
		return nil
	}
	if now := time.Now(); committed.IsZero() || committed.After(now) {
		committed = now
	}
	_, s := start(ctx, []string{"apply"}, otrace.WithNewRoot(), otrace.WithTimestamp(committed))
	return s
}

func start(ctx context.Context, words []string, options ...otrace.SpanStartOption) (context.Context, *Span) {
	t := tracer.Load()
	if t == nil {
		return ctx, nil
	}
	ctx, span := (*t).Start(ctx, strings.Join(words, " "), options...)
	return ctx, &Span{span}
}

// inSpan reports whether ctx is within a span, in this process or the one before it.
func inSpan(ctx context.Context) bool { return otrace.SpanContextFromContext(ctx).IsValid() }

// In is ctx within the span.
func (s *Span) In(ctx context.Context) context.Context {
	if s == nil {
		return ctx
	}
	return otrace.ContextWithSpan(ctx, s.span)
}

// Child begins a span within this one.
func (s *Span) Child(words ...string) *Span {
	if s == nil {
		return nil
	}
	_, child := start(s.In(context.Background()), words)
	return child
}

// Count sets a number of the span's.
func (s *Span) Count(key string, n int) {
	if s != nil {
		s.span.SetAttributes(attribute.Int(key, n))
	}
}

// Text sets what a person may read: a name, a position, an id that is nobody's.
func (s *Span) Text(key, text string) {
	if s != nil {
		s.span.SetAttributes(attribute.String(key, text))
	}
}

// End ends the span, once. Of an error it keeps its kind: the words may quote a row.
func (s *Span) End(err error) {
	if s == nil {
		return
	}
	var snooze *river.JobSnoozeError
	if errors.As(err, &snooze) {
		s.span.SetAttributes(attribute.Bool("helixd.snoozed", true))
	} else if err != nil {
		s.span.SetAttributes(attribute.String("error.type", kind(err)))
		s.span.SetStatus(codes.Error, "")
	}
	s.span.End()
}

func kind(err error) string {
	var pg *pgconn.PgError
	var cancel *river.JobCancelError
	switch {
	case errors.As(err, &pg):
		return pg.Code
	case errors.As(err, &cancel):
		return "gave_up"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "canceled"
	}
	return "_OTHER" // OpenTelemetry's word for it
}
