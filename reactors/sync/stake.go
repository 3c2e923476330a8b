package sync

import (
	"cmp"
	"slices"
)

// wins orders writes of different paths, too.
func wins(r *register, p path, o *register, q path) bool {
	return cmp.Or(r.compare(o), cmp.Compare(q, p)) > 0
}

// strength has the path of a version's greatest value below each container that
// it wrote into, by the container's path and the kind of its members. Against it
// a value that cannot stand beside any of them is measured once, not once for each.
type strength map[path]path

var kinds = [...]byte{member, element, item}

func (v registers) strength() strength {
	s := strength{}
	for p, r := range v {
		if r.Removed {
			continue
		}
		for rest := p; rest != ""; _, _, rest = rest.next() {
			below := p[:len(p)-len(rest)+1]
			old, ok := s[below]
			if o := v[old]; !ok || wins(&r, p, &o, old) {
				s[below] = p
			}
		}
	}
	return s
}

// against calls found with the paths of v that cannot stand beside a value at q,
// where s is v's strength: of what is of one kind in one place, the greatest.
func (s strength) against(v registers, q path, value string, found func(path)) {
	others := func(above path, kind byte) {
		for _, k := range kinds {
			if k == kind {
				continue
			}
			if p, ok := s[above+path(k)]; ok {
				found(p)
			}
		}
	}
	for rest := q; rest != ""; _, _, rest = rest.next() {
		above := q[:len(q)-len(rest)]
		if r, ok := v[above]; ok && !r.Removed && container(r.Value) != rest[0] {
			found(above)
		}
		others(above, rest[0])
	}
	others(q, container(value))
}

// strengths are those of versions, as they were needed.
type strengths map[*delta]strength

func (all strengths) of(d *delta) strength {
	if all[d] == nil {
		all[d] = d.writes.strength()
	}
	return all[d]
}

// stakes are the paths where d and o disagree: the same one, or such as cannot
// stand in one document. Each that loses is against the greatest that it loses to.
func (all strengths) stakes(d, o *delta) (found []stake) {
	apart := false
	for q, theirs := range o.writes {
		if mine, ok := d.writes[q]; ok && !mine.same(&theirs) {
			found = append(found, stake{q, q})
		}
		if !theirs.Removed {
			all.of(d).against(d.writes, q, theirs.Value, func(p path) {
				found, apart = append(found, stake{p, q}), true
			})
		}
	}
	if !apart {
		return found
	}
	for p, mine := range d.writes {
		if !mine.Removed {
			all.of(o).against(o.writes, p, mine.Value, func(q path) { found = append(found, stake{p, q}) })
		}
	}
	return found
}

// told reports whether what loser wrote at q was recorded when it lost to a
// version that came before winner did.
func (m *Merge) told(all strengths, loser *delta, q path, winner *delta) bool {
	r := loser.writes[q]
	beats := func(x *delta) (beaten bool) {
		if w, ok := x.writes[q]; ok && !w.same(&r) && wins(&w, q, &r, q) {
			return true
		}
		all.of(x).against(x.writes, q, r.Value, func(p path) {
			w := x.writes[p]
			beaten = beaten || wins(&w, p, &r, q)
		})
		return beaten
	}
	at := slices.Index(m.kept, loser) // -1 of the root
	if at < 0 && beats(loser) {
		return true // it was, before both collapsed
	}
	for i, x := range m.kept {
		if x == loser || x == winner || x.revision >= winner.revision {
			continue
		}
		related := !x.apart
		if at >= 0 {
			related = x.seen&(1<<at) != 0 || loser.seen&(1<<i) != 0
		}
		if !related && beats(x) {
			return true
		}
	}
	return false
}

// toldDelete reports whether a delete was recorded when it lost to an update that
// came before winner did: nothing had seen either when the later of them came.
func (m *Merge) toldDelete(loser, winner *delta) bool {
	at := slices.Index(m.kept, loser)
	return slices.ContainsFunc(m.kept, func(x *delta) bool {
		if x.Deleted || x.revision >= winner.revision {
			return false
		}
		mask := uint64(1)<<at | 1<<slices.Index(m.kept, x)
		return !slices.ContainsFunc(m.kept, func(w *delta) bool {
			return w.revision <= max(x.revision, loser.revision) && w.seen&mask != 0
		})
	})
}
