package sync_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/sync"
)

// note is a document by paths, "o.x" being x in the object o and "t.1" being 1 in
// the set t; the values are JSON.
type document map[string]string

// data is the document in jsonb's own text form: shorter keys first.
func (d document) data() []byte {
	top := map[string]string{}
	inner := map[string][]string{}
	for _, p := range slices.Sorted(maps.Keys(d)) {
		parent, name, nested := strings.Cut(p, ".")
		switch {
		case !nested:
			top[p] = d[p]
		case parent == "t":
			inner[parent] = append(inner[parent], d[p])
		default:
			inner[parent] = append(inner[parent], fmt.Sprintf("%q: %s", name, d[p]))
		}
	}
	for parent, members := range inner {
		top[parent] = "{" + strings.Join(members, ", ") + "}"
		if parent == "t" {
			top[parent] = "[" + strings.Join(members, ", ") + "]"
		}
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(top)) {
		all = append(all, fmt.Sprintf("%q: %s", name, top[name]))
	}
	return []byte("{" + strings.Join(all, ", ") + "}")
}

// readDocument is the inverse of data.
func readDocument(data []byte) document {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(data, &top); err != nil {
		panic(fmt.Sprintf("%s: %v", data, err))
	}
	d := document{}
	for name, raw := range top {
		var members map[string]json.RawMessage
		var elements []json.RawMessage
		switch {
		case json.Unmarshal(raw, &members) == nil && members != nil:
			for key, value := range members {
				d[name+"."+key] = string(value)
			}
		case json.Unmarshal(raw, &elements) == nil && elements != nil:
			for _, e := range elements {
				d[name+"."+string(e)] = string(e)
			}
		default:
			d[name] = string(raw)
		}
	}
	return d
}

// draw changes a document at a few places.
func (d document) draw(t *rapid.T) {
	for range rapid.IntRange(1, 3).Draw(t, "changes") {
		p := rapid.SampledFrom([]string{"a", "b", "o", "o.x", "o.y", "t.1", "t.2", "t.3"}).Draw(t, "path")
		if rapid.IntRange(0, 3).Draw(t, "removes") == 0 {
			delete(d, p)
			continue
		}
		switch {
		case p == "o":
			delete(d, "o.x")
			delete(d, "o.y")
		case strings.HasPrefix(p, "o."):
			delete(d, "o")
		}
		d[p] = fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "value"))
		if p[0] == 't' {
			d[p] = p[2:]
		}
	}
}

// mergePolicy is that of the histories.
var mergePolicy = sync.ParsePolicy("merge", []byte(`{"arrays": {"t": "set"}}`))

// editor is a device with a document.
type editor struct {
	name   string
	skew   time.Duration
	clock  map[string]uint64
	doc    document
	base   int64 // the revision that it merged last
	sent   []edited
	backup *editor
	writes int
}

// edited is a row as the server committed it.
type edited struct {
	applied
	base int64
}

// edits draws what 3 to 8 devices do to one entity, in commit order. Devices
// adopt what the server has made of it. With bases they tell which revision
// that was.
func edits(t *rapid.T, bases bool) []edited {
	devices := make([]*editor, rapid.IntRange(3, 8).Draw(t, "devices"))
	for i := range devices {
		devices[i] = &editor{name: string(rune('a' + i)), skew: rapid.SampledFrom(skews).Draw(t, "skew"),
			clock: map[string]uint64{}, doc: document{}}
	}
	var all []edited
	var server sync.State
	var merge sync.Merge
	now := noon
	for range rapid.IntRange(1, 25).Draw(t, "steps") {
		d := devices[rapid.IntRange(0, len(devices)-1).Draw(t, "device")]
		now = now.Add(time.Duration(rapid.IntRange(1, 90).Draw(t, "pause")) * time.Second)
		deleted, from := false, len(all)
		switch rapid.IntRange(0, actions-1).Draw(t, "action") {
		case edit:
			d.clock[d.name]++
			d.doc.draw(t)
		case mergeAll, unversed: // adopts what the server shows
			if len(server.Versions) > 0 {
				for _, e := range server.Clock {
					d.clock[e.Device] = max(d.clock[e.Device], e.Counter)
				}
				d.base = server.Revision
				if data := server.Versions[0].Data; data != nil {
					d.doc = readDocument(data)
				}
			}
			d.clock[d.name]++
			d.doc.draw(t)
		case mergeOne: // and takes over another one's document
			peer := devices[rapid.IntRange(0, len(devices)-1).Draw(t, "peer")]
			adopt(d.clock, peer.clock)
			d.doc = maps.Clone(peer.doc)
			d.clock[d.name]++
			d.doc.draw(t)
		case remove:
			d.clock[d.name]++
			deleted = true
		case backUp:
			d.backup = &editor{clock: maps.Clone(d.clock), doc: maps.Clone(d.doc), base: d.base}
			continue
		case restore:
			if d.backup != nil {
				d.clock, d.doc, d.base = maps.Clone(d.backup.clock), maps.Clone(d.backup.doc), d.backup.base
			}
			continue
		case resend:
			if n := len(d.sent); n > 0 {
				all = append(all, d.sent[n-1])
			}
		case late:
			if len(d.sent) > 0 {
				all = append(all, d.sent[rapid.IntRange(0, len(d.sent)-1).Draw(t, "old")])
			}
		case careless:
			if d.clock[d.name] == 0 {
				continue
			}
			d.doc.draw(t)
		}
		if len(all) == from {
			base := int64(0)
			if bases && rapid.Bool().Draw(t, "base") {
				base = d.base
			}
			all = append(all, d.write(now, deleted, base))
		}
		e := all[len(all)-1]
		merge.Apply(&server, e.version, e.base, e.committed, mergePolicy)
		merge.Finish(&server)
	}
	return all
}

// write is the row that the device sends; see device.write.
func (d *editor) write(now time.Time, deleted bool, base int64) edited {
	d.writes++
	if d.skew > sync.MaxAhead {
		d.doc["a"] = fmt.Sprint(int(d.name[0])*1000 + d.writes)
	}
	v := sync.Version{Device: d.name, Deleted: deleted, LastModified: now.Add(d.skew).Truncate(time.Minute)}
	for _, name := range slices.Sorted(maps.Keys(d.clock)) {
		if d.clock[name] > 0 {
			v.Clock = append(v.Clock, sync.Entry{Device: name, Counter: d.clock[name]})
		}
	}
	if !deleted || d.skew > sync.MaxAhead { // it never writes the same twice
		v.Data = d.doc.data()
	}
	v.Content = sync.ContentHash(v.Data, deleted)
	e := edited{applied{v, now}, base}
	d.sent = append(d.sent, e)
	return e
}

// merged applies rows and gives what they come to.
func merged(all []edited) (s *sync.State, clashes []sync.Clash) {
	s = &sync.State{}
	var m sync.Merge
	for _, e := range all {
		c, _ := m.Apply(s, e.version, e.base, e.committed, mergePolicy)
		clashes = append(clashes, c...)
	}
	if len(all) > 0 {
		m.Finish(s)
	}
	return s, clashes
}
