// Package sync resolves what several devices write about the same entity.
//
// Each device keeps its latest version of an entity in its own row of
// sync_state. The versions of an entity form a set, and the set is all there is:
//
//	Clock      version vector: compares two versions in O(devices)
//	Version    what one device wrote, under its clock
//	Antichain  the versions that no other version includes; a join semilattice
//	State      an Antichain, the join of all clocks, and each device's newest write
//	Reactor    loads States, applies a batch of sync_state rows, writes what changed
//
// The Antichain makes the result independent of order, repetition and batches.
// A row that keeps only the last winner would not be: with the winner's own
// history gone, a later version of the winner's device can no longer be told
// from one that is concurrent with it.
//
// The version vectors are those of Parker et al., "Detection of Mutual
// Inconsistency in Distributed Systems" (1983); the set of maximal versions is
// the multi-value register of Shapiro et al., "A comprehensive study of
// Convergent and Commutative Replicated Data Types" (2011), with a total order
// on top that picks the one which apps see.
package sync
