package sync

import "time"

// Resolution is how an entity's state came about; sync_entities.resolution.
type Resolution string

// The resolutions.
const (
	None          Resolution = "none"            // one version only
	FastForward   Resolution = "fast_forward"    // the newest version includes all others
	LastWriteWins Resolution = "last_write_wins" // the winner of concurrent versions
	Merged        Resolution = "merge"           // concurrent versions, path by path
	Manual        Resolution = "manual"          // the winner of concurrent versions, until the user decides; then the decision
)

// ConflictKind is why a version is in sync_conflicts.
type ConflictKind string

// The kinds of conflict.
const (
	// ConcurrentWrites had not seen each other.
	ConcurrentWrites ConflictKind = "concurrent"
	// Fork is one write of a device with two contents, as a restored backup makes.
	Fork ConflictKind = "fork"
	// Stale is older than what its device had already written, or does not count
	// its own write: a restored backup, a device that was set up anew, or a
	// request that arrived late. Which one cannot be told.
	Stale ConflictKind = "stale"
)

// Conflict records a version that lost, beside the one that won.
type Conflict struct {
	Kind   ConflictKind
	Winner Version
	Loser  Version
	At     time.Time
}

// Dot names a device's write: its counter, and its content.
type Dot struct {
	Counter uint64
	Content string
}

// State is what the versions of one entity have come to. The zero State has
// seen none.
type State struct {
	Versions   Antichain
	Clock      Clock          // join of all versions ever seen
	Seen       map[string]Dot // newest write of each device
	Resolution Resolution
	Strategy   Strategy  // of its policy; "" is last write wins
	Revision   int64     // changes of the winner, the Clock or the Resolution
	Updated    time.Time // server time of the last of them
}

// Apply adds a version that was committed at the server's time, and gives the
// version that lost by it, if one did. It reports whether the state changed.
func (s *State) Apply(v Version, committed time.Time) (conflicts []Conflict, changed bool) {
	clamped := v.clamp(committed)
	lost := func(kind ConflictKind, loser Version) {
		conflicts = append(conflicts, Conflict{kind, s.Versions[0], loser, committed})
	}
	var before Version
	if len(s.Versions) > 0 {
		before = s.Versions[0]
	}
	dot := Dot{v.Clock.Counter(v.Device), v.Content}
	last, known := s.Seen[v.Device]

	set, replaced, placed := s.Versions, []Version(nil), duplicate
	if !clamped || !set.has(&v) { // the same write, clamped again later, claims no later time
		set, replaced, placed = set.Add(v)
	}
	if placed == retold && set[0].same(&before) {
		// A device that adopts what it reads tells it again: no news for anybody.
		changed = true
	} else if placed == retold {
		placed = added // the later time makes it win
	}
	s.Versions = set
	resolution := s.Resolution
	switch placed {
	case included:
		if v.Content != set[0].Content {
			if kind := overtaken(dot, last, known); kind != "" {
				lost(kind, v)
			}
		}
	case forkLost:
		lost(Fork, v)
		resolution = s.contested()
	case added:
		resolution = s.place(&v, before, replaced, lost)
	}
	if len(set) > 1 && s.Strategy == ManualStrategy { // which it may have become since they came
		resolution = Manual
	}

	clock, grown := s.Clock, false
	if order := v.Clock.Compare(s.Clock); order == After || order == Concurrent {
		clock, grown = clock.Join(v.Clock), true
	}
	if placed == added || resolution != s.Resolution || grown {
		s.Revision++
		s.Updated = committed
		changed = true
	}
	s.Clock, s.Resolution = clock, resolution
	return conflicts, s.see(v.Device, dot) || changed
}

// contested is the resolution while concurrent versions stand.
func (s *State) contested() Resolution {
	if s.Strategy == ManualStrategy {
		return Manual
	}
	return LastWriteWins
}

// Rebase lets v include what its device had merged, where base is the revision
// that the entity still has: that is no more than what the device says of a new
// write. Told again later, the write is known by its counter.
func (s *State) Rebase(v *Version, base int64) {
	if base > 0 && base == s.Revision && v.Clock.Counter(v.Device) > s.Clock.Counter(v.Device) {
		v.Clock = v.Clock.Join(s.Clock)
	}
}

// see keeps the newest write of a device.
func (s *State) see(device string, dot Dot) (news bool) {
	last := s.Seen[device]
	// Of two contents of one write the greater hash stays: any order gives the same.
	if dot.Counter < last.Counter || dot.Counter == 0 || dot.Counter == last.Counter && dot.Content <= last.Content {
		return false
	}
	if s.Seen == nil {
		s.Seen = map[string]Dot{}
	}
	s.Seen[device] = dot
	return true
}

// overtaken is what became of a version that others include, by what is known of
// its device: its content is about to vanish. It may be that another device has
// taken it in, as its clock says; but not where its device has written later ones,
// or other content as the same write, or none at all.
func overtaken(dot, last Dot, known bool) ConflictKind {
	switch {
	case known && dot == last:
	case known && dot.Counter > 0 && dot.Counter == last.Counter:
		return Fork
	case dot.Counter == 0 || known && dot.Counter < last.Counter:
		return Stale
	}
	return ""
}

// place tells what an added version did to the others.
func (s *State) place(v *Version, before Version, replaced []Version, lost func(ConflictKind, Version)) Resolution {
	resolution := FastForward
	if s.Revision == 0 {
		resolution = None
	}
	beforeStands := s.Revision > 0
	for _, r := range replaced {
		sameDot := r.Device == v.Device && r.Clock.Counter(r.Device) == v.Clock.Counter(v.Device) &&
			v.Clock.Counter(v.Device) > 0
		if r.Content != v.Content && (sameDot || r.Clock.Compare(v.Clock) == Equal) {
			lost(Fork, r)
			resolution = s.contested()
		}
		if r.same(&before) {
			beforeStands = false
		}
	}
	if len(s.Versions) > 1 {
		resolution = s.contested()
		switch {
		case !s.Versions[0].same(v):
			lost(ConcurrentWrites, *v)
		case beforeStands:
			lost(ConcurrentWrites, before)
		}
		// The other versions lost, and were recorded, when they came.
	}
	return resolution
}
