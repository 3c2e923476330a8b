package sync

import "slices"

// MaxSiblings and maxSiblingBytes bound the concurrent versions kept of one
// entity, and their clocks. Past them the versions that would win last are
// decided at once; they stay in sync_conflicts. Devices that merge what they
// read never come near.
const (
	MaxSiblings     = 64
	maxSiblingBytes = 256 << 10
)

// Antichain is a set of versions none of which includes another, at most one a
// clock; the winner by Version.Compare comes first. Adding a version is
// commutative, associative and idempotent while the bounds are not reached.
type Antichain []Version

// placement is what became of an added version.
type placement int

const (
	added     placement = iota // it stands in the set, first or not
	duplicate                  // it was there already
	retold                     // so was its content, under the same clock: the stronger claim stands for both
	included                   // a version in the set includes it
	forkLost                   // a version with the same clock and other content wins over it
)

// Add puts v into the set and gives the versions that left it for v.
func (a Antichain) Add(v Version) (set Antichain, replaced []Version, p placement) {
	set = a[:0:0]
	p = added
	for i := range a {
		m := &a[i]
		switch v.Clock.Compare(m.Clock) {
		case Before:
			return a, nil, included
		case After:
			replaced = append(replaced, *m)
		case Concurrent:
			set = append(set, *m)
		case Equal:
			switch {
			case v.Content == m.Content && v.Compare(m) <= 0:
				return a, nil, duplicate
			case v.Content == m.Content:
				p = retold
				replaced = append(replaced, *m)
			case v.Compare(m) < 0:
				return a, nil, forkLost
			default:
				replaced = append(replaced, *m)
			}
		}
	}
	set = append(set, v)
	slices.SortFunc(set, func(x, y Version) int { return y.Compare(&x) })
	bytes := 0
	for i := 1; i < len(set); i++ { // the winner stays
		bytes += set[i].Clock.size()
		if i == MaxSiblings || bytes > maxSiblingBytes {
			set = set[:i]
		}
	}
	return set, replaced, p
}

// has reports whether v's write stands in the set.
func (a Antichain) has(v *Version) bool {
	return slices.ContainsFunc(a, func(m Version) bool { return m.same(v) })
}
