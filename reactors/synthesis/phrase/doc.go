// Package phrase reads what people wrote: the words that a text is about, in the
// language that it is in, and from these the vectors that stand in for missing
// embeddings and the phrases that name a pattern.
//
// A text comes from a stranger. Everything here takes time linear in its first 32
// KiB, ignores the rest, and gives back nothing that could harm a line of text:
// no control or format characters, no reordering of what stands beside it.
package phrase
