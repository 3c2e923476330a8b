package stream_test

import (
	"testing"

	"github.com/helixd/helixd/replication/stream"
)

func TestRetentionSpent(t *testing.T) {
	const bound = 4 << 30
	for name, c := range map[string]struct {
		r    stream.Retention
		want bool
	}{
		"Fresh":            {stream.Retention{Status: "reserved", Limit: 100, Safe: 100}, false},
		"HalfOfTheCap":     {stream.Retention{Status: "extended", Limit: 100, Safe: 50}, false},
		"MoreThanHalf":     {stream.Retention{Status: "extended", Limit: 100, Safe: 49}, true},
		"NoCap":            {stream.Retention{Status: "extended", Limit: -1, Retained: bound - 1}, false},
		"NoCapButTheBound": {stream.Retention{Status: "extended", Limit: -1, Retained: bound}, true},
		"AboutToBeLost":    {stream.Retention{Status: "unreserved", Limit: 100, Safe: 100}, true},
		"Lost":             {stream.Retention{Status: "lost", Limit: -1}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.r.Spent(bound); got != c.want {
				t.Errorf("%v", got)
			}
		})
	}
}
