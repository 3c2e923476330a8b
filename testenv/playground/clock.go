package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// clock is a vector clock as an app would keep it. The demo does not use helixd's own: what it expects is worked out
// apart from what it checks.
type clock map[string]int64

// plus is c after one more write of device.
func (c clock) plus(device string) clock {
	next := maps.Clone(c)
	if next == nil {
		next = clock{}
	}
	next[device]++
	return next
}

// join is the least clock that includes both.
func (c clock) join(other clock) clock {
	joined := maps.Clone(c)
	if joined == nil {
		joined = clock{}
	}
	for device, n := range other {
		joined[device] = max(joined[device], n)
	}
	return joined
}

func (c clock) String() string {
	entries := make([]string, 0, len(c))
	for _, device := range slices.Sorted(maps.Keys(c)) {
		entries = append(entries, fmt.Sprintf("%s:%d", device, c[device]))
	}
	return strings.Join(entries, " ")
}
