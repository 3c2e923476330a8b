// Package pgoutput turns the bytes of Postgres's pgoutput plugin into messages
// and the messages into Batches: no network, no clock, no logger.
//
// It speaks version 1 of the protocol (Postgres documentation, "Logical
// Streaming Replication Protocol" and "Logical Replication Message Formats"):
// every transaction comes whole, in the order of the commits. Binary tuples
// and logical messages are understood.
//
// The bytes come over a network and are not trusted: no input makes this
// package panic, and no count in a message makes it allocate more than a small
// multiple of the message's length. What it cannot decode is an error, and
// never skipped.
//
// A Parser knows single messages. An Assembler, one for each walsender
// connection, knows the relations that were described on it, and where in a
// transaction the stream is:
//
//	            BEGIN, final LSN < from             COMMIT
//	  ┌──────────────────────────────▶ skipped ───────────────▶ idle
//	  │
//	idle ── BEGIN ──▶ quiet ─────────────── COMMIT: dropped ──▶ idle
//	                   │  │
//	        row change │  └─ Take, of a flood of messages ─┐
//	                   ▼                                   │
//	                changed ── COMMIT: whole, to deliver ──┼──▶ idle
//	                   │                                   │
//	     Take: a part, │  ┌────────────────────────────────┘
//	     More          ▼  ▼
//	       ┌──────▶ split ─────── COMMIT: end to deliver ─────▶ idle
//	       └─ Take ─┘
//
// A transaction is quiet as long as it has no row changes, only logical
// messages: it may turn out to be nothing that anybody has to apply. Once a
// part of a transaction was taken (split), its end is delivered whatever
// follows, so that the receiver can end what it began.
package pgoutput
