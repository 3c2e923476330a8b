package main_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// report is what a run of chaos has come to.
type report struct {
	seed    uint64
	began   time.Time
	times   map[string]int
	longest map[string]time.Duration
	not     map[string]string // what was not run, and why
}

func (r *report) met(name string, took time.Duration) {
	if r.times == nil {
		r.times, r.longest = map[string]int{}, map[string]time.Duration{}
	}
	r.times[name]++
	r.longest[name] = max(r.longest[name], took)
}

func (r *report) notRun(name, why string) {
	if r.not == nil {
		r.not = map[string]string{}
	}
	r.not[name] = why
}

// write prints the report, and writes it to .helix/chaos.md.
func (r *report) write(c *chaos) {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	total := 0
	for _, n := range r.times {
		total += n
	}
	violations := c.t.violations
	if len(violations) == 0 && c.t.Failed() {
		violations = []string{"the test failed: see what it said"}
	}
	say("# Chaos\n")
	version := "?"
	if c.cluster != nil {
		version = fmt.Sprint(c.cluster.Version())
	}
	say("%d faults in %s, seed %d: **%d violations**. %d cores, Postgres %s, %s, race detector %v.\n",
		total, time.Since(r.began).Round(time.Second), r.seed, len(violations), runtime.NumCPU(), version, runtime.Version(), raceEnabled)
	for _, v := range violations {
		say("- VIOLATION: %s", strings.ReplaceAll(v, "\n", " "))
	}
	say("| fault | times | longest until all worked again and was checked |\n|---|--:|--:|")
	for i := range calamities {
		x := &calamities[i]
		switch n := r.times[x.name]; {
		case n > 0:
			say("| %s | %d | %.1f s |", x.name, n, r.longest[x.name].Seconds())
		case r.not[x.name] != "":
			say("| %s | 0 | not run here: %s |", x.name, r.not[x.name])
		default:
			say("| %s | 0 | not run: not asked for, or no time left |", x.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.not)) {
		if !slices.ContainsFunc(calamities, func(x calamity) bool { return x.name == name }) {
			say("| %s | 0 | not run here: %s |", name, r.not[name])
		}
	}
	say("")
	if c.load != nil && c.clients != nil {
		say("| checked | |\n|---|--:|")
		say("| deltas written | %d |", c.load.written.Load())
		say("| … found applied exactly once, after faults of which the stream must lose nothing | %d |", c.checked)
		say("| entities compared with the pure merge of all that was written | %d |", c.compared)
		say("| runs of skills, each ended once and broadcast | %d |", len(c.clients.runs))
		say("| … but for messages that realtime.send warned it could not write, as the disk was full: at the most | %d |", c.unsent)
		say("| memories written, deleted; each embedded, each with its retention | %d, %d |", len(c.clients.memories)+len(c.clients.gone), len(c.clients.gone))
		say("| recordings, each transcribed once | %d |", c.recordings)
		say("| looks at the laws: the slot is never ahead of the checkpoint, an epoch has one holder | %d |", c.looks)
		say("| most goroutines, files, children of a helixd after a fault | %d, %d, %d |", c.most.goroutines, c.most.files, c.most.children)
	}
	c.t.Log("\n" + b.String())
	path := filepath.Join("..", "..", ".helix", "chaos.md")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		c.t.Error(err)
	}
}
