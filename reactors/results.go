package reactors

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/internal/metric"
)

// Results writes what jobs come to, in transactions that a reactor knows as its
// own, and tells users of it as an apply does.
type Results struct {
	pool    *pgxpool.Pool
	mark    string // the statement
	canSend bool
}

// NewResults makes the Results of one reactor's jobs.
func NewResults(ctx context.Context, pool *pgxpool.Pool, reactor string, writes ...string) (*Results, error) {
	canSend, err := canBroadcast(ctx, pool)
	if err != nil {
		return nil, fmt.Errorf("look for realtime.send: %w", err)
	}
	return &Results{pool, markSQL(reactor, writes...), canSend}, nil
}

// Begin begins a transaction whose first operation is the marker.
func (r *Results) Begin(ctx context.Context) (pgx.Tx, error) { return r.BeginOn(ctx, r.pool) }

// BeginOn is Begin on a connection that the caller holds: who waited for another one
// as well could wait for ever.
func (r *Results) BeginOn(ctx context.Context, conn interface {
	BeginTx(context.Context, pgx.TxOptions) (pgx.Tx, error)
}) (pgx.Tx, error) {
	return conn.BeginTx(ctx, pgx.TxOptions{BeginQuery: "begin isolation level read committed; " + r.mark}) // one round trip
}

// QueueMarker makes a batch that is a transaction by itself one of the reactor's:
// it is to be the first statement that writes.
func (r *Results) QueueMarker(batch *pgx.Batch) {
	batch.Queue(r.mark)
}

// QueueBroadcasts adds the messages to a batch, as few as an apply would send.
func (r *Results) QueueBroadcasts(batch *pgx.Batch, broadcasts []Broadcast) error {
	if !r.canSend || len(broadcasts) == 0 {
		return nil
	}
	messages, err := coalesce(broadcasts)
	if err != nil {
		return err
	}
	queueBroadcasts(batch, messages)
	metric.Broadcasts.Add(float64(len(messages)))
	return nil
}

// Tell sends the messages when the transaction commits.
func (r *Results) Tell(ctx context.Context, tx pgx.Tx, broadcasts ...Broadcast) error {
	batch := &pgx.Batch{}
	if err := r.QueueBroadcasts(batch, broadcasts); err != nil || batch.Len() == 0 {
		return err
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("tell users: %w", err)
	}
	return nil
}
