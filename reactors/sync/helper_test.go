package sync_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/sync"
	"github.com/helixd/helixd/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// noon is when the tests' servers are.
var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// at is so many seconds after noon.
func at(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

// clock reads "a:1 b:2".
func clock(s string) sync.Clock {
	var c sync.Clock
	for _, f := range strings.Fields(s) {
		device, counter, _ := strings.Cut(f, ":")
		n, err := strconv.ParseUint(counter, 10, 64)
		if err != nil {
			panic(err)
		}
		c = append(c, sync.Entry{Device: device, Counter: n})
	}
	slices.SortFunc(c, func(x, y sync.Entry) int { return strings.Compare(x.Device, y.Device) })
	return c
}

// write is a version of device with a text, "" for a deletion.
func write(device, clk, text string, modified int) sync.Version {
	v := sync.Version{Device: device, Clock: clock(clk), LastModified: at(modified), Deleted: text == ""}
	if text != "" {
		v.Data = []byte(`{"text": "` + text + `"}`)
	}
	v.Content = sync.ContentHash(v.Data, v.Deleted)
	return v
}

// text is what write was given.
func text(v *sync.Version) string {
	if v.Deleted {
		return "(deleted)"
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(v.Data), `{"text": "`), `"}`)
}

// texts are those of a set, the winner's first and the others in order.
func texts(set sync.Antichain) string {
	var all []string
	for i := range set {
		all = append(all, text(&set[i]))
	}
	if len(all) > 0 {
		slices.Sort(all[1:])
	}
	return strings.Join(all, " ")
}

// losers are the kinds and texts of conflicts.
func losers(conflicts []sync.Conflict) string {
	var all []string
	for i := range conflicts {
		all = append(all, string(conflicts[i].Kind)+" "+text(&conflicts[i].Loser))
	}
	return strings.Join(all, ", ")
}
