// Package synthesis finds patterns in a user's memories: what they come back to
// (clusters of embeddings, or of words where there are none), when they are made
// (sessions, bursts, periods) and how they feel (good and bad ones, shifts). Each
// pattern has a name, members, and a measured confidence: the probability that it
// would be found again in somewhat different memories.
//
//	memories change ──Reactor──▶ helix.synthesis_work.due, one Synthesise job a user
//	                                        │ a moment later, so that many changes are one job
//	                     load what has changed ▶ Detect ▶ identify with the rows of before
//	                                        │
//	                     one transaction: rows that differ, broadcasts, the job's end
//
// Rows that differ are few: a pattern that persists keeps its row, its id and its
// fingerprint, and one that has not changed is not written.
package synthesis
