package main_test

import (
	"fmt"
	"os"
)

// sample is what a helixd holds.
type sample struct{ goroutines, files, children int }

// What a helixd may hold when all is quiet, however much has happened to it. In an hour
// some five hundred things happen: what each leaves behind comes to these bounds.
const (
	mostGoroutines = 200
	mostFiles      = 80
	mostChildren   = 8 // of HELIX_SKILLS_WORKERS=4, and for recordings
	mostSessions   = 15
)

// inspect counts what a helixd holds. What it lets go of later is waited for.
func (c *chaos) inspect(n *node) {
	c.t.Helper()
	var s sample
	until(c.t, fmt.Sprintf("a %s to hold no more than %d goroutines, %d files and %d children", n.role, mostGoroutines, mostFiles, mostChildren), func() bool {
		files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", n.Pid()))
		if err != nil {
			c.t.Fatal(err)
		}
		s = sample{int(scrape(c.t, n.http(c.t)).value(c.t, "go_goroutines")), len(files), len(children(c.t, n.Pid()))}
		return s.goroutines <= mostGoroutines && s.files <= mostFiles && s.children <= mostChildren
	})
	c.most = sample{max(c.most.goroutines, s.goroutines), max(c.most.files, s.files), max(c.most.children, s.children)}
}
