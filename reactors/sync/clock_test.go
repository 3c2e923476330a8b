package sync_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/sync"
)

func TestParseClock(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"Empty", `{}`, ``},
		{"Flat", `{"phone": 3, "laptop": 1}`, `laptop:1 phone:3`},
		{"Nested", `{"clocks": {"phone": 3, "laptop": 1}}`, `laptop:1 phone:3`},
		{"NestedEmpty", `{"clocks": {}}`, ``},
		{"NestedBesideOtherKeys", `{"clocks": {"phone": 3}, "version": "x"}`, `phone:3`},
		{"DeviceNamedClocks", `{"clocks": 3, "phone": 1}`, `clocks:3 phone:1`},
		{"ZerosSayNothing", `{"phone": 0, "laptop": 1, "tablet": 0.0}`, `laptop:1`},
		{"WholeWithScale", `{"phone": 3.0}`, `phone:3`},
		{"WholeWithExponent", `{"phone": 3e2}`, `phone:300`},
		{"Largest", `{"phone": 9007199254740991}`, `phone:9007199254740991`},
		{"Spaces", " \n{ \"phone\" :\t3 , \"clocks\" : 1 }\n", `clocks:1 phone:3`},
		{"NestedSpaces", "{ \"clocks\" : \n { \"phone\" : 3 } }", `phone:3`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := sync.ParseClock([]byte(tt.src))
			if err != nil {
				t.Fatal(err)
			}
			if want := clock(tt.want); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("ParseClock(%s) = %v, want %v", tt.src, got, want)
			}
		})
	}
	t.Run("TenThousandDevices", func(t *testing.T) {
		members := map[string]int{}
		for i := range 10_000 {
			members[fmt.Sprintf("device-%d", i)] = i + 1
		}
		src, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		got, err := sync.ParseClock(src)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 10_000 {
			t.Errorf("%d devices, want 10000", len(got))
		}
		for device, counter := range members {
			if n := got.Counter(device); n != uint64(counter) {
				t.Fatalf("Counter(%s) = %d, want %d", device, n, counter)
			}
		}
	})
}

func TestParseClockRefuses(t *testing.T) {
	for _, tt := range []struct{ name, src, says string }{
		{"Nothing", ``, "not a JSON object"},
		{"Null", `null`, "not a JSON object"},
		{"Array", `[{"phone": 1}]`, "not a JSON object"},
		{"String", `"phone"`, "not a JSON object"},
		{"Number", `3`, "not a JSON object"},
		{"Broken", `{"phone": 1`, ""},
		{"Trailing", `{"phone": 1} {}`, ""},
		{"Negative", `{"phone": -1}`, `"phone" is negative`},
		{"NegativeNested", `{"clocks": {"phone": -1}}`, `"phone" is negative`},
		{"Fractional", `{"phone": 1.5}`, `"phone" is not a whole number`},
		{"OverLargest", `{"phone": 9007199254740992}`, `"phone" is over 2^53 - 1`},
		{"OverLargestWithScale", `{"phone": 9007199254740992.0}`, `"phone" is over 2^53 - 1`},
		{"OverUint64", `{"phone": 99999999999999999999}`, `"phone" is over 2^53 - 1`},
		{"StringCounter", `{"phone": "1"}`, `"phone" is not a number`},
		{"NullCounter", `{"phone": null}`, `"phone" is not a number`},
		{"BooleanCounter", `{"phone": true}`, `"phone" is not a number`},
		{"ArrayCounter", `{"phone": [1]}`, `"phone" is not a number`},
		{"ObjectCounter", `{"phone": {}}`, `"phone" is not a number`},
		{"ClocksArray", `{"clocks": []}`, `"clocks" is not a number`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := sync.ParseClock([]byte(tt.src))
			if !errors.Is(err, sync.ErrClock) {
				t.Fatalf("ParseClock(%s) = %v, %v; want ErrClock", tt.src, got, err)
			}
			if !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %q does not say %q", err, tt.says)
			}
		})
	}
	t.Run("LongDeviceNameIsCut", func(t *testing.T) {
		_, err := sync.ParseClock([]byte(`{"` + strings.Repeat("x", 1<<16) + `": -1}`))
		if !errors.Is(err, sync.ErrClock) || len(err.Error()) > 200 {
			t.Errorf("error of %d bytes", len(fmt.Sprint(err)))
		}
	})
}

