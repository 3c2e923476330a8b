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
// Where a user's policy is manual, an entity has the same winner until its user
// decides: a decision is a version that includes those it is about. Where it is
// merge, other things are kept:
//
//	delta      a version as what it wrote: where it differs from what it had seen
//	Merge      the deltas, and the root that the oldest have come to
//	register   the value of one path, under a hybrid logical clock; the greatest stands
//	Clash      what one version lost to a concurrent one, path by path
//
// What a Merge comes to is a function of the set of versions, so it depends on
// order, repetition and batches no more than the Antichain does. To compare a
// version with the current state in place of what it had seen would not do: a
// device that has seen the first of two edits of one path would undo the second
// by editing another path.
//
// The version vectors are those of Parker et al., "Detection of Mutual
// Inconsistency in Distributed Systems" (1983); the set of maximal versions is
// the multi-value register of Shapiro et al., "A comprehensive study of
// Convergent and Commutative Replicated Data Types" (2011), with a total order
// on top that picks the one which apps see. The hybrid logical clock is that of
// Kulkarni et al., "Logical Physical Clocks" (2014).
package sync
