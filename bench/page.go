package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"
)

// kept is what a section measured, as results/<section>.json keeps it. The page is
// made of these, so that a section can be measured again alone.
type kept struct {
	Section string   `json:"section"`
	Began   string   `json:"began,omitempty"`  // UTC; "" where nobody noted it
	Commit  string   `json:"commit,omitempty"` // of helixd
	Command string   `json:"command"`          // in the folder bench
	Quick   bool     `json:"quick,omitempty"`
	Machine machine  `json:"machine"`
	Method  string   `json:"method,omitempty"`
	Note    string   `json:"note,omitempty"`
	Figures []figure `json:"figures,omitempty"`
	Curves  []curve  `json:"curves,omitempty"`
}

// keep writes down what a section has added to the report since there were so many
// figures and curves.
func (b *bench) keep(s section, began time.Time, figures, curves int) error {
	if b.results == "" {
		return nil
	}
	k := kept{Section: s.name, Began: began.UTC().Format("2006-01-02 15:04"), Commit: b.commit, Command: b.commandOf(s.name), Quick: b.quick,
		Machine: b.report.Machine, Method: b.report.Method, Figures: b.report.Figures[figures:], Curves: b.report.Curves[curves:]}
	text, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(b.results, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.results, s.name+".json"), append(text, '\n'), 0o644)
}

// commandOf measures a section again as it is measured now.
func (o *options) commandOf(section string) string {
	command := "go run . --only " + section
	if o.quick {
		command += " --quick"
	}
	return fmt.Sprintf("%s --rows %d --runs %d", command, o.given.rows, o.given.runs)
}

// commit names what is measured; "" outside of a repository.
func commit() string {
	hash, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return ""
	}
	if exec.Command("git", "diff", "--quiet", "HEAD", "--", ":/", ":(top,exclude)docs", ":(top,exclude)bench/results").Run() != nil {
		return strings.TrimSpace(string(hash)) + ", changed since"
	}
	return strings.TrimSpace(string(hash))
}

//go:embed page.md
var pageText string

// page is the report, being made.
type page struct {
	results map[string]*kept
	placed  []string          // sections that are on it
	plots   map[string][]byte // by their file's name
}

func readPage(dir string) (*page, error) {
	p := &page{results: map[string]*kept{}, plots: map[string][]byte{}}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		k := &kept{}
		if err := json.Unmarshal(text, k); err != nil {
			return nil, fmt.Errorf("%s: %w; measure that section again", path, err)
		}
		p.results[k.Section] = k
	}
	return p, nil
}

// markdown gives the page, and leaves its plots in plots.
func (p *page) markdown() (string, error) {
	text, err := template.New("page.md").Funcs(template.FuncMap{
		"tables": p.tables, "bars": p.bars, "clusters": p.clusters, "rest": p.rest,
	}).Parse(pageText)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = text.Execute(&out, nil)
	return out.String(), err
}

// plotDir is the folder of the plots, beside the page.
const plotDir = "benchmarks"

