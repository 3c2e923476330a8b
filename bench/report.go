package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// report is what the benchmark ends with.
type report struct {
	Machine machine
	Method  string // how often was measured what
	Figures []figure
	Curves  []curve
}

// figure is a line of the table.
type figure struct {
	Section string    `json:"section"`
	Name    string    `json:"name"`
	Unit    string    `json:"unit"`
	Runs    []float64 `json:"runs,omitempty"` // helixd's
	Median  float64   `json:"median"`

	Peer       string    `json:"peer,omitempty"`
	PeerRuns   []float64 `json:"peer_runs,omitempty"`
	PeerMedian float64   `json:"peer_median,omitempty"`
	Ratio      float64   `json:"ratio,omitempty"` // helixd to peer

	Target string `json:"target,omitempty"`
	Met    *bool  `json:"met,omitempty"`
}

func newFigure(section, name, unit string, runs ...float64) *figure {
	return &figure{Section: section, Name: name, Unit: unit, Runs: runs, Median: median(runs)}
}

// beside adds the peer's runs of the same thing.
func (f *figure) beside(peer string, runs ...float64) *figure {
	f.Peer, f.PeerRuns, f.PeerMedian = peer, runs, median(runs)
	if f.PeerMedian > 0 {
		f.Ratio = f.Median / f.PeerMedian
	}
	return f
}

// atLeast, below and ratioAtLeast set the target.
func (f *figure) atLeast(v float64) *figure { return f.aim("≥ "+number(v), f.Median >= v) }

func (f *figure) below(v float64) *figure { return f.aim("< "+number(v), f.Median < v) }

func (f *figure) ratioAtLeast(v float64) *figure {
	return f.aim(fmt.Sprintf("≥ %.2g× the peer", v), f.Ratio >= v)
}

func (f *figure) aim(target string, met bool) *figure {
	f.Target, f.Met = target, &met
	return f
}

func (r *report) add(figures ...*figure) {
	for _, f := range figures {
		r.Figures = append(r.Figures, *f)
	}
}

// cells gives a figure's line of the table; what the line before has already
// said is left out.
func (f *figure) cells(before *figure) []string {
	name, unit, own, spread := f.Name, f.Unit, number(f.Median), between(f.Runs)
	if before != nil && before.Section == f.Section && before.Name == f.Name {
		name, unit, own, spread = "", "", "", ""
	}
	peer, ratio, met := "", "", ""
	if f.Peer != "" {
		peer = number(f.PeerMedian)
	}
	if f.Ratio > 0 {
		ratio = fmt.Sprintf("%.2f×", f.Ratio)
	}
	if f.Met != nil {
		met = "not met"
		if *f.Met {
			met = "met"
		}
	}
	return []string{name, unit, own, spread, peer, between(f.PeerRuns), f.Peer, ratio, f.Target, met}
}

var columns = []string{"", "unit", "helixd", "min–max", "peer", "min–max", "", "helixd / peer", "target", ""}

// lines calls back for each figure in order, and before it for a new section.
func lines(figures []figure, section func(name string), line func(cells []string)) {
	var before *figure
	for i := range figures {
		f := &figures[i]
		if before == nil || before.Section != f.Section {
			section(f.Section)
		}
		line(f.cells(before))
		before = f
	}
}

func (r *report) print(out io.Writer) {
	fmt.Fprintf(out, "\n%s\n%s\n\n", r.Machine, r.Method)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(cells []string) { fmt.Fprintln(w, strings.Join(cells, "\t")+"\t") }
	if len(r.Figures) > 0 {
		row(columns)
	}
	lines(r.Figures, func(name string) {
		fmt.Fprintln(w, name+strings.Repeat("\t", len(columns)))
	}, func(cells []string) {
		row(append([]string{"  " + cells[0]}, cells[1:]...))
	})
	w.Flush() //nolint:errcheck // a closed stdout has nobody to tell
	for _, c := range r.Curves {
		fmt.Fprintf(out, "\n%s (%s)\n", c.Title, c.Y)
		for _, cells := range c.table() {
			row(cells)
		}
		w.Flush() //nolint:errcheck // as above
		if c.Note != "" {
			fmt.Fprintln(out, c.Note)
		}
	}
}

// between gives the least and the most of several runs.
func between(runs []float64) string {
	if len(runs) < 2 {
		return ""
	}
	return number(slices.Min(runs)) + "–" + number(slices.Max(runs))
}

// number gives three significant digits, thousands apart.
func number(v float64) string {
	switch {
	case v >= 1000:
		digits := strconv.Itoa(int(v))
		for i := len(digits) - 3; i > 0; i -= 3 {
			digits = digits[:i] + "," + digits[i:]
		}
		return digits
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.3g", v)
	}
	return fmt.Sprintf("%.2g", v)
}

func median(runs []float64) float64 {
	return quantile(runs, 0.5)
}

// quantile gives the value below which a part q of the values lies; between two
// values it is in proportion.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(values))
	at := q * float64(len(s)-1)
	i := int(at)
	if i+1 == len(s) {
		return s[i]
	}
	return s[i] + (at-float64(i))*(s[i+1]-s[i])
}
