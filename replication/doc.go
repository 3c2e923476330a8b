// Package replication is the vocabulary of helixd's write-ahead log: what a
// row change, a transaction and a checkpoint are, and who receives them.
//
// It holds no behaviour beyond these types. replication/pgoutput turns bytes
// into them, replication/stream takes the bytes from Postgres, and package
// reactors is the Sink that makes results of them. Neither of the first two
// knows the third.
//
//	Postgres ──CopyData──▶ stream ──bytes──▶ pgoutput ──Batch──▶ stream ──Batch──▶ Sink
//	    ▲                    │                                                      │
//	    └── standby status ──┴──────────── durable up to Batch.EndLSN ◀─────────────┘
package replication
