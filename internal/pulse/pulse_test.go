package pulse_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helixd/helixd/internal/pulse"
)

func TestLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer pulse.Stream.Rest()
		defer pulse.Apply.Rest()
		stuck := func(want string) {
			t.Helper()
			var names []string
			for _, s := range pulse.Look() {
				names = append(names, s.String())
			}
			if got := strings.Join(names, "; "); got != want {
				t.Errorf("stuck is %q, not %q", got, want)
			}
		}
		stuck("")
		pulse.Stream.Step()
		pulse.Apply.Step()
		time.Sleep(30 * time.Second) // of a clock that jumps
		stuck("")
		time.Sleep(time.Second)
		stuck("stream: it has not answered the server for 31s, which is more than 30s")
		pulse.Stream.Step()
		stuck("")
		pulse.Stream.Rest()
		pulse.Apply.Limit(40 * time.Second)
		defer pulse.Apply.Limit(5 * time.Minute)
		time.Sleep(10 * time.Second)
		stuck("apply: an apply has not ended for 41s, which is more than 40s")
		pulse.Apply.Rest()
		stuck("")
	})
}
