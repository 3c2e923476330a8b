package docs_test

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// page is what architecture.md says: rooms from top to bottom, with the files named.
type page struct {
	rooms  []string // each imports only those behind it
	beside []string // import any
	files  map[string][]string
}

var (
	cell  = regexp.MustCompile("`([^`]+)`")
	aFile = regexp.MustCompile(`\.(go|sql|js|c|json)$`)
)

func readPage(t *testing.T) page {
	t.Helper()
	text, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	p := page{files: map[string][]string{}}
	main, beside, ok := strings.Cut(string(text), "\n## Rooms beside it\n")
	if !ok {
		t.Fatal("the page has no second table")
	}
	// rooms names those of a table's first column: the first of a row in full, and
	// those beside it by their own names.
	rooms := func(table string) (all []string) {
		for line := range strings.Lines(table) {
			columns := strings.Split(line, "|")
			if len(columns) < 4 {
				continue
			}
			var first string
			for _, name := range cell.FindAllStringSubmatch(columns[1], -1) {
				room := name[1]
				if first == "" {
					first = room
				} else if !strings.Contains(room, "/") {
					room = path.Join(path.Dir(first), room)
				}
				all = append(all, room)
			}
			if len(columns) < 5 || len(all) == 0 {
				continue
			}
			for _, name := range cell.FindAllStringSubmatch(columns[2], -1) {
				if !aFile.MatchString(name[1]) {
					t.Errorf("%s is named as a file of %s", name[1], all[len(all)-1])
				}
				p.files[all[len(all)-1]] = append(p.files[all[len(all)-1]], name[1])
			}
		}
		return all
	}
	p.rooms, p.beside = rooms(main), rooms(beside)
	return p
}

// packages gives what each of this module's packages imports of it, tests aside.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	const module = "github.com/helixd/helixd/"
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		names := strings.Fields(line)
		pkg := strings.TrimPrefix(names[0], module)
		all[pkg] = nil
		for _, name := range names[1:] {
			if own, ok := strings.CutPrefix(name, module); ok {
				all[pkg] = append(all[pkg], own)
			}
		}
	}
	return all
}

// TestArchitecture: the page names every package and nothing else, and imports go
// the way that it says.
func TestArchitecture(t *testing.T) {
	p, all := readPage(t), packages(t)
	named := slices.Concat(p.rooms, p.beside)
	for i, room := range named {
		if info, err := os.Stat(filepath.Join("..", room)); err != nil || !info.IsDir() {
			t.Errorf("there is no room %s", room)
		}
		if slices.Contains(named[:i], room) {
			t.Errorf("%s is named twice", room)
		}
	}
	for room, files := range p.files {
		for _, file := range files {
			if found, err := filepath.Glob(filepath.Join("..", room, file)); err != nil || len(found) == 0 {
				t.Errorf("%s has no %s", room, file)
			}
		}
	}
	for pkg, imports := range all {
		at := slices.Index(p.rooms, pkg)
		if at < 0 {
			if !slices.Contains(p.beside, pkg) {
				t.Errorf("%s is not on the page", pkg)
			}
			continue
		}
		for _, other := range imports {
			if to := slices.Index(p.rooms, other); to <= at {
				t.Errorf("%s imports %s, which is not below it", pkg, other)
			}
			_, err := os.Stat(filepath.Join("..", other, "reactor.go"))
			if isReactor := err == nil && other != "reactors"; isReactor && pkg != "cmd/helixd" {
				t.Errorf("%s imports the reactor %s", pkg, other)
			}
		}
	}
	if len(all) < 50 || len(p.files) < 20 {
		t.Errorf("only %d packages, and files of %d rooms", len(all), len(p.files))
	}
}
