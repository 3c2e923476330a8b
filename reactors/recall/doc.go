// Package recall keeps what match_memories searches: a vector index of memories
// that is made while apps write, stays within a budget of bytes, and is maintained
// at night with the tables beside it.
//
// The index holds half-precision vectors (pgvector's halfvec) of the memories whose
// embedding_indexed is true. At the budget the least retained leave it, the oldest
// first among equals; match_memories compares these with each query, so they are
// found as before. Whatever state the index is in, a search is right; only its
// time differs.
package recall
