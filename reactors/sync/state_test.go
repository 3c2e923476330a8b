package sync_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/sync"
)

func TestStateApply(t *testing.T) {
	type want struct {
		visible    string // text of the winner, then of the siblings
		clock      string
		resolution sync.Resolution
		revision   int64
		losers     string // of all writes
	}
	for _, tt := range []struct {
		name   string
		writes []sync.Version // committed a second apart
		want   want
	}{
		{"First", []sync.Version{write("a", "a:1", "x", 0)},
			want{"x", "a:1", sync.None, 1, ""}},
		{"FastForward", []sync.Version{write("a", "a:1", "x", 5), write("b", "a:1 b:1", "y", 0)},
			want{"y", "a:1 b:1", sync.FastForward, 2, ""}},
		{"Concurrent", []sync.Version{write("a", "a:1", "x", 1), write("b", "b:1", "y", 2)},
			want{"y x", "a:1 b:1", sync.LastWriteWins, 2, "concurrent x"}},
		{"ConcurrentInOtherOrder", []sync.Version{write("b", "b:1", "y", 2), write("a", "a:1", "x", 1)},
			want{"y x", "a:1 b:1", sync.LastWriteWins, 2, "concurrent x"}},
		{"ThreeConcurrent", []sync.Version{write("a", "a:1", "x", 1), write("b", "b:1", "y", 3), write("c", "c:1", "z", 2)},
			want{"y x z", "a:1 b:1 c:1", sync.LastWriteWins, 3, "concurrent x, concurrent z"}},
		{"MergeEndsConflict", []sync.Version{write("a", "a:1", "x", 1), write("b", "b:1", "y", 2), write("a", "a:2 b:1", "z", 0)},
			want{"z", "a:2 b:1", sync.FastForward, 3, "concurrent x"}},
		{"StoredSiblingWinsAgain", []sync.Version{write("a", "a:1", "x", 2), write("b", "b:1", "y", 3), write("b", "b:2", "z", 1)},
			want{"x z", "a:1 b:2", sync.LastWriteWins, 3, "concurrent x, concurrent z"}},
		{"Included", []sync.Version{write("b", "a:1 b:1", "y", 0), write("a", "a:1", "x", 5)},
			want{"y", "a:1 b:1", sync.None, 1, ""}},
		{"Duplicate", []sync.Version{write("a", "a:1", "x", 1), write("a", "a:1", "x", 1)},
			want{"x", "a:1", sync.None, 1, ""}},
		{"DuplicateOfIncluded", []sync.Version{write("a", "a:1", "x", 1), write("b", "a:1 b:1", "y", 0), write("a", "a:1", "x", 1)},
			want{"y", "a:1 b:1", sync.FastForward, 2, ""}},
		{"ForkAtEqualClock", []sync.Version{write("a", "a:1", "x", 1), write("a", "a:1", "y", 2)},
			want{"y", "a:1", sync.LastWriteWins, 2, "fork x"}},
		{"ForkAtEqualClockInOtherOrder", []sync.Version{write("a", "a:1", "y", 2), write("a", "a:1", "x", 1)},
			want{"y", "a:1", sync.LastWriteWins, 2, "fork x"}},
		{"ForkOfTwoDevices", []sync.Version{write("a", "a:1 b:1", "x", 1), write("b", "a:1 b:1", "y", 2)},
			want{"y", "a:1 b:1", sync.LastWriteWins, 2, "fork x"}},
		{"ForkWithGreaterClock", []sync.Version{write("a", "a:1", "x", 9), write("a", "a:1 b:1", "y", 1)},
			want{"y", "a:1 b:1", sync.LastWriteWins, 2, "fork x"}},
		{"ForkWithLesserClock", []sync.Version{write("a", "a:1 b:1", "y", 1), write("a", "a:1", "x", 9)},
			want{"y", "a:1 b:1", sync.None, 1, "fork x"}},
		{"ForkOfIncluded", []sync.Version{write("a", "a:1", "x", 1), write("b", "a:1 b:1", "y", 1), write("a", "a:1", "z", 9)},
			want{"y", "a:1 b:1", sync.FastForward, 2, "fork z"}},
		{"ForkThenLaterTimeOfItsWinner", []sync.Version{write("a", "a:1", "x", 1), write("a", "a:1", "y", 0), write("a", "a:1", "x", 2)},
			want{"x", "a:1", sync.LastWriteWins, 2, "fork y"}},
		{"SiblingToldAgainLaterWins", []sync.Version{write("a", "a:1", "x", 1), write("b", "b:1", "y", 2), write("a", "a:1", "x", 3)},
			want{"x y", "a:1 b:1", sync.LastWriteWins, 3, "concurrent x, concurrent y"}},
		{"MergeUnderSameCounter", []sync.Version{write("a", "a:1", "x", 1), write("a", "a:1 b:1", "x", 1)},
			want{"x", "a:1 b:1", sync.FastForward, 2, ""}},
		{"StaleAfterRestore", []sync.Version{write("a", "a:1", "x", 1), write("a", "a:2", "y", 2), write("a", "a:3", "z", 3), write("a", "a:2", "w", 9)},
			want{"z", "a:3", sync.FastForward, 3, "stale w"}},
		{"StaleWithWinnersContent", []sync.Version{write("a", "a:1", "x", 1), write("a", "a:2", "y", 2), write("a", "a:1", "y", 9)},
			want{"y", "a:2", sync.FastForward, 2, ""}},
		{"RestoredDeviceGoesOn", []sync.Version{write("a", "a:2", "x", 1), write("b", "a:2 b:1", "y", 2), write("a", "a:3", "z", 3)},
			want{"z y", "a:3 b:1", sync.LastWriteWins, 3, "concurrent y"}},
		{"DeleteAfterUpdate", []sync.Version{write("a", "a:1", "x", 1), write("a", "a:2", "", 2)},
			want{"(deleted)", "a:2", sync.FastForward, 2, ""}},
		{"UpdateThenConcurrentDelete", []sync.Version{write("a", "a:1", "x", 1), write("b", "b:1", "", 9)},
			want{"x (deleted)", "a:1 b:1", sync.LastWriteWins, 2, "concurrent (deleted)"}},
		{"DeleteThenConcurrentUpdate", []sync.Version{write("b", "b:1", "", 9), write("a", "a:1", "x", 1)},
			want{"x (deleted)", "a:1 b:1", sync.LastWriteWins, 2, "concurrent (deleted)"}},
		{"WriteAfterDeletion", []sync.Version{write("a", "a:1", "", 5), write("b", "a:1 b:1", "y", 1)},
			want{"y", "a:1 b:1", sync.FastForward, 2, ""}},
		{"EmptyClocks", []sync.Version{write("a", "", "x", 1), write("b", "", "y", 2), write("c", "", "z", 0)},
			want{"y", "", sync.LastWriteWins, 2, "fork x, fork z"}},
		{"EmptyClockOfSameDeviceAgain", []sync.Version{write("a", "", "x", 1), write("a", "", "y", 2)},
			want{"y", "", sync.LastWriteWins, 2, "fork x"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s sync.State
			var conflicts []sync.Conflict
			for i, v := range tt.writes {
				lost, _ := s.Apply(v, at(i))
				for _, c := range lost {
					if !c.At.Equal(at(i)) {
						t.Errorf("a conflict of write %d is dated %s", i, c.At)
					}
					if c.Winner.ID() != s.Versions[0].ID() {
						t.Errorf("the conflict names %q as winner, which is %q", text(&c.Winner), text(&s.Versions[0]))
					}
				}
				conflicts = append(conflicts, lost...)
			}
			got := want{texts(s.Versions), tt.want.clock, s.Resolution, s.Revision, losers(conflicts)}
			if got != tt.want {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
			if s.Clock.Compare(clock(tt.want.clock)) != sync.Equal {
				t.Errorf("clock %v, want %s", s.Clock, tt.want.clock)
			}
		})
	}
}

func TestStateApplyReportsChange(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before []sync.Version
		add    sync.Version
		want   bool
	}{
		{"First", nil, write("a", "a:1", "x", 1), true},
		{"Duplicate", []sync.Version{write("a", "a:1", "x", 1)}, write("a", "a:1", "x", 1), false},
		{"Included", []sync.Version{write("a", "a:1", "x", 1), write("b", "a:1 b:1", "y", 1)}, write("a", "a:1", "x", 1), false},
		{"IncludedButNewOfItsDevice", []sync.Version{write("b", "a:1 b:1", "y", 1)}, write("a", "a:1", "x", 1), true},
		{"Stale", []sync.Version{write("a", "a:1", "x", 1), write("a", "a:2", "y", 1)}, write("a", "a:1", "x", 1), false},
		{"EmptyClockAfterAny", []sync.Version{write("a", "a:1", "x", 1)}, write("b", "", "y", 9), false},
		{"EarlierTimeOfTheSame", []sync.Version{write("a", "a:1", "x", 2)}, write("a", "a:1", "x", 1), false},
		{"LaterTimeOfTheSame", []sync.Version{write("a", "a:1", "x", 2)}, write("a", "a:1", "x", 3), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s sync.State
			for _, v := range tt.before {
				s.Apply(v, at(0))
			}
			before := s
			_, changed := s.Apply(tt.add, at(60))
			if changed != tt.want {
				t.Fatalf("changed is %v, want %v", changed, tt.want)
			}
			if !changed && show(&s) != show(&before) {
				t.Errorf("unchanged, yet\n%s\nwas\n%s", show(&s), show(&before))
			}
			if visibly := s.Revision != before.Revision || s.Resolution != before.Resolution; visibly != s.Updated.Equal(at(60)) {
				t.Errorf("updated %s; a visible change: %v", s.Updated, visibly)
			}
		})
	}
}