func TestClockCompare(t *testing.T) {
	for _, tt := range []struct {
		name, a, b string
		want       sync.Order
	}{
		{"BothEmpty", "", "", sync.Equal},
		{"Same", "a:1 b:2", "a:1 b:2", sync.Equal},
		{"EmptyIsBefore", "", "a:1", sync.Before},
		{"Counter", "a:1 b:2", "a:1 b:3", sync.Before},
		{"LastDeviceMissing", "a:1", "a:1 b:1", sync.Before},
		{"FirstDeviceMissing", "b:1", "a:1 b:1", sync.Before},
		{"MiddleDeviceMissing", "a:1 c:1", "a:1 b:1 c:1", sync.Before},
		{"CounterAndDevice", "a:1", "a:2 b:1", sync.Before},
		{"OtherDevices", "a:1", "b:1", sync.Concurrent},
		{"CrossedCounters", "a:1 b:2", "a:2 b:1", sync.Concurrent},
		{"LessButAnotherDevice", "a:1 b:1", "a:2", sync.Concurrent},
		{"DeviceNamesThatArePrefixes", "a:1 aa:1", "a:1 ab:1", sync.Concurrent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			mirrored := map[sync.Order]sync.Order{sync.Equal: sync.Equal, sync.Before: sync.After, sync.Concurrent: sync.Concurrent}
			if got := clock(tt.a).Compare(clock(tt.b)); got != tt.want {
				t.Errorf("%s is %s %s, want %s", tt.a, got, tt.b, tt.want)
			}
			if got := clock(tt.b).Compare(clock(tt.a)); got != mirrored[tt.want] {
				t.Errorf("%s is %s %s, want %s", tt.b, got, tt.a, mirrored[tt.want])
			}
		})
	}
}

func TestClockJoin(t *testing.T) {
	for _, tt := range []struct{ name, a, b, want string }{
		{"Empty", "", "", ""},
		{"WithEmpty", "a:1", "", "a:1"},
		{"Same", "a:1 b:2", "a:1 b:2", "a:1 b:2"},
		{"Greater", "a:1 b:2", "a:2 b:1", "a:2 b:2"},
		{"OtherDevices", "a:1 c:3", "b:2 d:4", "a:1 b:2 c:3 d:4"},
		{"Mixed", "a:5 c:1", "a:1 b:1 c:7", "a:5 b:1 c:7"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := clock(tt.a), clock(tt.b)
			for _, got := range []sync.Clock{a.Join(b), b.Join(a)} {
				if fmt.Sprint(got) != fmt.Sprint(clock(tt.want)) {
					t.Errorf("%s join %s = %v, want %s", tt.a, tt.b, got, tt.want)
				}
			}
			if fmt.Sprint(a, b) != fmt.Sprint(clock(tt.a), clock(tt.b)) {
				t.Error("Join changed what it joined")
			}
		})
	}
	t.Run("OwnsItsEntries", func(t *testing.T) {
		a, b := clock("a:1"), clock("a:2 b:1")
		joined := a.Join(b)
		joined[0].Counter = 99
		if a.Counter("a") != 1 || b.Counter("a") != 2 {
			t.Error("a change of the join shows in what it was made of")
		}
	})
}

func TestClockCounter(t *testing.T) {
	c := clock("a:1 b:2")
	for device, want := range map[string]uint64{"a": 1, "b": 2, "c": 0, "": 0, "aa": 0} {
		if got := c.Counter(device); got != want {
			t.Errorf("Counter(%q) = %d, want %d", device, got, want)
		}
	}
}

func TestClockMarshalJSON(t *testing.T) {
	for _, tt := range []struct{ name, clock, want string }{
		{"Empty", "", `{}`},
		{"InOrder", "b:2 a:1", `{"a":1,"b":2}`},
		{"Largest", "a:9007199254740991", `{"a":9007199254740991}`},
		{"Quoted", `"\:1`, `{"\"\\":1}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := clock(tt.clock).MarshalJSON()
			if err != nil || string(got) != tt.want {
				t.Errorf("MarshalJSON = %s, %v; want %s", got, err, tt.want)
			}
		})
	}
}

// FuzzParseClock: no input panics, and what parses is a clock in range that
// reads itself back.
func FuzzParseClock(f *testing.F) {
	for _, src := range []string{
		``, `{}`, `{"phone": 3, "laptop": 1}`, `{"clocks": {"phone": 3}}`, `{"clocks": null}`, `{"clocks": 1, "a": 0}`,
		`{"phone": 3.0}`, `{"phone": -0}`, `{"phone": 1e3}`, `{"phone": 1e400}`, `{"phone": 9007199254740991.4}`,
		`{"phone": 9007199254740992}`, `{"a": 1, "a": 2}`, `{"` + "\xff" + `": 1}`, `{"\ud800": 1, "\u2028<>": 2}`,
		`{"a": [1]}`, `[]`, `null`, "{\"clocks\":\t{ }}",
	} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		c, err := sync.ParseClock(src)
		if err != nil {
			if !errors.Is(err, sync.ErrClock) {
				t.Errorf("error %v is not ErrClock", err)
			}
			return
		}
		for i, e := range c {
			if e.Counter < 1 || e.Counter > sync.MaxCounter {
				t.Errorf("counter %d is out of range", e.Counter)
			}
			if i > 0 && c[i-1].Device >= e.Device {
				t.Errorf("device %q stands after %q", e.Device, c[i-1].Device)
			}
			if got := c.Counter(e.Device); got != e.Counter {
				t.Errorf("Counter(%q) = %d, want %d", e.Device, got, e.Counter)
			}
		}
		flat, err := c.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		again, err := sync.ParseClock(flat)
		if err != nil || c.Compare(again) != sync.Equal || len(again) != len(c) {
			t.Errorf("%s reads back as %v, %v", flat, again, err)
		}
	})
}
