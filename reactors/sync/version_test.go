package sync_test

import (
	"testing"

	"github.com/helixd/helixd/reactors/sync"
)

func TestVersionCompare(t *testing.T) {
	low, high := write("a", "a:1", "one", 0), write("a", "a:1", "two", 0)
	if low.Content > high.Content {
		low, high = high, low
	}
	for _, tt := range []struct {
		name          string
		winner, loser sync.Version
	}{
		{"LaterWins", write("a", "a:1", "x", 2), write("b", "b:1", "y", 1)},
		{"LaterByAMicrosecond", func() sync.Version {
			v := write("a", "a:1", "x", 1)
			v.LastModified = v.LastModified.Add(1000)
			return v
		}(), write("b", "b:1", "y", 1)},
		{"UpdateBeatsLaterDelete", write("a", "a:1", "x", 1), write("b", "b:1", "", 9)},
		{"LaterDeleteBeatsDelete", write("a", "a:1", "", 2), write("b", "b:1", "", 1)},
		{"DeviceBreaksTie", write("b", "b:1", "x", 1), write("a", "a:1", "y", 1)},
		{"ContentBreaksTie", high, low},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.winner.Compare(&tt.loser); got <= 0 {
				t.Errorf("winner against loser: %d", got)
			}
			if got := tt.loser.Compare(&tt.winner); got >= 0 {
				t.Errorf("loser against winner: %d", got)
			}
		})
	}
	// Else their order would be that of arrival.
	t.Run("ClockBreaksTheLastTie", func(t *testing.T) {
		a, b := write("a", "a:2", "x", 1), write("a", "a:1 b:1", "x", 1)
		if got := a.Compare(&b); got == 0 || got != -b.Compare(&a) {
			t.Errorf("Compare = %d one way, %d the other", got, b.Compare(&a))
		}
	})
	t.Run("EqualToItself", func(t *testing.T) {
		a, b := write("a", "a:1", "x", 1), write("a", "a:1", "x", 1)
		if got := a.Compare(&b); got != 0 {
			t.Errorf("Compare = %d, want 0", got)
		}
	})
}

func TestContentHash(t *testing.T) {
	seen := map[string]string{}
	for _, tt := range []struct {
		name    string
		data    []byte
		deleted bool
	}{
		{"SQLNull", nil, false},
		{"JSONNull", []byte("null"), false},
		{"Object", []byte(`{"a": 1}`), false},
		{"DeletedWithoutData", nil, true},
		{"DeletedWithData", []byte(`{"a": 1}`), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := sync.ContentHash(tt.data, tt.deleted)
			if len(h) != 16 {
				t.Errorf("hash %q has %d digits, want 16", h, len(h))
			}
			if other, ok := seen[h]; ok {
				t.Errorf("the same hash as %s", other)
			}
			seen[h] = tt.name
		})
	}
}

func TestVersionID(t *testing.T) {
	v := write("a", "a:1", "x", 1)
	for _, tt := range []struct {
		name  string
		other sync.Version
		same  bool
	}{
		{"SameForOtherDeviceAndTime", write("b", "a:1", "x", 2), true},
		{"OtherClock", write("a", "a:2", "x", 1), false},
		{"OtherContent", write("a", "a:1", "y", 1), false},
		{"Deleted", write("a", "a:1", "", 1), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := v.ID() == tt.other.ID(); got != tt.same {
				t.Errorf("same ID: %v, want %v", got, tt.same)
			}
		})
	}
}
