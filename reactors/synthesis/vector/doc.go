// Package vector compares embeddings: exact cosine similarities and exact nearest
// neighbours, in blocks that fit the processor's caches.
//
// A product has one summation order, whichever function computes it and however the
// work is divided among processors: chunks of 512 components, one after the other;
// within a chunk eight lanes, the n-th component in lane n mod 8; a chunk's lanes
// folded as ((0+1)+(2+3))+((4+5)+(6+7)). So results can be compared exactly: neighbours
// that were kept while rows came and went equal those found anew, bit by bit. (The
// plain kernel rounds twice where the fused one rounds once: between two processors
// last bits may differ.)
package vector
