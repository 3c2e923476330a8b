// Package reactors applies committed row changes: it is the Sink of package
// replication, and the one place to look for what a table change causes.
//
//	Batch ─▶ Dispatcher ─▶ Reactor.React(tx, rows) ─▶ result rows
//	              │                                 ├▶ Tx.Enqueue    River jobs
//	              │                                 ├▶ Tx.Broadcast  Supabase Realtime
//	              │                                 └▶ Tx.Reject     dead letters
//	              └─ all of it and the checkpoint commit in one SQL transaction
//
// A Reactor's own package computes; this one routes, isolates failures, fences
// old leaders and keeps the count. A reactor never imports another one.
package reactors
