package sync_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/sync"
)

// applied is one row as the server committed it.
type applied struct {
	version   sync.Version
	committed time.Time
}

// device is one of those that edit an entity. Its clock is a map: what the
// tests expect is not computed by what they test.
type device struct {
	name   string
	skew   time.Duration
	clock  map[string]uint64
	sent   []applied
	backup map[string]uint64
}

// skews are how far devices' clocks are off; many agree, so that ties occur.
var skews = []time.Duration{0, 0, time.Minute, -time.Minute, 10 * time.Minute, -time.Hour, 24 * time.Hour, -24 * time.Hour}

// The actions of a device. Rapid shrinks to the first.
const (
	edit     = iota
	mergeAll // adopts the joined clock of the server, and edits
	mergeOne // adopts the clock of another device, and edits
	remove
	backUp
	restore  // goes back to its backup, and later writes under the same counters
	resend   // its last row again
	late     // an old row of its own again, as a request that was held up
	careless // edits without counting
	unversed // edits without a clock
	actions
)

// history draws what 3 to 8 devices do to one entity, in commit order.
func history(t *rapid.T) []applied {
	devices := make([]*device, rapid.IntRange(3, 8).Draw(t, "devices"))
	for i := range devices {
		devices[i] = &device{name: string(rune('a' + i)), skew: rapid.SampledFrom(skews).Draw(t, "skew"),
			clock: map[string]uint64{}, backup: map[string]uint64{}}
	}
	joined := map[string]uint64{} // the server's
	var all []applied
	now := noon
	for range rapid.IntRange(1, 60).Draw(t, "steps") {
		d := devices[rapid.IntRange(0, len(devices)-1).Draw(t, "device")]
		now = now.Add(time.Duration(rapid.IntRange(1, 90).Draw(t, "pause")) * time.Second)
		deleted := false
		switch rapid.IntRange(0, actions-1).Draw(t, "action") {
		case edit:
			d.clock[d.name]++
		case mergeAll:
			adopt(d.clock, joined)
			d.clock[d.name]++
		case mergeOne:
			adopt(d.clock, devices[rapid.IntRange(0, len(devices)-1).Draw(t, "peer")].clock)
			d.clock[d.name]++
		case remove:
			d.clock[d.name]++
			deleted = true
		case backUp:
			d.backup = maps.Clone(d.clock)
			continue
		case restore:
			d.clock = maps.Clone(d.backup)
			continue
		case resend:
			if n := len(d.sent); n > 0 {
				all = append(all, d.sent[n-1])
			}
			continue
		case late:
			if len(d.sent) > 0 {
				all = append(all, d.sent[rapid.IntRange(0, len(d.sent)-1).Draw(t, "old")])
			}
			continue
		case careless:
		case unversed:
			all = append(all, d.write(nil, now, rapid.IntRange(0, 3).Draw(t, "content"), false))
			continue
		}
		adopt(joined, d.clock)
		all = append(all, d.write(d.clock, now, rapid.IntRange(0, 3).Draw(t, "content"), deleted))
	}
	return all
}

func adopt(into, from map[string]uint64) {
	for device, counter := range from {
		into[device] = max(into[device], counter)
	}
}

// write is the row that the device sends. Times have whole minutes: they meet.
// A device that is ahead never writes the same twice: as its times are the
// server's, which of the two came first would be all there is to tell them apart.
func (d *device) write(clk map[string]uint64, now time.Time, content int, deleted bool) applied {
	v := sync.Version{Device: d.name, Deleted: deleted, LastModified: now.Add(d.skew).Truncate(time.Minute)}
	for _, name := range slices.Sorted(maps.Keys(clk)) {
		if clk[name] > 0 {
			v.Clock = append(v.Clock, sync.Entry{Device: name, Counter: clk[name]})
		}
	}
	if d.skew > sync.MaxAhead {
		content += 4*(1+len(d.sent)) + 1000*int(d.name[0])
	}
	if !deleted || content > 1 { // with and without data
		v.Data = fmt.Appendf(nil, `{"n": %d}`, content)
	}
	v.Content = sync.ContentHash(v.Data, deleted)
	a := applied{v, now}
	d.sent = append(d.sent, a)
	return a
}

// includes reports whether clock a includes all that b does, by definition.
func includes(a, b sync.Clock) bool {
	counters := map[string]uint64{}
	for _, e := range a {
		counters[e.Device] = e.Counter
	}
	for _, e := range b {
		if counters[e.Device] < e.Counter {
			return false
		}
	}
	return true
}

// beats is the order of last write wins, by definition.
func beats(v, w *sync.Version) bool {
	switch {
	case v.Deleted != w.Deleted:
		return w.Deleted
	case !v.LastModified.Equal(w.LastModified):
		return v.LastModified.After(w.LastModified)
	case v.Device != w.Device:
		return v.Device > w.Device
	}
	if v.Content != w.Content {
		return v.Content > w.Content
	}
	return v.Compare(w) > 0 // clocks alone tell them apart; any fixed order of those will do
}

// clamped is the version as the server takes it.
func (a applied) clamped() sync.Version {
	v := a.version
	if v.LastModified.After(a.committed.Add(sync.MaxAhead)) {
		v.LastModified = a.committed
	}
	return v
}

// outcome is what a history must come to, by definition and in no order: the
// versions that no other one includes, one a clock, the winner first; the
// greatest counter of each device; the newest write of each device.
func outcome(all []applied) *sync.State {
	s := &sync.State{Seen: map[string]sync.Dot{}}
	joined := map[string]uint64{}
	for i, a := range all {
		v := a.clamped()
		stands := true
		for j, b := range all {
			w := b.clamped()
			switch {
			case i == j || !includes(w.Clock, v.Clock):
			case !includes(v.Clock, w.Clock), beats(&w, &v), j < i && !beats(&v, &w):
				stands = false
			}
		}
		if stands {
			s.Versions = append(s.Versions, v)
		}
		for _, e := range v.Clock {
			joined[e.Device] = max(joined[e.Device], e.Counter)
			last := s.Seen[v.Device]
			if e.Device == v.Device && (e.Counter > last.Counter || e.Counter == last.Counter && v.Content > last.Content) {
				s.Seen[v.Device] = sync.Dot{Counter: e.Counter, Content: v.Content}
			}
		}
	}
	for i := range s.Versions {
		if beats(&s.Versions[i], &s.Versions[0]) {
			s.Versions[0], s.Versions[i] = s.Versions[i], s.Versions[0]
		}
	}
	for device, counter := range joined {
		s.Clock = append(s.Clock, sync.Entry{Device: device, Counter: counter})
	}
	slices.SortFunc(s.Clock, func(a, b sync.Entry) int { return strings.Compare(a.Device, b.Device) })
	return s
}
