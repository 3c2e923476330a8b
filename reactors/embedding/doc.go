// Package embedding gives memories the embeddings that they lack: those that an app
// has inserted without one, and those whose content has changed since.
//
// A trigger says which they are, in memories.embedding_stale. What was there before
// helixd is not among them: its embeddings are bought by hand, with Request.
//
//	memories ──Reactor──▶ helix.embedding_work ──EmbedMemories, one job a user──▶ memories.embedding
//
// What keeps a user's memories from being embedded now, a missing key or a spent
// budget, is in helix.embedding_queues, and the sweep goes on when it is over; what
// keeps one text from it is in its row of helix.embedding_work. A result is written
// only where the row still wants it: an embedding of the app's own stays, whenever
// it comes.
package embedding
