package sync

import (
	"cmp"
	"time"
)

// Apply adds a version that was committed at the server's time, to the set and to
// what s knows of the entity, and gives what lost by it. base is the revision that
// its device had merged, 0 where that is not known; one that is no longer kept
// claims nothing, nor does one that is yet to come. It reports whether anything
// changed. Finish lets s show the result.
func (m *Merge) Apply(s *State, v Version, base int64, committed time.Time, p Policy) (clashes []Clash, changed bool) {
	clamped := v.clamp(committed)
	m.work = 0
	id, dot := v.ID(), Dot{v.Clock.Counter(v.Device), v.Content}
	last, known := s.Seen[v.Device]
	if base > 0 && base <= s.Revision {
		v.Clock = v.Clock.Join(m.clockOf(base))
	}
	lost := func(kind ConflictKind) {
		if now := m.current(s); kind != "" && now.Content != v.Content {
			clashes = append(clashes, whole(kind, now, &v, id, committed))
		}
	}
	var again []*delta // kept versions that come to other writes
	if d := m.find(id); d != nil {
		if !clamped {
			again, changed = m.claim(d, &v, dot.Counter)
		}
	} else if kind, merges := m.admits(&v, s.Clock, dot, last, known); !merges {
		lost(kind)
	} else {
		d := m.newDelta(v, id, dot.Counter, s.Revision+1)
		later := m.after(d)
		again = m.insert(d, flatten(v.Data, p.arrays))
		m.dirty = true
		if len(later) > 0 {
			lost(overtaken(dot, last, known))
		}
		clashes = append(clashes, m.clashes(d, committed)...)
		changed = true
	}
	for _, o := range again {
		clashes = append(clashes, m.clashes(o, committed)...)
	}
	m.dirty = m.dirty || changed
	if m.seeded && !m.dirty && len(clashes) > 0 { // it was set aside
		s.Resolution, changed = Merged, true
	}
	m.seeded = false
	if order := v.Clock.Compare(s.Clock); order == After || order == Concurrent {
		s.Clock, changed = s.Clock.Join(v.Clock), true
	}
	if changed {
		s.Revision++
		s.Updated = committed
	}
	m.collapse(false)
	return clashes, s.see(v.Device, dot) || changed
}

// admits reports whether v can merge: what it had seen must be known. If not,
// kind is why it is recorded, "" where it is no news.
func (m *Merge) admits(v *Version, all Clock, dot, last Dot, known bool) (kind ConflictKind, merges bool) {
	if !m.root.any {
		return Stale, !m.full(v, all)
	}
	switch v.Clock.Compare(m.root.Clock) {
	case Equal:
		if known && dot == last {
			return "", false
		}
		return Fork, false
	case Before:
		return overtaken(dot, last, known), false
	case Concurrent:
		if m.root.Sealed || !v.Clock.disjoint(m.root.Clock) {
			return Stale, false // its device has to read the entity anew
		}
	}
	return Stale, !m.full(v, all)
}

// full reports whether v would make the entity too large for a row, or whether it
// is large and v, which has not seen all of it, could only add to it.
func (m *Merge) full(v *Version, all Clock) bool {
	return len(m.standing()) > maxStanding && v.Clock.Compare(all) != After ||
		len(m.kept) > 0 && m.standing().size()+len(v.Data) > maxView
}

func (m *Merge) newDelta(v Version, id string, counter uint64, revision int64) *delta {
	d := &delta{Version: v, id: id, counter: counter, revision: revision,
		apart: m.root.any && v.Clock.Compare(m.root.Clock) != After}
	if v.Deleted {
		d.data = text(v.Data)
	}
	d.Data = nil
	return d
}

// claim lets d, which is v, stand for the later time and the greater clock.
// counter is of the device's own write, which tells forks.
func (m *Merge) claim(d *delta, v *Version, counter uint64) (again []*delta, changed bool) {
	device, modified, clock := d.Device, d.LastModified, d.Clock
	if cmp.Or(v.LastModified.Compare(modified), cmp.Compare(v.Device, device)) > 0 {
		device, modified = v.Device, v.LastModified
	} else {
		counter = d.counter
	}
	if order := v.Clock.Compare(clock); order == After || order == Concurrent {
		clock = clock.Join(v.Clock)
	}
	if d.apart || device == d.Device && modified.Equal(d.LastModified) && clock.Compare(d.Clock) == Equal {
		return nil, false
	}
	d.counter = counter
	return m.retell(d, device, modified, clock), true
}

// Seed begins with what last write wins has left of an entity: its versions are
// the root, since what they were written upon is gone. Of siblings that were not
// loaded the root has the clocks: their data is in conflicts.
func (m *Merge) Seed(s *State, p Policy) {
	var others Clock
	for _, v := range s.Versions {
		if v.Place == InSibling {
			others = others.Join(v.Clock)
			continue
		}
		m.insert(m.newDelta(v, v.ID(), v.Clock.Counter(v.Device), s.Revision), flatten(v.Data, p.arrays))
	}
	m.collapse(true)
	m.root.Clock = m.root.Clock.Join(others)
	m.dropped, m.seeded = nil, true
}

// current is what the versions have come to so far.
func (m *Merge) current(s *State) *Version {
	if m.dirty {
		v, _ := m.state(s.Clock)
		return &v
	}
	v := s.Versions[0]
	v.Clock = s.Clock
	return &v
}

// Finish lets s show what the versions have come to.
func (m *Merge) Finish(s *State) {
	if !m.dirty { // but its clock may have grown
		s.Versions = s.Versions[:1]
		s.Versions[0].Clock = s.Clock
		return
	}
	v, resolution := m.state(s.Clock)
	s.Versions, s.Resolution = Antichain{v}, resolution
}
