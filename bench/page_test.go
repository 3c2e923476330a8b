package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// texts gives what an SVG says, and how many circles it has; it fails where that is
// no XML.
func texts(t *testing.T, svg []byte) (said string, circles int) {
	t.Helper()
	in := xml.NewDecoder(bytes.NewReader(svg))
	var words []string
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			return strings.Join(words, "\n"), circles
		} else if err != nil {
			t.Fatalf("not well-formed: %v\n%s", err, svg)
		}
		switch token := token.(type) {
		case xml.CharData:
			words = append(words, string(token))
		case xml.StartElement:
			for _, a := range token.Attr {
				if a.Name.Local == "d" && strings.Contains(a.Value, "A") { // an arc
					circles++
				}
			}
		}
	}
}

// TestCurve: a plot has all points, its axes' units and a legend; its table has a
// row for each size, and what a side lacks stays empty.
func TestCurve(t *testing.T) {
	c := &curve{Name: "c", Title: "What <grows>", X: "rows & more", Y: "rows/s", LogY: true}
	for _, x := range []float64{1, 10, 1000, 100_000} {
		c.at(nameHelixd, x, x*2, x*3, x)
	}
	c.at("a peer", 10, 7)
	svg, err := c.svg()
	if err != nil {
		t.Fatal(err)
	}
	said, circles := texts(t, svg)
	if circles != 4+1 { // one in the legend; the peer's are squares
		t.Errorf("%d circles of 4 points", circles)
	}
	for _, want := range []string{"What <grows>", "rows & more", "rows/s", nameHelixd, "a peer", "100,000"} {
		if !strings.Contains(said, want) {
			t.Errorf("the plot does not say %q", want)
		}
	}
	var rows []string
	for _, cells := range c.table() {
		rows = append(rows, strings.Join(cells, "|"))
	}
	if got, want := strings.Join(rows, "\n"), `rows & more|helixd|min–max|a peer|min–max
1|2|1–3||
10|20|10–30|7|
1,000|2,000|1,000–3,000||
100,000|200,000|100,000–300,000||`; got != want {
		t.Errorf("table\n%s\nwant\n%s", got, want)
	}
}

// TestSizes: a size that would take longer than a curve may is left out, and said.
func TestSizes(t *testing.T) {
	b := &bench{began: time.Now()}
	var measured []int
	err := b.overSizes(&curve{}, []int{1, 2, 1 << 60}, func(size int) int { return size }, func(size int) error {
		measured = append(measured, size)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(measured) != 2 || !strings.Contains(b.report.Curves[0].Note, "1,152,921,504,606,846,976 and more") {
		t.Errorf("measured %v, and said %q", measured, b.report.Curves[0].Note)
	}
}

// TestKept: what is kept comes onto the page, with its run, and no other section's.
func TestKept(t *testing.T) {
	dir := t.TempDir()
	b := &bench{commit: "abc1234"}
	if err := b.parse([]string{"--quick", "--rows", "5000", "--runs", "4", "--results", dir}); err != nil {
		t.Fatal(err)
	}
	b.report.Machine = machine{CPU: "a processor", Cores: 2, RAM: 4, Kernel: "Linux 6", Load: 3}
	b.report.add(newFigure("of another", "not mine", "s", 1))
	b.report.add(newFigure("mine", "  how long", "s", 3, 1, 2).beside("a peer", 4, 8).below(1))
	c := curve{Name: "my-curve", Title: "Mine", X: "rows", Y: "s"}
	c.at(nameHelixd, 10, 1, 2)
	b.report.Curves = append(b.report.Curves, c)
	if err := b.keep(section{name: "my"}, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), 1, 0); err != nil {
		t.Fatal(err)
	}
	p, err := readPage(dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.tables("my", "none")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"`go run . --only my --quick --rows 5000 --runs 4` · 2026-01-02 03:04 UTC, commit abc1234 · a processor, 2 cores, 4 GB of RAM · Linux 6",
		"The machine was not quiet. **A quick run, of a tenth of the rows.**",
		"| how long | s | 2 | 1–3 | 6 | 4–8 | a peer | 0.33× | < 1 | not met |",
		"![Mine (s)](benchmarks/my-curve.svg)",
		"| 10 | 1.5 | 1–2 |",
		"No run of `none` is kept: `cd bench && go run . --only none",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say\n%s\nbut\n%s", want, text)
		}
	}
	if strings.Contains(text, "not mine") {
		t.Error("the page has another section's figure")
	}
	if p.plots["my-curve.svg"] == nil {
		t.Error("the curve has no plot")
	}
}

// TestFailed: a section that fails is not kept, nor are the figures that it had;
// those after it are measured, and the command fails.
func TestFailed(t *testing.T) {
	b := &bench{options: options{results: t.TempDir()}, began: time.Now()}
	err := b.each(t.Context(), []section{
		{"first", func(_ context.Context, b *bench) error {
			b.report.add(newFigure("half", "of it", "s", 1))
			return errors.New("no peer")
		}},
		{"second", func(_ context.Context, b *bench) error {
			b.report.add(newFigure("whole", "all of it", "s", 2))
			return nil
		}},
	})
	if err == nil || !strings.Contains(err.Error(), "first: no peer") {
		t.Errorf("error %v", err)
	}
	p, err := readPage(b.results)
	if err != nil {
		t.Fatal(err)
	}
	if p.results["first"] != nil || p.results["second"] == nil || len(p.results["second"].Figures) != 1 || len(b.report.Figures) != 1 {
		t.Errorf("kept %+v", p.results)
	}
}

// TestQuick: a quick run may not take the place of what is kept.
func TestQuick(t *testing.T) {
	if err := new(options).parse([]string{"--quick", "--report", "page.md"}); err == nil {
		t.Error("a quick run may write into results")
	}
	if err := new(options).parse([]string{"--quick", "--report", "page.md", "--results", "tried"}); err != nil {
		t.Error(err)
	}
}

// TestPage: docs/benchmarks.md and its plots are what results make, every row of
// its tables has as many cells as the head, and it has every section.
func TestPage(t *testing.T) {
	p, err := readPage("results")
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.markdown()
	if err != nil {
		t.Fatal(err)
	}
	same := func(path, want string) {
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("%s is not what bench/results makes (%v): run `cd bench && go run . --rebuild --report ../docs/benchmarks.md`", path, err)
		}
	}
	const docs = "../docs/benchmarks"
	same(docs+".md", text)
	there, err := filepath.Glob(docs + "/*.svg")
	if err != nil || len(there) != len(p.plots) || len(there) == 0 {
		t.Errorf("%d plots in %s, want %d (%v)", len(there), docs, len(p.plots), err)
	}
	for name, svg := range p.plots {
		same(filepath.Join(docs, name), string(svg))
		if _, circles := texts(t, svg); len(svg) > 64<<10 || strings.HasPrefix(name, "curve") && circles < 2 {
			t.Errorf("%s has %d bytes and %d circles", name, len(svg), circles)
		}
	}
	cells := 0
	for n, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, "|") {
			cells = 0
			continue
		}
		if now := strings.Count(line, "|"); cells == 0 {
			cells = now
		} else if now != cells {
			t.Errorf("line %d has %d cells, the table %d: %s", n+1, now, cells, line)
		}
	}
	for _, name := range sectionNames() {
		if p.results[name] == nil && !strings.Contains(text, "No run of `"+name+"` is kept") {
			t.Errorf("the page says nothing of %s", name)
		}
	}
}