func TestStateSeen(t *testing.T) {
	x, y := write("a", "a:2", "x", 1), write("a", "a:2", "y", 1)
	greater := max(x.Content, y.Content)
	for _, tt := range []struct {
		name   string
		writes []sync.Version
		want   map[string]sync.Dot
	}{
		{"Newest", []sync.Version{write("a", "a:1", "z", 1), x}, map[string]sync.Dot{"a": {Counter: 2, Content: x.Content}}},
		{"OlderChangesNothing", []sync.Version{x, write("a", "a:1", "z", 1)}, map[string]sync.Dot{"a": {Counter: 2, Content: x.Content}}},
		{"GreaterHashOfFork", []sync.Version{x, y}, map[string]sync.Dot{"a": {Counter: 2, Content: greater}}},
		{"GreaterHashOfForkInOtherOrder", []sync.Version{y, x}, map[string]sync.Dot{"a": {Counter: 2, Content: greater}}},
		{"NotOfOtherDevicesInTheClock", []sync.Version{write("a", "a:1 b:5", "z", 1)},
			map[string]sync.Dot{"a": {Counter: 1, Content: write("a", "", "z", 1).Content}}},
		{"NothingWithoutOwnCounter", []sync.Version{write("a", "b:5", "z", 1)}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s sync.State
			for _, v := range tt.writes {
				s.Apply(v, at(0))
			}
			if fmt.Sprint(s.Seen) != fmt.Sprint(tt.want) {
				t.Errorf("seen %v, want %v", s.Seen, tt.want)
			}
		})
	}
}

