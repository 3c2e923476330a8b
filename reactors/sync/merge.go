package sync

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"time"
)

// The bounds of what a merged entity keeps. Past them the oldest versions
// collapse into its root.
const (
	maxKeptBytes = 256 << 10 // of writes and clocks, of more than two versions
	maxView      = 24 << 20  // bytes of what stands
	maxStanding  = 4 * maxLeaves
	maxWork      = 100_000 // values compared again for one version
)

// maxKept and one more, while it is added, are the bits of a mask. Tests lower it.
var maxKept = 63

// Merge is the set of versions of one entity, and what they come to is a
// function of the set: of each path the greatest register that any version
// wrote. A version writes where it differs from what its clock says it had seen,
// so that nothing that its device never touched is asserted again.
type Merge struct {
	root root
	kept []*delta

	all     registers // of the root and all kept; nil where it is not known
	dropped []string  // ids of versions that have collapsed
	dirty   bool      // what is shown is of before
	seeded  bool      // no version has come since Seed
	shown   *Version  // data and content of what stands; nil where it is not known
	work    int       // of the last version that was added; see maxWork
}

// delta is one version as it is kept: what it wrote in place of its data.
type delta struct {
	Version        // Clock joined with that of the revision its device had merged; without Data
	id      string // of the version as its device sent it
	counter uint64 // of its device's own write, as its device sent it
	hlc
	revision int64 // of the entity when it arrived
	writes   registers
	data     *string // of a delete
	size     int     // in bytes, about

	seen   uint64 // the kept versions that it had seen
	apart  bool   // it had not seen all of the root; its writes stay as they are
	stored bool
}

// compare orders versions: causal order first, since an hlc is greater than all
// that were seen.
func (d *delta) compare(o *delta) int {
	return cmp.Or(d.hlc.compare(o.hlc), cmp.Compare(d.Device, o.Device), cmp.Compare(d.Content, o.Content), cmp.Compare(d.id, o.id))
}

// forkOf reports whether both are one write of a device, with two contents.
func (d *delta) forkOf(o *delta) bool {
	return d.Content != o.Content && (d.Clock.Compare(o.Clock) == Equal ||
		d.Device == o.Device && d.counter > 0 && d.counter == o.counter)
}

// saw reports whether d had seen o: a restored backup has not seen the write
// that it lost, though its clock counts it.
func (d *delta) saw(o *delta) bool { return o.Clock.Compare(d.Clock) == Before && !d.forkOf(o) }

// view are the registers of what was seen.
func (m *Merge) view(seen uint64, withRoot bool) registers {
	n := 0
	if withRoot {
		n = len(m.root.Registers)
	}
	v := make(registers, n)
	if withRoot {
		for p, r := range m.root.Registers {
			v[p] = r
		}
	}
	for rest := seen; rest != 0; rest &= rest - 1 {
		for p, r := range m.kept[bits.TrailingZeros64(rest)].writes {
			v.put(p, r)
		}
	}
	return v
}

func (m *Merge) everything() uint64 { return 1<<len(m.kept) - 1 }

// standing are the registers of all that is known.
func (m *Merge) standing() registers {
	if m.all == nil {
		m.all = m.view(m.everything(), m.root.any)
	}
	return m.all
}

// lastSeen is the greatest hlc that d had seen.
func (m *Merge) lastSeen(d *delta) hlc {
	last := noHLC
	if m.root.any && !d.apart {
		last = m.root.Last
	}
	for rest := d.seen; rest != 0; rest &= rest - 1 {
		if h := m.kept[bits.TrailingZeros64(rest)].hlc; h.compare(last) > 0 {
			last = h
		}
	}
	return last
}

// base are the registers that d had seen.
func (m *Merge) base(d *delta) registers {
	if m.all != nil && d.seen|1<<slices.Index(m.kept, d) == m.everything() && !d.apart {
		return m.all
	}
	return m.view(d.seen, m.root.any && !d.apart)
}

// relate tells which versions each one had seen.
func (m *Merge) relate() {
	for _, d := range m.kept {
		d.seen = 0
		for i, o := range m.kept {
			if d != o && d.saw(o) {
				d.seen |= 1 << i
			}
		}
	}
}

// insert adds d, which is new, with its document. Versions that had seen it are
// compared again with what they had seen, and given back.
func (m *Merge) insert(d *delta, l leaves) (again []*delta) {
	m.kept = append(m.kept, d)
	at := uint64(1) << (len(m.kept) - 1)
	for i, o := range m.kept {
		if o != d && d.saw(o) {
			d.seen |= 1 << i
		}
	}
	if m.root.any && !d.apart {
		m.root.changed = m.root.changed || m.root.Live
		m.root.Live = false
	}
	if m.all == nil {
		m.all = m.view(m.everything()&^at, m.root.any)
	}
	m.evaluate(d, map[*delta]leaves{d: l})
	later := m.after(d)
	idle := len(later) == 0 || len(d.writes) == 0 && !slices.ContainsFunc(later, func(o *delta) bool {
		return !o.apart && o.saw(d) && d.hlc.compare(o.hlc) >= 0
	})
	var documents map[*delta]leaves
	if !idle {
		documents = m.documents(later) // as they were with what they had seen so far
	}
	for _, o := range later {
		if o.saw(d) {
			o.seen |= at
		}
	}
	if !idle {
		return m.reevaluate(later, documents)
	}
	for p, r := range d.writes {
		m.all.put(p, r)
		m.shown = nil
	}
	return nil
}

