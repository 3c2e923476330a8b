package status

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
)

// Text writes a Report for people: what is wrong first, and what to do.
func (r *Report) Text(out io.Writer) error {
	var b strings.Builder
	critical := 0
	for _, p := range r.Problems {
		if p.Severity == Critical {
			critical++
		}
	}
	switch {
	case len(r.Problems) == 0:
		b.WriteString("All is well.\n")
	case critical == 0:
		fmt.Fprintf(&b, "helixd works; warnings: %d.\n", len(r.Problems))
	default:
		fmt.Fprintf(&b, "Critical problems: %d.\n", critical)
	}
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "\n%s: %s\n", p.Severity, line(p.What))
		if p.Next != "" {
			fmt.Fprintf(&b, "  → %s\n", line(p.Next))
		}
	}
	if len(r.Migrations.Pending) == 0 {
		b.WriteByte('\n')
		r.facts(&b)
		r.reactors(&b)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// facts are a line each.
func (r *Report) facts(b *strings.Builder) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fact := func(name, format string, a ...any) { fmt.Fprintf(w, "%s\t%s\n", name, line(fmt.Sprintf(format, a...))) }
	switch {
	case r.Leader == nil:
		fact("leader", "none")
	case r.Leader.Left:
		fact("leader", "none; %s has ended %s ago", r.Leader.Holder, duration(r.Leader.HeartbeatSeconds))
	default:
		fact("leader", "%s, last sign %s ago", r.Leader.Holder, duration(r.Leader.HeartbeatSeconds))
	}
	for _, s := range r.Standbys {
		fact("standby", "%s", s)
	}
	for _, p := range r.Workers {
		fact("worker", "%s, last sign %s ago", p.Holder, duration(p.HeartbeatSeconds))
	}
	if s := r.Slot; s == nil {
		fact("slot", "none")
	} else {
		safe := "no limit"
		if s.SafeBytes != nil {
			safe = bytes(*s.SafeBytes) + " until it is lost"
		}
		state := "not in use"
		if s.Active {
			state = "streaming"
		}
		fact("slot", "%s, %s, %s behind; the server keeps %s for it, %s (%s)", s.Name, state, bytes(s.LagBytes), bytes(s.RetainedBytes), safe, s.WALStatus)
	}
	if c := r.Checkpoint; c != nil {
		fact("applied", "%d changes in %d transactions, to %s; the last %s ago; %s late", c.Changes, c.Transactions, c.LSN, duration(c.AgeSeconds), duration(r.Lag()))
	}
	if p := r.Publication; p.OK {
		fact("publication", "%s, as it must be", p.Name)
	} else {
		fact("publication", "%s: %s", p.Name, p.Fault)
	}
	for _, q := range r.Queues {
		var jobs []string
		for _, state := range slices.Sorted(maps.Keys(q.Jobs)) {
			jobs = append(jobs, fmt.Sprintf("%d %s", q.Jobs[state], state))
		}
		if q.OldestSeconds > 0 {
			jobs = append(jobs, "the oldest waits for "+duration(q.OldestSeconds))
		}
		fact("queue "+q.Name, "%s", strings.Join(jobs, ", "))
	}
	for _, l := range r.DeadLetters {
		fact("dead letters", "%d of %s with %s, the newest at %s", l.Count, l.Reactor, l.Code, l.Newest.UTC().Format(time.DateTime))
	}
	if r.InboxRows > 0 {
		fact("inbox", "%d rows", r.InboxRows)
	}
	for _, c := range r.Costs {
		cost := "no price is set"
		if c.Dollars != nil {
			cost = fmt.Sprintf("%.4f USD", *c.Dollars)
		}
		fact("today", "%s for %s: %d requests, %d tokens, %s", c.Provider, c.Purpose, c.Requests, c.Tokens, cost)
	}
	fact("schema", "%d migrations", r.Migrations.Applied)
	fact("version", "%s", r.Version)
	_ = w.Flush() // a Builder takes everything
}

func (r *Report) reactors(b *strings.Builder) {
	if len(r.Reactors) == 0 {
		return
	}
	b.WriteByte('\n')
	provider := map[string]string{}
	for _, p := range r.Providers {
		if p.Name == "" {
			p.Name = "off"
		}
		provider[p.Reactor] = p.Name
	}
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "reactor\tstate\tlate\twaiting\tprovider")
	for _, x := range r.Reactors {
		state := "well"
		switch {
		case !x.Running:
			state = "not running"
		case x.Off != "":
			state = "off: " + x.Off
		case !x.Healthy:
			state = "not well"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", line(x.Name), state, duration(x.LagSeconds), x.QueueDepth, line(provider[x.Name]))
	}
	_ = w.Flush()
	for _, x := range r.Reactors {
		if x.Off != "" && x.QueueDepth > 0 {
			fmt.Fprintf(b, "\n%s: %s\n", line(x.Name), line(x.Reason))
		}
	}
}

// line keeps what others have written from writing on the terminal what it likes.
func line(s string) string {
	return strings.TrimRight(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s), " ")
}

func duration(seconds float64) string {
	d := time.Duration(max(0, seconds) * float64(time.Second))
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d > 48*time.Hour:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	}
	return d.Round(time.Second).String()
}

func bytes(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d KB", (n+1<<10-1)>>10)
}
