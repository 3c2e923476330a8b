package sync_test

import (
	"fmt"
	"testing"

	"github.com/helixd/helixd/reactors/sync"
)

func TestAntichainAdd(t *testing.T) {
	for _, tt := range []struct {
		name     string
		before   []sync.Version
		add      sync.Version
		want     string // texts, the winner first
		replaced int
	}{
		{"First", nil, write("a", "a:1", "x", 1), "x", 0},
		{"IncludesWhatWasThere", []sync.Version{write("a", "a:1", "x", 9)}, write("b", "a:1 b:1", "y", 1), "y", 1},
		{"IncludedByWhatIsThere", []sync.Version{write("b", "a:1 b:1", "y", 1)}, write("a", "a:1", "x", 9), "y", 0},
		{"ConcurrentWins", []sync.Version{write("a", "a:1", "x", 1)}, write("b", "b:1", "y", 2), "y x", 0},
		{"ConcurrentLoses", []sync.Version{write("a", "a:1", "x", 2)}, write("b", "b:1", "y", 1), "x y", 0},
		{"IncludesOneOfTwo", []sync.Version{write("a", "a:1", "x", 1), write("b", "b:1", "y", 2)},
			write("c", "b:1 c:1", "z", 0), "x z", 1},
		{"IncludesAll", []sync.Version{write("a", "a:1", "x", 1), write("b", "b:1", "y", 2)},
			write("c", "a:1 b:1 c:1", "z", 0), "z", 2},
		{"ForkWins", []sync.Version{write("a", "a:1", "x", 1)}, write("a", "a:1", "y", 2), "y", 1},
		{"ForkLoses", []sync.Version{write("a", "a:1", "x", 2)}, write("a", "a:1", "y", 1), "x", 0},
		{"SameAgain", []sync.Version{write("a", "a:1", "x", 1)}, write("a", "a:1", "x", 1), "x", 0},
		{"SameWithLaterTime", []sync.Version{write("a", "a:1", "x", 1)}, write("a", "a:1", "x", 2), "x", 1},
		{"SameWithEarlierTime", []sync.Version{write("a", "a:1", "x", 2)}, write("a", "a:1", "x", 1), "x", 0},
		{"EmptyClockAfterAny", []sync.Version{write("a", "a:1", "x", 1)}, write("b", "", "y", 9), "x", 0},
		{"AnyAfterEmptyClock", []sync.Version{write("b", "", "y", 9)}, write("a", "a:1", "x", 1), "x", 1},
		{"EmptyClocksByTime", []sync.Version{write("a", "", "x", 1)}, write("b", "", "y", 2), "y", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var set sync.Antichain
			for _, v := range tt.before {
				set, _, _ = set.Add(v)
			}
			held := fmt.Sprint(set)
			got, replaced, _ := set.Add(tt.add)
			if texts(got) != tt.want {
				t.Errorf("set %q, want %q", texts(got), tt.want)
			}
			if len(replaced) != tt.replaced {
				t.Errorf("%d versions left the set, want %d", len(replaced), tt.replaced)
			}
			if fmt.Sprint(set) != held {
				t.Error("Add changed the set that it was called on")
			}
		})
	}
	t.Run("EmptyClocksNeverGrow", func(t *testing.T) {
		var set sync.Antichain
		for i := range 200 {
			set, _, _ = set.Add(write(fmt.Sprintf("d%d", i), "", fmt.Sprint(i), i%7))
			if len(set) != 1 {
				t.Fatalf("%d versions after %d writes", len(set), i+1)
			}
		}
		if texts(set) != "97" { // the latest second is 6; of its devices d97 is last in order
			t.Errorf("winner %s", texts(set))
		}
	})
	t.Run("BoundedByMaxSiblings", func(t *testing.T) {
		var set sync.Antichain
		for i := range sync.MaxSiblings + 10 {
			device := fmt.Sprintf("d%02d", i)
			set, _, _ = set.Add(write(device, device+":1", fmt.Sprint(i), i))
		}
		if len(set) != sync.MaxSiblings {
			t.Fatalf("%d versions, want %d", len(set), sync.MaxSiblings)
		}
		if text(&set[0]) != fmt.Sprint(sync.MaxSiblings+9) {
			t.Errorf("winner %s is not the latest", text(&set[0]))
		}
		if last := &set[len(set)-1]; text(last) != "10" {
			t.Errorf("version %s stands last; the earliest ten must be gone", text(last))
		}
	})
}
