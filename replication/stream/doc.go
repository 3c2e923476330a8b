// Package stream owns the walsender connection: it checks that the server can
// replicate, makes slot and publication, streams, and acknowledges.
//
//	Open ──▶ Lock ──▶ EnsurePublication ──▶ CreateSlot ──▶ (backfill) ──▶ Run
//	           │                       └──── slot and checkpoint agree ────▲
//	           └── another process leads: StandBy, and try again
//
// Whoever leads runs Heartbeat beside all that comes after Lock.
//
// One goroutine reads the connection and writes to it. It hands batches to a
// second one, which calls the Sink, and goes on answering the server however
// slow the Sink is. The server is told that a position is flushed only after
// the Sink has made it durable.
package stream
