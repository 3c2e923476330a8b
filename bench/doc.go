// Command bench measures helixd on a throwaway cluster of its own, with fsync on,
// beside a peer where there is one, and prints a table of medians:
//
//	decode    pgoutput.Assembler and pglogrepl.Parse on the same captured bytes
//	drain     replication/stream with a null sink and a bare pglogrepl loop, each
//	          on a copy of one slot, so from the same LSN
//	sync      the daemon works off a backlog of one-row transactions
//	memory    the daemon works off one large transaction
//	latency   a user's commit until the result's, at 500 transactions a second
//
// Runs of helixd and its peer alternate, and each drain is a process of its own,
// whose peak resident memory is its own too.
//
//	go run . [--quick] [--rows N] [--runs N] [--only decode,drain] [--json FILE]
//
// Targets stand beside the figures. A missed one is no error: a busy machine
// misses them too.
package main
