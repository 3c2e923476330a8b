package main

import (
	"fmt"
	"slices"
	"time"
)

// curve is how figures change with a size.
type curve struct {
	Name  string  `json:"name"` // of its plot's file
	Title string  `json:"title"`
	X     string  `json:"x"` // what the axes are, with their units
	Y     string  `json:"y"`
	LogY  bool    `json:"log_y,omitempty"`
	LinX  bool    `json:"lin_x,omitempty"` // X is logarithmic otherwise
	Lines []*line `json:"lines"`
	Note  string  `json:"note,omitempty"` // what was left out
}

// line is one side's.
type line struct {
	Name   string  `json:"name"`
	Points []point `json:"points"`
}

// point is what several runs of a size gave.
type point struct {
	X      float64   `json:"x"`
	Runs   []float64 `json:"runs,omitempty"`
	Median float64   `json:"median"`
}

// at adds what the runs of a size gave.
func (c *curve) at(name string, x float64, runs ...float64) {
	c.add(name, point{x, runs, median(runs)})
}

// add adds a point to a line, which is made when it is new.
func (c *curve) add(name string, p point) {
	for _, l := range c.Lines {
		if l.Name == name {
			l.Points = append(l.Points, p)
			return
		}
	}
	c.Lines = append(c.Lines, &line{name, []point{p}})
}

// table gives a row for each size, after that of the headings.
func (c *curve) table() [][]string {
	head := []string{c.X}
	var sizes []float64
	rows := map[float64][]string{}
	for i, l := range c.Lines {
		head = append(head, l.Name, "min–max")
		for _, p := range l.Points {
			if rows[p.X] == nil {
				sizes = append(sizes, p.X)
				rows[p.X] = []string{number(p.X)}
			}
			for len(rows[p.X]) < 1+2*i { // a side that has no such size
				rows[p.X] = append(rows[p.X], "")
			}
			rows[p.X] = append(rows[p.X], number(p.Median), between(p.Runs))
		}
	}
	table := [][]string{head}
	for _, x := range sizes {
		for len(rows[x]) < len(head) {
			rows[x] = append(rows[x], "")
		}
		table = append(table, rows[x])
	}
	return table
}

// curveTime is how long a curve may take; most take less.
const curveTime = 8 * time.Minute

// overSizes measures each size in turn, the smallest first, until what is left of
// the curve's time is less than the next is likely to take: as many times what the
// last took as it is more work. What is left out the curve says.
func (b *bench) overSizes(c *curve, sizes []int, work func(size int) int, measure func(size int) error) error {
	began := time.Now()
	var last time.Duration
	for i, size := range sizes {
		if i > 0 {
			next := last.Seconds() * float64(work(size)) / float64(work(sizes[i-1]))
			if time.Since(began).Seconds()+next > curveTime.Seconds() {
				c.Note = fmt.Sprintf("Left out, as a curve has %.0f minutes: %s and more.", curveTime.Minutes(), number(float64(size)))
				b.say("  %s", c.Note)
				break
			}
		}
		b.say("  %s %s", number(float64(size)), c.X)
		from := time.Now()
		if err := measure(size); err != nil {
			return fmt.Errorf("%s %s: %w", number(float64(size)), c.X, err)
		}
		last = time.Since(from)
	}
	b.report.Curves = append(b.report.Curves, *c)
	return nil
}

// sizes are those that --rows allows, of which each takes so many.
func (b *bench) sizes(rows int, all ...int) []int {
	return slices.DeleteFunc(all, func(size int) bool { return size*rows > b.rows })
}

// curveRuns is how often each size is measured.
func (b *bench) curveRuns() int { return min(b.runs, maxSlowRuns) }