// reevaluate computes versions once more, and gives those that come to other
// writes. Those that are apart stay.
func (m *Merge) reevaluate(of []*delta, documents map[*delta]leaves) (changed []*delta) {
	m.all, m.shown = nil, nil
	for _, d := range m.causal(of) {
		if d.apart {
			continue
		}
		before := d.writes
		if m.evaluate(d, documents); !maps.Equal(before, d.writes) {
			changed = append(changed, d)
		}
	}
	return changed
}

// documents are those of kept versions, put together again. A delete has none.
func (m *Merge) documents(of []*delta) map[*delta]leaves {
	documents := make(map[*delta]leaves, len(of))
	for _, d := range of {
		if !d.apart && !d.Deleted {
			base := m.view(d.seen, m.root.any)
			documents[d] = patch(base, d.writes)
			m.work += len(base) + len(d.writes)
		}
	}
	return documents
}

// evaluate computes what d wrote, and when. A delete writes nothing.
func (m *Merge) evaluate(d *delta, documents map[*delta]leaves) {
	d.hlc = hlcOf(d.LastModified, m.lastSeen(d))
	d.stored = false
	d.writes = nil
	if !d.Deleted {
		d.writes = diff(m.base(d), documents[d], d.hlc, d.Device)
	}
	d.measure()
}

func (d *delta) measure() {
	d.size = d.writes.size() + d.Clock.size()
	if d.data != nil {
		d.size += len(*d.data)
	}
}

// causal orders versions so that each comes after those that it had seen.
func (m *Merge) causal(of []*delta) []*delta {
	var ordered []*delta
	done := map[*delta]bool{}
	var visit func(d *delta)
	visit = func(d *delta) {
		if done[d] {
			return
		}
		done[d] = true
		for rest := d.seen; rest != 0; rest &= rest - 1 {
			if o := m.kept[bits.TrailingZeros64(rest)]; slices.Contains(of, o) {
				visit(o)
			}
		}
		ordered = append(ordered, d)
	}
	for _, d := range of {
		visit(d)
	}
	return ordered
}

// after gives the kept versions that had seen d, or one that had.
func (m *Merge) after(d *delta) (later []*delta) {
	var mask uint64
	for grown := true; grown; {
		grown = false
		for i, o := range m.kept {
			if o != d && mask&(1<<i) == 0 && (o.seen&mask != 0 || o.saw(d)) {
				mask |= 1 << i
				later, grown = append(later, o), true
			}
		}
	}
	return later
}

// retell lets a version that is kept already stand for another claim of it too.
func (m *Merge) retell(d *delta, device string, modified time.Time, clock Clock) (changed []*delta) {
	documents := m.documents(m.kept)
	d.Device, d.LastModified, d.Clock = device, modified, clock
	m.relate()
	d.stored = false
	return m.reevaluate(m.kept, documents)
}

// tips are the versions that no other had seen.
func (m *Merge) tips() (tips []*delta) {
	var seen uint64
	for _, d := range m.kept {
		seen |= d.seen
	}
	for i, d := range m.kept {
		if seen&(1<<i) == 0 {
			tips = append(tips, d)
		}
	}
	return tips
}

// rootStands reports whether nothing that is kept has seen the root.
func (m *Merge) rootStands() bool {
	return m.root.any && !slices.ContainsFunc(m.kept, func(d *delta) bool { return !d.apart })
}

// newest is the greatest version of those that stand: a live one where there is
// one, since an update beats a concurrent delete.
func newest(tips []*delta) *delta {
	return slices.MaxFunc(tips, func(x, y *delta) int {
		if x.Deleted != y.Deleted {
			if x.Deleted {
				return -1
			}
			return 1
		}
		return x.compare(y)
	})
}

// state is what the versions come to, as one version under a clock.
func (m *Merge) state(clock Clock) (v Version, resolution Resolution) {
	tips := m.tips()
	n := newest(tips)
	v = Version{Device: n.Device, Clock: clock, LastModified: n.LastModified, Place: Here}
	v.Deleted = n.Deleted && !(m.root.Live && m.rootStands())
	if v.Deleted {
		if n.data != nil {
			v.Data = []byte(*n.data)
		}
	} else {
		v.Data, v.Content = m.show()
		return v, m.resolution(tips)
	}
	v.Content = ContentHash(v.Data, v.Deleted)
	return v, m.resolution(tips)
}

// show gives the document of what stands, and its hash.
func (m *Merge) show() (data []byte, content string) {
	if m.shown == nil {
		shown, _ := m.standing().view()
		data := build(shown)
		m.shown = &Version{Data: data, Content: ContentHash(data, false)}
	}
	return m.shown.Data, m.shown.Content
}

func (m *Merge) resolution(tips []*delta) Resolution {
	switch {
	case len(tips) > 1 || m.rootStands():
		return Merged
	case len(m.kept) == 1 && !m.root.any:
		return None
	}
	return FastForward
}

// clockOf is the clock of a revision, where it is still known.
func (m *Merge) clockOf(revision int64) (c Clock) {
	if revision < m.root.Revision {
		return nil
	}
	c = m.root.Clock
	for _, d := range m.kept {
		if d.revision <= revision {
			c = c.Join(d.Clock)
		}
	}
	return c
}

// find gives the kept version with an id.
func (m *Merge) find(id string) *delta {
	for _, d := range m.kept {
		if d.id == id {
			return d
		}
	}
	return nil
}
