// Package reactors applies committed row changes: it is the Sink of package
// replication, and the one place to look for what a table change causes.
//
//	Batch ─▶ Dispatcher ─▶ Reactor.React(tx, rows) ─▶ result rows
//	              │                                 ├▶ Tx.Enqueue    River jobs
//	              │                                 ├▶ Tx.Broadcast  Supabase Realtime
//	              │                                 └▶ Tx.Reject     dead letters
//	              └─ all of it and the checkpoint commit in one SQL transaction
//
// Deletes reach a Reactor however long no slot was there: the table's trigger puts
// them into helix.inbox in the deleting transaction, the row stays there until the
// checkpoint has passed it, and Backfill reads it before the tables. What no
// trigger sees is no delete to a Reactor: TRUNCATE, and whatever runs with
// session_replication_role = replica.
//
// A Reactor's own package computes; this one routes, isolates failures, fences
// old leaders and keeps the count. A reactor never imports another one.
package reactors
