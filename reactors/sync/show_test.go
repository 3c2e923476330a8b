package sync_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/helixd/helixd/reactors/sync"
)

// The state of an entity as text: equal states give equal text.

// showVersion is a version with all that identifies it.
func showVersion(v *sync.Version) string {
	c, err := json.Marshal(v.Clock)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("%s %s %s deleted=%t %s", v.Device, c, v.LastModified.UTC().Format(time.RFC3339Nano), v.Deleted, v.Data)
}

// showSet is a set with the winner first.
func showSet(set sync.Antichain) string {
	var all []string
	for i := range set {
		all = append(all, showVersion(&set[i]))
	}
	if len(all) > 0 {
		slices.Sort(all[1:])
	}
	return strings.Join(all, "\n")
}

// visible is what must not depend on the order of arrival.
func visible(s *sync.State) string {
	c, err := json.Marshal(s.Clock)
	if err != nil {
		panic(err)
	}
	return showSet(s.Versions) + "\nclock " + string(c) + "\n" + showSeen(s)
}

func showSeen(s *sync.State) string {
	var b strings.Builder
	b.WriteString("seen")
	for _, device := range slices.Sorted(maps.Keys(s.Seen)) {
		d := s.Seen[device]
		fmt.Fprintf(&b, " %s=%d/%s", device, d.Counter, d.Content)
	}
	return b.String()
}

// show is all of a state.
func show(s *sync.State) string {
	return fmt.Sprintf("%s\n%s, revision %d, updated %s", visible(s), s.Resolution, s.Revision, s.Updated.UTC().Format(time.RFC3339Nano))
}