func TestStateClampsTheFuture(t *testing.T) {
	for _, tt := range []struct {
		name            string
		modified, wants time.Time
	}{
		{"Past", noon.Add(-time.Hour), noon.Add(-time.Hour)},
		{"FiveMinutesAhead", noon.Add(sync.MaxAhead), noon.Add(sync.MaxAhead)},
		{"JustMore", noon.Add(sync.MaxAhead + time.Microsecond), noon},
		{"NextYear", noon.AddDate(1, 0, 0), noon},
		{"BeyondADuration", time.Date(294276, 1, 1, 0, 0, 0, 0, time.UTC), noon},
		{"LongAgo", time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := write("a", "a:1", "x", 0)
			v.LastModified = tt.modified
			var s sync.State
			s.Apply(v, noon)
			if got := s.Versions[0].LastModified; !got.Equal(tt.wants) {
				t.Errorf("last_modified %s, want %s", got, tt.wants)
			}
		})
	}
	future := write("a", "a:1", "x", 0)
	future.LastModified = noon.AddDate(1, 0, 0)
	t.Run("DoesNotWinForEver", func(t *testing.T) {
		var s sync.State
		s.Apply(future, noon)
		s.Apply(write("b", "b:1", "y", 10), at(10))
		if got := texts(s.Versions); got != "y x" {
			t.Errorf("set %q, want y first", got)
		}
	})
	// A repair reads rows again that were seen before, and a device sends its
	// row again: neither is a newer write.
	t.Run("SeenAgainLaterChangesNothing", func(t *testing.T) {
		var s sync.State
		s.Apply(future, noon)
		s.Apply(write("b", "b:1", "y", 10), at(10))
		before := show(&s)
		if _, changed := s.Apply(future, at(60)); changed || show(&s) != before {
			t.Errorf("the same write, read again a minute later, made of\n%s\nthis:\n%s", before, show(&s))
		}
	})
}

func TestStateMaxSiblings(t *testing.T) {
	const n = sync.MaxSiblings + 20
	var s sync.State
	recorded := map[string]bool{}
	for i := range n {
		device := fmt.Sprintf("d%03d", i)
		modified := (i * 37) % n // every second once, in no order
		conflicts, changed := s.Apply(write(device, device+":1", fmt.Sprint(modified), modified), at(modified))
		if !changed {
			t.Errorf("write %d changed nothing", i)
		}
		for _, c := range conflicts {
			recorded[text(&c.Loser)] = true
		}
	}
	t.Run("Bounded", func(t *testing.T) {
		if len(s.Versions) != sync.MaxSiblings {
			t.Errorf("%d versions, want %d", len(s.Versions), sync.MaxSiblings)
		}
	})
	t.Run("ClockOfAll", func(t *testing.T) {
		if len(s.Clock) != n || len(s.Seen) != n {
			t.Errorf("clock of %d devices, %d seen, want %d", len(s.Clock), len(s.Seen), n)
		}
	})
	t.Run("AllLosersRecorded", func(t *testing.T) {
		for i := range n - 1 {
			if !recorded[fmt.Sprint(i)] {
				t.Errorf("version %d is in no conflict", i)
			}
		}
		if winner := text(&s.Versions[0]); winner != fmt.Sprint(n-1) || recorded[winner] {
			t.Errorf("winner %s, recorded as a loser: %v", winner, recorded[winner])
		}
	})
	t.Run("OneThatIncludesAllEndsIt", func(t *testing.T) {
		last := write("d000", "", "end", 0)
		last.Clock = s.Clock.Join(clock("d000:2"))
		s.Apply(last, at(n))
		if got := texts(s.Versions); got != "end" {
			t.Errorf("set %q", got)
		}
	})
}
