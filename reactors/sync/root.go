package sync

import "slices"

// maxTombstones bounds what a root keeps of removed paths.
const maxTombstones = 10_000

// root is what the oldest versions have come to.
type root struct {
	Registers registers
	Clock     Clock // of all of them
	Last      hlc   // the greatest of theirs
	Revision  int64
	Live      bool // one that is not deleted was seen by nobody yet
	Sealed    bool // tombstones are gone: versions that have not seen it merge no more
	any       bool
	changed   bool
}

// collapse folds the oldest versions into the root until the rest is in bounds,
// or all of them. So it does once a version made many others to be compared again:
// the next one would do so too, however small it is.
func (m *Merge) collapse(all bool) {
	if len(m.kept) == 0 {
		return
	}
	bytes := 0
	for _, d := range m.kept {
		bytes += d.size
	}
	for len(m.kept) > 0 && (all || len(m.kept) > maxKept || (bytes > maxKeptBytes || m.work > maxWork) && len(m.kept) > 2) {
		bytes -= m.collapseOldest()
	}
	m.seal()
}

func (m *Merge) collapseOldest() (bytes int) {
	at := 0
	for i, d := range m.kept {
		if d.compare(m.kept[at]) < 0 {
			at = i
		}
	}
	d := m.kept[at]
	r := &m.root
	if r.Registers == nil {
		r.Registers = registers{}
	}
	for p, w := range d.writes {
		r.Registers.put(p, w)
	}
	seen := false
	low := uint64(1)<<at - 1
	for _, o := range m.kept {
		if o == d {
			continue
		}
		if o.seen&(1<<at) == 0 {
			o.apart, o.stored = true, false
		} else {
			seen = true
		}
		o.seen = o.seen&low | o.seen>>1&^low
	}
	r.Live = r.Live || !seen && !d.Deleted
	r.Clock, r.Revision = r.Clock.Join(d.Clock), max(r.Revision, d.revision)
	if !r.any || d.hlc.compare(r.Last) > 0 {
		r.Last = d.hlc
	}
	r.any, r.changed = true, true
	m.dropped = append(m.dropped, d.id)
	m.kept = slices.Delete(m.kept, at, at+1)
	return d.size
}

// seal drops the root's tombstones where there are too many of them. They were
// kept for versions that have not seen the root, which then merge no more.
func (m *Merge) seal() {
	tombstones := 0
	for _, r := range m.root.Registers {
		if r.Removed {
			tombstones++
		}
	}
	if tombstones <= maxTombstones {
		return
	}
	for p, r := range m.root.Registers {
		if r.Removed && !slices.ContainsFunc(m.kept, func(d *delta) bool { _, ok := d.writes[p]; return ok }) {
			delete(m.root.Registers, p)
			delete(m.all, p)
		}
	}
	m.root.Sealed, m.root.changed = true, true
}
