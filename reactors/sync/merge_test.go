package sync_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/sync"
)

// written is a row of device: JSON data, "" for a deletion, seconds after noon.
func written(device, clk, data string, seconds int) edited {
	v := sync.Version{Device: device, Clock: clock(clk), LastModified: at(seconds), Deleted: data == ""}
	if data != "" {
		v.Data = []byte(data)
	}
	v.Content = sync.ContentHash(v.Data, v.Deleted)
	return edited{applied{v, at(seconds)}, 0}
}

func TestMerge(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options string
		rows    []edited
		want    string // resolution, deleted, data
		lost    string // device and paths, or "all" of it
	}{
		{"OneVersion", "", []edited{written("a", "a:1", `{"x": 1}`, 1)}, `none false {"x": 1}`, ""},
		{"FastForward", "", []edited{written("a", "a:1", `{"x": 1}`, 1), written("b", "a:1 b:1", `{"y": 2}`, 2)}, `fast_forward false {"y": 2}`, ""},
		{"DifferentPaths", "", []edited{written("a", "a:1", `{"x": 1, "y": 1}`, 1), written("a", "a:2", `{"x": 2, "y": 1}`, 2),
			written("b", "a:1 b:1", `{"x": 1, "y": 3}`, 3)}, `merge false {"x": 2, "y": 3}`, ""},
		{"OnePath", "", []edited{written("a", "a:1", `{"x": 1}`, 1), written("a", "a:2", `{"x": 2}`, 2),
			written("b", "a:1 b:1", `{"x": 3}`, 3)}, `merge false {"x": 3}`, `a ["x"]`},
		{"RemovedAgainstChanged", "", []edited{written("a", "a:1", `{"x": 1, "y": 1}`, 1), written("a", "a:2", `{"y": 1}`, 3),
			written("b", "a:1 b:1", `{"x": 3, "y": 1}`, 2)}, `merge false {"y": 1}`, `b ["x"]`},
		// Device a has seen b's first edit of y, not the second, which must stand.
		{"StaleValueIsNotAssertedAgain", "", []edited{written("b", "b:1", `{"y": 1, "z": 0}`, 1), written("b", "b:2", `{"y": 2, "z": 0}`, 2),
			written("a", "b:1 a:1", `{"y": 1, "z": 9}`, 3)}, `merge false {"y": 2, "z": 9}`, ""},
		{"ScalarAboveObject", "", []edited{written("a", "a:1", `{"o": 5}`, 1), written("b", "b:1", `{"o": {"x": 1}}`, 2)},
			`merge false {"o": {"x": 1}}`, `a ["o"]`},
		{"ObjectBelowScalar", "", []edited{written("a", "a:1", `{"o": 5}`, 2), written("b", "b:1", `{"o": {"x": 1}}`, 1)},
			`merge false {"o": 5}`, `b ["o","x"]`},
		{"NullIsAValue", "", []edited{written("a", "a:1", `{"x": 1, "y": 1}`, 1), written("b", "a:1 b:1", `{"x": null, "y": 1}`, 2),
			written("a", "a:2", `{"x": 1, "y": 2}`, 3)}, `merge false {"x": null, "y": 2}`, ""},
		{"RootsThatAreNoObjects", "", []edited{written("a", "a:1", `[1]`, 1), written("b", "b:1", `"s"`, 2)}, `merge false "s"`, `a []`},
		{"UpdateAgainstDelete", "", []edited{written("a", "a:1", `{"x": 1, "y": 1}`, 1), written("b", "a:1 b:1", "", 5),
			written("a", "a:2", `{"x": 2, "y": 1}`, 2)}, `merge false {"x": 2, "y": 1}`, `b all`},
		{"Revived", "", []edited{written("a", "a:1", `{"x": 1, "y": 1}`, 1), written("b", "a:1 b:1", "", 2),
			written("a", "a:2 b:1", `{"x": 1}`, 3)}, `fast_forward false {"x": 1}`, ""},
		{"AtomicArrays", "", []edited{written("a", "a:1", `{"t": [1]}`, 1), written("a", "a:2", `{"t": [1, 2]}`, 2),
			written("b", "a:1 b:1", `{"t": [1, 3]}`, 3)}, `merge false {"t": [1, 3]}`, `a ["t"]`},
		{"Sets", `{"arrays": "set"}`, []edited{written("a", "a:1", `{"t": [1, 9]}`, 1), written("a", "a:2", `{"t": [1, 9, 2]}`, 2),
			written("b", "a:1 b:1", `{"t": [3, 1]}`, 3)}, `merge false {"t": [1, 2, 3]}`, ""},
		{"ByID", `{"arrays": {"l": "by_id"}}`, []edited{written("a", "a:1", `{"l": [{"id": 1, "n": "x"}, {"id": 2, "n": "y"}]}`, 1),
			written("a", "a:2", `{"l": [{"id": 1, "n": "X"}, {"id": 2, "n": "y"}]}`, 2),
			written("b", "a:1 b:1", `{"l": [{"id": 1, "n": "x", "d": true}, {"id": 3, "n": "z"}]}`, 3)},
			`merge false {"l": [{"d": true, "n": "X", "id": 1}, {"n": "z", "id": 3}]}`, ""},
		{"PointersReachIntoItems", `{"arrays": {"/l": "by_id", "/l/t": "set"}}`, []edited{written("a", "a:1", `{"l": [{"t": [1], "id": 1}]}`, 1),
			written("a", "a:2", `{"l": [{"t": [1, 2], "id": 1}]}`, 2), written("b", "a:1 b:1", `{"l": [{"t": [1, 3], "id": 1}]}`, 3)},
			`merge false {"l": [{"t": [1, 2, 3], "id": 1}]}`, ""},
		{"Fork", "", []edited{written("a", "a:1", `{"x": 1}`, 1), written("a", "a:1", `{"x": 2}`, 2)}, `merge false {"x": 2}`, `a ["x"]`},
		{"WithoutAClock", "", []edited{written("a", "a:1", `{"x": 1}`, 1), written("b", "", `{"q": 1}`, 2)}, `fast_forward false {"x": 1}`, `b all`},
		{"KeysOfAnyKind", "", []edited{written("a", "a:1", `{"": 1, "a.b": 1, "a/b": 1, "__proto__": 1}`, 1),
			written("b", "b:1", `{"": 1, "a.b": 2, "a/b": 1, "__proto__": {"x": 1}}`, 2)},
			`merge false {"": 1, "a.b": 2, "a/b": 1, "__proto__": {"x": 1}}`, `a ["__proto__"] ["a.b"]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var m sync.Merge
			var s sync.State
			var lost []string
			policy := sync.ParsePolicy("merge", []byte(tt.options))
			for _, r := range tt.rows {
				clashes, _ := m.Apply(&s, r.version, r.base, r.committed, policy)
				for i := range clashes {
					lost = append(lost, showLost(t, &clashes[i]))
				}
			}
			m.Finish(&s)
			if got := fmt.Sprintf("%s %t %s", s.Resolution, s.Versions[0].Deleted, s.Versions[0].Data); got != tt.want {
				t.Errorf("came to %s, want %s", got, tt.want)
			}
			if got := strings.Join(lost, ", "); got != tt.lost {
				t.Errorf("lost %s, want %s", got, tt.lost)
			}
		})
	}
}

// showLost tells whose paths lost.
func showLost(t *testing.T, c *sync.Clash) string {
	t.Helper()
	b, err := c.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var sides [2]struct {
		Writes []struct{ Path json.RawMessage }
	}
	if err := json.Unmarshal(b, &sides); err != nil {
		t.Fatal(err)
	}
	all := c.Loser.Device
	for _, w := range sides[1].Writes {
		all += " " + string(w.Path)
	}
	if sides[1].Writes == nil {
		all += " all"
	}
	return all
}

// TestMergeBaseRevision: a device that names the revision it had merged has seen
// all that was in it, and nothing that came later.
func TestMergeBaseRevision(t *testing.T) {
	rows := []edited{written("a", "a:1", `{"x": 1, "y": 1}`, 1), written("b", "b:1", `{"x": 2, "y": 1}`, 2)}
	for _, tt := range []struct {
		base int64
		want string
	}{
		{2, `fast_forward {"y": 5}`}, // c removed x
		{1, `merge {"y": 5}`},
		{0, `merge {"x": 2, "y": 5}`},
		{9, `merge {"x": 2, "y": 5}`}, // is yet to come
	} {
		last := written("c", "c:1", `{"y": 5}`, 3)
		last.base = tt.base
		s, _ := merged(append(rows[:2:2], last))
		if got := fmt.Sprintf("%s %s", s.Resolution, s.Versions[0].Data); got != tt.want {
			t.Errorf("base %d: %s, want %s", tt.base, got, tt.want)
		}
	}
}

// TestMergeBounds: past the bounds the oldest versions are one; who has seen all
// of them goes on, who has seen none merges, and who has seen a part is recorded.
func TestMergeBounds(t *testing.T) {
	var m sync.Merge
	var s sync.State
	for i := 1; i <= 100; i++ {
		e := written("a", fmt.Sprintf("a:%d", i), fmt.Sprintf(`{"n": %d, "k": 1}`, i), i)
		if lost, _ := m.Apply(&s, e.version, 0, e.committed, mergePolicy); len(lost) > 0 {
			t.Fatalf("version %d: %s", i, showLost(t, &lost[0]))
		}
	}
	step := func(name string, e edited, want, wantLost string) {
		t.Helper()
		clashes, _ := m.Apply(&s, e.version, e.base, e.committed, mergePolicy)
		m.Finish(&s)
		lost := ""
		for i := range clashes {
			lost += string(clashes[i].Kind) + " " + showLost(t, &clashes[i])
		}
		if got := string(s.Versions[0].Data); got != want || lost != wantLost {
			t.Errorf("%s: %s, want %s; lost %q, want %q", name, got, want, lost, wantLost)
		}
	}
	step("has seen all", written("b", "a:100 b:1", `{"n": 100, "k": 2}`, 101), `{"k": 2, "n": 100}`, "")
	step("has seen a part of the root", written("c", "a:3 c:1", `{"n": 3, "k": 7}`, 102), `{"k": 2, "n": 100}`, "stale c all")
	step("has seen a kept one", written("c", "a:90 c:2", `{"n": 90, "k": 1, "c": 1}`, 103), `{"c": 1, "k": 2, "n": 100}`, "")
	step("told again", written("a", "a:3", `{"n": 3, "k": 1}`, 3), `{"c": 1, "k": 2, "n": 100}`, "stale a all")
	if n := s.Clock.Counter("c"); n != 2 {
		t.Errorf("the clock has c:%d", n)
	}
	s.Revision = 200
	step("has seen nothing", written("d", "d:1", `{"d": 4}`, 90), `{"c": 1, "d": 4, "k": 2, "n": 100}`, "")
}

// TestMergeHotEntity: what is written to one entity takes no time that depends on
// how often it was.
func TestMergeHotEntity(t *testing.T) {
	var m sync.Merge
	var s sync.State
	began := time.Now()
	for i := 1; i <= 1000; i++ { // twenty devices that see nothing of each other
		d := fmt.Sprintf("d%02d", i%20)
		doc := document{}
		for p := range 50 {
			doc[fmt.Sprintf("p%02d", p)] = fmt.Sprint(i)
		}
		e := written(d, fmt.Sprintf("%s:%d", d, i/20+1), string(doc.data()), i)
		m.Apply(&s, e.version, 0, e.committed, mergePolicy)
	}
	m.Finish(&s)
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("a thousand writes took %s", took)
	}
}

// TestMergeDeletesOfAll: a live version that collapsed and was seen by a delete
// does not come back with a second delete.
func TestMergeDeletesOfAll(t *testing.T) {
	sync.LowerMaxKept(t, 1)
	s, _ := merged([]edited{written("a", "a:1", `{"x": 1}`, 1), written("x", "x:1", `{"x": 1}`, 2), written("b", "a:1 b:1 x:1", "", 3),
		written("c", "c:1", "", 4)})
	if !s.Versions[0].Deleted {
		t.Errorf("%s is alive", s.Versions[0].Data)
	}
	s, _ = merged([]edited{written("a", "a:1", `{"x": 1}`, 1), written("b", "b:1", "", 2), written("c", "c:1", "", 3)})
	if s.Versions[0].Deleted {
		t.Error("what two deletes had not seen is deleted")
	}
}

// TestMergeLargeLosers: a large value that lost is in one conflict, however many
// versions won over it.
func TestMergeLargeLosers(t *testing.T) {
	var all []edited
	for i, device := range []string{"c", "d", "b", "a"} { // the last one loses to three
		all = append(all, written(device, device+":1", fmt.Sprintf(`{"x": "%s"}`, strings.Repeat(device, 5000)), 10-i))
	}
	_, clashes := merged(all)
	kept := map[string]int{}
	for i := range clashes {
		b, err := clashes[i].MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		for _, device := range []string{"a", "b", "c", "d"} {
			kept[device] += strings.Count(string(b), strings.Repeat(device, 5000))
		}
	}
	if kept["a"] != 1 || kept["b"] != 1 || kept["d"] != 1 || kept["c"] != 0 || len(clashes) != 6 {
		t.Errorf("%d conflicts have values %v", len(clashes), kept)
	}
}

// TestMergeLargeLoserFirst: nor does it stand in many when the winners come after it.
func TestMergeLargeLoserFirst(t *testing.T) {
	large := strings.Repeat("x", 100_000)
	for _, tt := range []struct{ name, data, winner string }{
		{"OnePath", `{"a": "` + large + `"}`, `{"a": 1}`},
		{"AboveAnother", `"` + large + `"`, `{"a": 1}`},
		{"BelowAnother", `{"a": {"b": "` + large + `"}}`, `{"a": 1}`},
		{"Delete", "", `{"a": 1}`},
	} {
		var m sync.Merge
		var s sync.State
		first := written("loser", "loser:1", tt.data, 0)
		if tt.data == "" {
			first.version.Data = []byte(`"` + large + `"`) // a delete that has data
			first.version.Content = sync.ContentHash(first.version.Data, true)
		}
		m.Apply(&s, first.version, 0, noon, mergePolicy)
		copies, n := 0, 0
		for i := range 100 {
			d := fmt.Sprintf("d%d", i)
			e := written(d, d+":1", tt.winner, 1+(i*37)%100)
			clashes, _ := m.Apply(&s, e.version, 0, e.committed, mergePolicy)
			for j := range clashes {
				b, err := clashes[j].MarshalJSON()
				if err != nil {
					t.Fatal(err)
				}
				n++
				copies += strings.Count(string(b), large)
			}
		}
		if copies != 1 || n < 60 {
			t.Errorf("%s: %d copies in %d conflicts", tt.name, copies, n)
		}
	}
}
