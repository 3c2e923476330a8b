package trace

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Commits makes the commit of an SQL transaction a span of what it ends; nil where
// nothing is collected.
func Commits() pgx.QueryTracer {
	if !On() {
		return nil
	}
	return commits{}
}

type commits struct{}

// TraceQueryStart implements pgx.QueryTracer.
func (commits) TraceQueryStart(ctx context.Context, _ *pgx.Conn, query pgx.TraceQueryStartData) context.Context {
	if query.SQL != "commit" || !inSpan(ctx) {
		return ctx
	}
	ctx, span := Start(ctx, "commit")
	return context.WithValue(ctx, commits{}, span)
}

// TraceQueryEnd implements pgx.QueryTracer.
func (commits) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, query pgx.TraceQueryEndData) {
	if span, ok := ctx.Value(commits{}).(*Span); ok {
		span.End(query.Err)
	}
}