// write makes the page at a path, and its plots. A plot that is no longer on the page goes.
func (p *page) write(path string) error {
	text, err := p.markdown()
	if err != nil {
		return err
	}
	dir := filepath.Join(filepath.Dir(path), plotDir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	there, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	if err != nil {
		return err
	}
	for _, old := range there {
		if p.plots[filepath.Base(old)] == nil {
			if err := os.Remove(old); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	for name, svg := range p.plots {
		if err := os.WriteFile(filepath.Join(dir, name), svg, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// writePage writes the page, where one is wanted.
func (b *bench) writePage() error {
	if b.page == "" {
		return nil
	}
	p, err := readPage(b.results)
	if err != nil {
		return err
	}
	return p.write(b.page)
}

// tables gives the runs of sections, each with its machine, its figures and curves.
func (p *page) tables(sections ...string) (string, error) {
	var b strings.Builder
	for i, name := range sections {
		p.placed = append(p.placed, name)
		if i > 0 {
			b.WriteString("\n")
		}
		k := p.results[name]
		if k == nil {
			fmt.Fprintf(&b, "No run of `%s` is kept: `cd bench && go run . --only %[1]s --report ../docs/benchmarks.md` makes one.\n", name)
			continue
		}
		fmt.Fprintf(&b, "%s\n", k)
		if err := p.curves(&b, k); err != nil {
			return "", err
		}
		if len(k.Figures) > 0 {
			b.WriteString("\n" + markdownRow(columns) + "|---|---|--:|--:|--:|--:|---|--:|---|---|\n")
		}
		lines(k.Figures, func(name string) {
			b.WriteString(markdownRow(append([]string{"**" + name + "**"}, make([]string, len(columns)-1)...)))
		}, func(cells []string) {
			cells[0] = strings.TrimSpace(cells[0])
			b.WriteString(markdownRow(cells))
		})
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// String says where and how a run came about.
func (k *kept) String() string {
	when := "Date and commit not noted"
	if k.Began != "" {
		when = k.Began + " UTC"
	}
	if k.Commit != "" {
		when += ", commit " + k.Commit
	}
	said := []string{fmt.Sprintf("`%s` · %s · %s.", k.Command, when, k.Machine)}
	for _, sentence := range []string{k.Method, k.Note} {
		if sentence != "" {
			said = append(said, strings.TrimSuffix(sentence, ".")+".")
		}
	}
	if k.Machine.Load > busy {
		said = append(said, "The machine was not quiet.")
	}
	if k.Quick {
		said = append(said, "**A quick run, of a tenth of the rows.**")
	}
	return strings.Join(said, " ")
}

func (p *page) curves(b *strings.Builder, k *kept) error {
	for i := range k.Curves {
		c := &k.Curves[i]
		image, err := p.plot(c.Name, c.Title+" ("+c.Y+")", c.svg)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "\n%s\n\n", image)
		if c.Note != "" {
			fmt.Fprintf(b, "%s\n\n", c.Note)
		}
		for i, cells := range c.table() {
			b.WriteString(markdownRow(cells))
			if i == 0 {
				b.WriteString(strings.Repeat("|--:", len(cells)) + "|\n")
			}
		}
	}
	return nil
}

func markdownRow(cells []string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// plot keeps a plot for the page, and gives its link.
func (p *page) plot(name, title string, svg func() ([]byte, error)) (string, error) {
	drawn, err := svg()
	if err != nil {
		return "", fmt.Errorf("plot %s: %w", name, err)
	}
	p.plots[name+".svg"] = drawn
	return fmt.Sprintf("![%s](%s/%s.svg)", title, plotDir, name), nil
}

// bars plots the figures of a section that have a unit, helixd's beside the peers'.
func (p *page) bars(section, unit, title string) (string, error) {
	k := p.results[section]
	if k == nil {
		return "", nil
	}
	b := &bars{Title: title, Y: unit}
	for _, f := range k.Figures {
		if f.Unit != unit {
			continue
		}
		b.set(f.Name, nameHelixd, f.Median)
		if f.Peer != "" {
			b.set(f.Name, f.Peer, f.PeerMedian)
		}
	}
	return p.plot(section, title+" ("+unit+")", b.svg)
}

var vectors = regexp.MustCompile(`^clusters of ([0-9,]+) vectors$`)

// clusters plots how long clustering takes over the number of vectors.
func (p *page) clusters() (string, error) {
	k := p.results["clusters"]
	if k == nil {
		return "", nil
	}
	c := curve{Name: "clusters", Title: "From vectors to labels", X: "vectors of 1,536 dimensions", Y: "s", LogY: true}
	for _, f := range k.Figures {
		size := vectors.FindStringSubmatch(f.Section)
		if size == nil || f.Unit != "s" || strings.HasPrefix(f.Name, " ") {
			continue
		}
		n, err := strconv.Atoi(strings.ReplaceAll(size[1], ",", ""))
		if err != nil {
			return "", err
		}
		name, _, _ := strings.Cut(f.Name, ",")
		c.add(name, point{float64(n), f.Runs, f.Median})
		if f.Peer != "" {
			c.add(name+", "+f.Peer, point{float64(n), f.PeerRuns, f.PeerMedian})
		}
	}
	return p.plot(c.Name, c.Title+" ("+c.Y+")", c.svg)
}

// rest gives what the page has not placed.
func (p *page) rest() (string, error) {
	var left []string
	for name := range p.results {
		left = append(left, name)
	}
	left = append(left, sectionNames()...)
	slices.Sort(left)
	left = slices.DeleteFunc(slices.Compact(left), func(name string) bool { return slices.Contains(p.placed, name) })
	if len(left) == 0 {
		return "", nil
	}
	text, err := p.tables(left...)
	return "\n## Others\n\n" + text + "\n", err
}
