// Command bench measures helixd on a throwaway cluster of its own, with fsync on,
// beside a peer where there is one, and prints a table of medians:
//
//	decode    pgoutput.Assembler and pglogrepl.Parse on the same captured bytes
//	drain     replication/stream with a null sink, pg_recvlogical, a bare pglogrepl
//	          loop and Trendyol/go-pq-cdc (both protocols, each row or each 1,000th
//	          acknowledged), each on a copy of one slot, so from the same LSN, in
//	          four workloads: one large transaction, one-row transactions, wide
//	          inserts, updates and deletes, and an idle table beside a busy one
//	apply     the same libraries and workloads, each change applied to a table, durably
//	sync      the daemon works off a backlog of one-row transactions
//	trigger   the same merge in a trigger: a backlog, and what an app's insert takes
//	memory    the daemon works off one large transaction
//	latency   a user's commit until the result's, at 500 transactions a second
//	takeover  the leader's end until a standby applies something, at the same rate
//	idle      what the daemon takes while nobody writes
//	calls     a tool called in a warm worker, by bare wazero and by Extism's Go SDK
//	skills    a run's commit until its result's, and a backlog of runs
//	decodes   recordings to samples, beside native ffmpeg
//	voice     a recording's commit until its transcript's
//	clusters  vectors to clusters: scikit-learn's methods and helixd's, and the graph
//	decay     an hourly tick over all layers
//	curve-*   how some of these change with a size: of transactions, users, workers,
//	          layers, memories; each has eight minutes, and says what it left out
//
// Runs of helixd and its peers take turns. Each drain is a process of its own,
// whose peak resident memory is its own too; it must have seen every change in
// order, and have acknowledged its slot up to the last commit. The CPU of its
// walsender stands beside: no client is faster than that.
//
//	go run . [--quick] [--rows N] [--runs N] [--only decode,drain] [--results DIR] [--report FILE [--rebuild]]
//
// --results keeps what each section measured, as soon as it has; --report makes a page
// of all that is kept, with its plots: docs/benchmarks.md, of page.md and results/.
//
// Targets stand beside the figures. A missed one is no error: a busy machine
// misses them too.
package main
