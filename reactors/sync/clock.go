package sync

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxCounter is the largest counter that a JavaScript number holds exactly.
const MaxCounter = 1<<53 - 1

// MaxClockBytes bounds a clock, as size counts it. No real set of devices comes
// near; without a bound each write of an entity could cost what all its devices
// ever sent.
const MaxClockBytes = 1 << 20

// ErrClock says that a JSON value is no vector clock.
var ErrClock = errors.New("not a vector clock")

// Clock is a version vector: how many writes of each device a version
// includes, ordered by device, without zeros. A nil Clock includes nothing.
type Clock []Entry

// Entry is one device's counter.
type Entry struct {
	Device  string
	Counter uint64 // 1..MaxCounter
}

// Order is how two clocks relate.
type Order int

// The four relations of version vectors.
const (
	Equal Order = iota
	Before
	After
	Concurrent
)

// String gives the relation's name.
func (o Order) String() string {
	return [...]string{"equal", "before", "after", "concurrent"}[o]
}

// ParseClock reads {"device": counter} or {"clocks": {"device": counter}}.
// Counters are whole numbers from 0 to MaxCounter, else the error is ErrClock.
func ParseClock(src []byte) (Clock, error) {
	members, err := object(src)
	if err != nil {
		return nil, err
	}
	if nested, ok := members["clocks"]; ok && nested[0] == '{' {
		if members, err = object(nested); err != nil {
			return nil, err
		}
	}
	clock := make(Clock, 0, len(members))
	for device, value := range members {
		counter, err := parseCounter(value)
		if err != nil {
			return nil, fmt.Errorf("%w: the counter of device %.40q %v", ErrClock, device, err)
		}
		if counter > 0 {
			clock = append(clock, Entry{device, counter})
		}
	}
	slices.SortFunc(clock, func(a, b Entry) int { return strings.Compare(a.Device, b.Device) })
	return clock, nil
}

func object(src []byte) (map[string]json.RawMessage, error) {
	src = bytes.TrimSpace(src)
	if len(src) == 0 || src[0] != '{' {
		return nil, fmt.Errorf("%w: not a JSON object", ErrClock)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(src, &members); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrClock, err)
	}
	return members, nil
}

func parseCounter(value []byte) (uint64, error) {
	if n, err := strconv.ParseUint(string(value), 10, 64); err == nil {
		if n > MaxCounter {
			return 0, errors.New("is over 2^53 - 1")
		}
		return n, nil
	}
	// jsonb keeps a number's scale: 3.0 is a whole number too.
	f, err := strconv.ParseFloat(string(value), 64)
	switch {
	case err != nil:
		return 0, errors.New("is not a number")
	case f < 0:
		return 0, errors.New("is negative")
	case f > MaxCounter:
		return 0, errors.New("is over 2^53 - 1")
	case f != float64(uint64(f)):
		return 0, errors.New("is not a whole number")
	}
	return uint64(f), nil
}

// MarshalJSON gives the flat form, devices in order.
func (c Clock) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, e := range c {
		if i > 0 {
			b = append(b, ',')
		}
		device, err := json.Marshal(e.Device)
		if err != nil {
			return nil, err
		}
		b = append(append(b, device...), ':')
		b = strconv.AppendUint(b, e.Counter, 10)
	}
	return append(b, '}'), nil
}

// size is about what the clock takes as text, in bytes.
func (c Clock) size() int {
	n := 0
	for i := range c {
		n += len(c[i].Device) + 16
	}
	return n
}

// Counter gives a device's entry, 0 when it has none.
func (c Clock) Counter(device string) uint64 {
	i, found := slices.BinarySearchFunc(c, device, func(e Entry, d string) int {
		return strings.Compare(e.Device, d)
	})
	if !found {
		return 0
	}
	return c[i].Counter
}

// Compare relates c to other: Before when other includes all that c does and more.
func (c Clock) Compare(other Clock) Order {
	var less, more bool
	for i, j := 0, 0; i < len(c) || j < len(other); {
		switch {
		case j == len(other) || i < len(c) && c[i].Device < other[j].Device:
			more = true
			i++
		case i == len(c) || other[j].Device < c[i].Device:
			less = true
			j++
		default:
			less = less || c[i].Counter < other[j].Counter
			more = more || c[i].Counter > other[j].Counter
			i, j = i+1, j+1
		}
		if less && more {
			return Concurrent
		}
	}
	switch {
	case less:
		return Before
	case more:
		return After
	}
	return Equal
}

// disjoint reports whether the clocks have no device in common.
func (c Clock) disjoint(other Clock) bool {
	return !slices.ContainsFunc(c, func(e Entry) bool { return other.Counter(e.Device) > 0 })
}

// Join gives the least clock that includes both.
func (c Clock) Join(other Clock) Clock {
	if len(c) == 0 {
		return other
	}
	joined := make(Clock, 0, max(len(c), len(other)))
	i, j := 0, 0
	for i < len(c) && j < len(other) {
		switch {
		case c[i].Device < other[j].Device:
			joined = append(joined, c[i])
			i++
		case c[i].Device > other[j].Device:
			joined = append(joined, other[j])
			j++
		default:
			joined = append(joined, Entry{c[i].Device, max(c[i].Counter, other[j].Counter)})
			i, j = i+1, j+1
		}
	}
	return append(append(joined, c[i:]...), other[j:]...)
}
