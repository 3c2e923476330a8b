// Package series finds patterns in when a user's memories were made, and in how
// they felt: sessions, bursts, periods, groups of positive and negative memories,
// and shifts of mood. Its functions are pure; equal input gives equal output.
//
// Times are ascending seconds since 1970, UTC. Values are emotional_valence, NaN
// (or infinite) where there is none, clamped to −1..1. What is not finite at either end of the
// times is in no pattern; a time out of order counts as the one before it. A
// pattern's members are positions in the times or values that were given.
//
// Each pattern has a confidence: in which share of random samples of the memories
// (each kept with a chance of 1−1/e, as a bootstrap sample keeps it) the same
// function finds the pattern again, with a Jaccard similarity of at least ½ of the
// members that were kept. The least size of a group shrinks with the sample.
package series
