// Package analysis answers memory_synthesis_jobs: a client inserts a row and gets
// patterns, each with the ids of the texts that show it, and recommendations.
//
//	memory_synthesis_jobs ──Reactor──▶ helix.analysis_work, one Analyse job a row
//	                                            │
//	   load the texts ▶ redact ▶ select and cut into chunks ▶ ask, one request a chunk ▶ merge
//	                                            │                  └ each answer is kept before the next
//	   one transaction: the row, memory_patterns, synthesis_recommendations, the job's end
//
// A language model is asked where one is configured and may be; package local
// answers otherwise, in the same shape, and the row's provider says so.
//
// What a user wrote and what a model answers are both foreign. Texts go out as JSON
// strings under short ids of their own, and an answer comes in through a schema with
// bounds: what it cites must have been sent with that question, or the pattern is
// dropped and counted. Nothing in either is ever followed, opened or run.
package analysis
