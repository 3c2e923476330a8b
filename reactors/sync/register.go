package sync

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// hlc is a hybrid logical clock (Kulkarni et al., "Logical Physical Clocks",
// 2014): the wall time of a write, or just after all that the write had seen
// where the wall clock is behind them.
type hlc struct {
	Wall    int64 // microseconds since 1970
	Logical int64
}

func (h hlc) compare(o hlc) int {
	return cmp.Or(cmp.Compare(h.Wall, o.Wall), cmp.Compare(h.Logical, o.Logical))
}

var noHLC = hlc{Wall: math.MinInt64}

// hlcOf is that of a write at a time, after all that it had seen.
func hlcOf(modified time.Time, seen hlc) hlc {
	now := hlc{Wall: modified.UnixMicro()}
	if now.compare(seen) > 0 {
		return now
	}
	return hlc{seen.Wall, seen.Logical + 1}
}

// register is what one device wrote at one path: a value, or that it was removed.
type register struct {
	hlc
	Device  string
	Value   string // JSON in jsonb's text form; "" is SQL NULL
	Removed bool
}

// compare is the total order of the registers of one path; the greatest stands.
func (r *register) compare(o *register) int {
	order := cmp.Or(r.hlc.compare(o.hlc), cmp.Compare(r.Device, o.Device))
	if order == 0 && r.Removed != o.Removed {
		if r.Removed {
			return 1
		}
		return -1
	}
	return cmp.Or(order, cmp.Compare(r.Value, o.Value))
}

// same reports whether both wrote the same.
func (r *register) same(o *register) bool { return r.Removed == o.Removed && r.Value == o.Value }

func (r *register) size() int { return len(r.Device) + len(r.Value) + 32 }

// registers are a document, or what one version wrote of it.
type registers map[path]register

// put lets r stand at p where it is the greatest.
func (v registers) put(p path, r register) {
	if old, ok := v[p]; !ok || r.compare(&old) > 0 {
		v[p] = r
	}
}

func (v registers) size() (n int) {
	for p, r := range v {
		n += len(p) + r.size()
	}
	return n
}

// live are the values that are not removed, in the order of their paths.
func (v registers) live() []path {
	paths := make([]path, 0, len(v))
	for p, r := range v {
		if !r.Removed {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	return paths
}

// view is the document: of incompatible values, as one device's scalar at "a" and
// another's at "a.b", the greatest stands, whatever is between them. hidden are
// those that do not.
func (v registers) view() (shown leaves, hidden map[path]bool) {
	paths := v.live()
	shown = make(leaves, len(paths))
	clash := false
	for i, p := range paths {
		shown[p] = v[p].Value
		if i > 0 && !compatible(paths[i-1], shown[paths[i-1]], p, shown[p]) {
			clash = true // sorted, the first clash is between neighbours
		}
	}
	if !clash {
		return shown, nil
	}
	slices.SortFunc(paths, func(p, q path) int {
		a, b := v[p], v[q]
		return cmp.Or(b.compare(&a), cmp.Compare(p, q))
	})
	hidden = map[path]bool{}
	kinds := map[path]byte{} // of what has been let in, and above it
	for _, p := range paths {
		if !admit(kinds, p, v[p].Value) {
			hidden[p] = true
			delete(shown, p)
		}
	}
	return shown, hidden
}

const leaf = 'l'

// admit lets a value in where nothing stands against it.
func admit(kinds map[path]byte, p path, value string) bool {
	last := byte(leaf)
	if k := container(value); k != 0 {
		last = k
	}
	for rest, above := p, path(""); ; {
		kind := last
		if rest != "" {
			kind = rest[0]
		}
		if k := kinds[above]; k != 0 && (k != kind || k == leaf) {
			return false
		}
		if rest == "" {
			break
		}
		_, _, rest = rest.next()
		above = p[:len(p)-len(rest)]
	}
	for rest := p; rest != ""; {
		above := p[:len(p)-len(rest)]
		kinds[above] = rest[0]
		_, _, rest = rest.next()
	}
	kinds[p] = last
	return true
}

// compatible reports whether two values can stand in one document.
func compatible(p path, value string, q path, other string) bool {
	for p != "" && q != "" {
		if p[0] != q[0] {
			return false
		}
		_, s, pRest := p.next()
		_, t, qRest := q.next()
		if s != t {
			return true
		}
		p, q = pRest, qRest
	}
	switch {
	case p != "":
		return container(other) == p[0]
	case q != "":
		return container(value) == q[0]
	}
	return true // one path
}

// diff are the writes that make base show l: base itself may have values that are
// hidden, which whoever wrote l has resolved.
func diff(base registers, l leaves, at hlc, device string) registers {
	writes := registers{}
	_, hidden := base.view()
	for p, r := range base {
		if _, ok := l[p]; !ok && !r.Removed {
			writes[p] = register{at, device, "", true}
		}
	}
	for p, value := range l {
		if r, ok := base[p]; !ok || r.Removed || r.Value != value || hidden[p] {
			writes[p] = register{at, device, value, false}
		}
	}
	return writes
}

// patch is what diff was given: base with the writes upon it.
func patch(base, writes registers) leaves {
	l := make(leaves, len(base)+len(writes))
	for p, r := range base {
		if !r.Removed {
			l[p] = r.Value
		}
	}
	for p, r := range writes {
		if r.Removed {
			delete(l, p)
		} else {
			l[p] = r.Value
		}
	}
	return l
}
