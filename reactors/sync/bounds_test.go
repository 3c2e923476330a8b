package sync

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// members are n of an object: "0": 1, "1": 1, ...
func members(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"%d": 1`, i))
	}
	return strings.Join(all, ", ")
}

// TestFlattenBounds: a document whose paths are far larger than itself, which repeat
// the keys above, is one value; and so is one of very many leaves.
func TestFlattenBounds(t *testing.T) {
	long := strings.Repeat("k", 100_000)
	for _, tt := range []struct {
		name, options, data string
		leaves              int
	}{
		{"ManyMembers", "", `{"a": {` + members(maxLeaves) + `}}`, maxLeaves},
		{"TooManyMembers", "", `{"a": {` + members(maxLeaves+1) + `}}`, 1},
		{"Deep", "", strings.Repeat(`{"a": `, 20) + `{` + members(100) + `}` + strings.Repeat("}", 20), 100},
		{"LongKey", "", `{"` + long + `": {"a": 1, "b": 2}}`, 2},
		{"LongKeyOfMany", "", `{"` + long + `": {` + members(5000) + `}}`, 1},
		{"LongIDOfMany", `{"arrays": "by_id"}`, `[{"id": "` + long + `", ` + members(5000) + `}]`, 1},
		{"LongKeyOfASet", `{"arrays": "set"}`, `{"` + long + `": [` + strings.Repeat("1, ", 10) + `2, 3, 4, 5, 6, 7, 8, 9, 10, 11]}`, 1},
	} {
		l := flatten([]byte(tt.data), ParsePolicy("merge", []byte(tt.options)).arrays)
		if len(l) != tt.leaves {
			t.Errorf("%s: %d leaves, want %d", tt.name, len(l), tt.leaves)
		}
		bytes := 0
		for p := range l {
			bytes += len(p)
		}
		if bytes > 64<<10+8*len(tt.data) {
			t.Errorf("%s: %d bytes of paths in a document of %d", tt.name, bytes, len(tt.data))
		}
	}
}

func TestTooNested(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for data, want := range map[string]bool{
		"":             false,
		nested(1000):   false,
		nested(1001):   true,
		nested(12_000): true,
		strings.Repeat(`{"a": [`, 501) + strings.Repeat(`]}`, 501):       true,
		"[" + strings.TrimSuffix(strings.Repeat("[],", 2000), ",") + "]": false,
		`"` + nested(1001) + `"`:                  false,
		`["\"` + strings.Repeat("[", 1001) + `"]`: false,
	} {
		if got := tooNested([]byte(data)); got != want {
			t.Errorf("%.20s... of %d bytes: %t", data, len(data), got)
		}
	}
}

// TestStakesBounds: an object of many members against an array of many elements is
// at stake as often as there are values, not as there are pairs.
func TestStakesBounds(t *testing.T) {
	const n = 4000
	elements := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(make([]int, 3))), ", "), "[]")
	for i := range n - 1 {
		elements += fmt.Sprintf(", %d", i+1)
	}
	of := func(data string, at int64) *delta {
		l := flatten([]byte(data), ParsePolicy("merge", []byte(`{"arrays": "set"}`)).arrays)
		return &delta{writes: diff(nil, l, hlc{Wall: at}, "a")}
	}
	for _, pair := range [][2]string{
		{`{"a": {` + members(n) + `}}`, `{"a": [` + elements + `]}`},
		{`{"a": [` + elements + `]}`, `{"a": {` + members(n) + `}}`},
		{`{"a": {` + members(n) + `}}`, `{"a": 1}`},
		{`{"a": []}`, `{"a": {` + members(n) + `}}`},
	} {
		d, o := of(pair[0], 1), of(pair[1], 2)
		mine, theirs := map[path]bool{}, map[path]bool{}
		found := strengths{}.stakes(d, o)
		for _, s := range found {
			mine[s.mine], theirs[s.their] = true, true
		}
		if len(mine) != len(d.writes) || len(theirs) != len(o.writes) {
			t.Errorf("%d and %d paths at stake, of %d and %d", len(mine), len(theirs), len(d.writes), len(o.writes))
		}
		if len(found) > 2*(len(d.writes)+len(o.writes)) {
			t.Errorf("%d stakes of %d and %d paths", len(found), len(d.writes), len(o.writes))
		}
	}
}

// sent is a version as a device sends it.
func sent(device, clock, data string, seconds int) Version {
	c, err := ParseClock([]byte(clock))
	if err != nil {
		panic(err)
	}
	v := Version{Device: device, Clock: c, Deleted: data == "", LastModified: midday.Add(time.Duration(seconds) * time.Second)}
	if data != "" {
		v.Data = []byte(data)
	}
	v.Content = ContentHash(v.Data, v.Deleted)
	return v
}

var midday = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// TestMergeWork: small rows that come out of order make a large document to be
// compared again once, not each of them.
func TestMergeWork(t *testing.T) {
	policy := ParsePolicy("merge", nil)
	for _, tt := range []struct {
		name string
		row  func(i int, m *Merge) Version
	}{
		{"DeletesSeen", func(i int, _ *Merge) Version { // by all that is kept
			return sent("z", fmt.Sprintf(`{"z": %d}`, i+1), "", -1000+i)
		}},
		{"LateEdits", func(i int, _ *Merge) Version {
			return sent("z", fmt.Sprintf(`{"z": %d}`, i+1), fmt.Sprintf(`{"z": %d}`, i), -1000+i)
		}},
		{"ClaimsAgain", func(i int, _ *Merge) Version {
			return sent("y", `{"y": 1}`, "", i)
		}},
		{"Stale", func(i int, m *Merge) Version {
			return sent("q", fmt.Sprintf(`{"q": %d}`, 1+i%2), "", i)
		}},
	} {
		var m Merge
		var s State
		for i := range 60 {
			data := fmt.Sprintf(`{%s, "x": %d}`, members(5000), i)
			m.Apply(&s, sent("r", fmt.Sprintf(`{"r": %d, "y": 1, "z": 9000}`, i+1), data, i), 0, midday.Add(time.Hour), policy)
		}
		work, builds := 0, 0
		var before *Version
		for i := range 200 {
			m.Apply(&s, tt.row(i, &m), 0, midday.Add(time.Hour), policy)
			m.current(&s)
			work += m.work
			if m.shown != nil && m.shown != before {
				before = m.shown
				builds++
			}
		}
		if work > 60*5000*3 || builds > 3 {
			t.Errorf("%s: %d values compared again, %d documents built", tt.name, work, builds)
		}
	}
}

// TestMergeStandingBounds: an entity grows no more by those who have not seen it,
// and goes on by those who have.
func TestMergeStandingBounds(t *testing.T) {
	policy := ParsePolicy("merge", nil)
	var m Merge
	var s State
	for i := range 20 {
		var all []string
		for k := range 5000 {
			all = append(all, fmt.Sprintf(`"%d_%d": 1`, i, k))
		}
		d := fmt.Sprintf("d%d", i)
		clashes, _ := m.Apply(&s, sent(d, `{"`+d+`": 1}`, "{"+strings.Join(all, ", ")+"}", i), 0, midday.Add(time.Hour), policy)
		if full := i*5000 > maxStanding; full != (len(clashes) == 1 && clashes[0].Kind == Stale) {
			t.Errorf("version %d: %d conflicts", i, len(clashes))
		}
	}
	if n := len(m.standing()); n > maxStanding+5000 {
		t.Errorf("%d values stand", n)
	}
	v := sent("z", `{"z": 1}`, `{"a": 1}`, 100)
	v.Clock = v.Clock.Join(s.Clock)
	m.Apply(&s, v, 0, midday.Add(time.Hour), policy)
	m.Finish(&s)
	if got := string(s.Versions[0].Data); got != `{"a": 1}` {
		t.Errorf("who has seen all comes to %.50s", got)
	}
}
