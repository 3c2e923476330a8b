package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/helixd/helixd/testenv"
)

// pages are all that a reader is pointed to.
func pages(t testing.TB) []string {
	t.Helper()
	all := []string{"../../README.md"}
	for _, pattern := range []string{"../../docs/*.md", "../../examples/*/README.md", "../../examples/skills/*/README.md", "../../deploy/*/README.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return all
}

var (
	shellBlock  = regexp.MustCompile("(?s)```sh\n(.*?)```")
	inlineUse   = regexp.MustCompile("`helixd ((?:[a-z][a-z-]*)(?: [a-z]+)?)[^`]*`")
	pageLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	pageHeading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	noAnchor    = regexp.MustCompile(`[^a-z0-9 _-]`)
)

// helixdLines gives the lines of a page's shell blocks that call helixd, without
// comments.
func helixdLines(page string) []string {
	var lines []string
	for _, block := range shellBlock.FindAllStringSubmatch(page, -1) {
		joined := strings.ReplaceAll(block[1], "\\\n", " ")
		for line := range strings.Lines(joined) {
			line, _, _ = strings.Cut(line, " #")
			line = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(line), "&"))
			line = strings.TrimPrefix(line, "bin/")
			if strings.HasPrefix(line, "helixd ") {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// TestDocumentedCommands: what the pages call is there, with its flags.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	dir := withHelixd(t)
	help := func(line string) (string, error) {
		cmd := exec.Command("bash", "-c", line+" --help")
		cmd.Dir = t.TempDir()
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	checked := map[string]bool{}
	for _, path := range pages(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := helixdLines(string(text))
		for _, use := range inlineUse.FindAllStringSubmatch(string(text), -1) {
			lines = append(lines, "helixd "+use[1])
		}
		for _, line := range lines {
			if checked[line] {
				continue
			}
			checked[line] = true
			out, err := help(line)
			command, _, _ := strings.Cut(strings.TrimPrefix(line, "helixd "), " ")
			if err != nil || !strings.HasPrefix(command, "-") && !strings.Contains(out, "helixd "+command) {
				t.Errorf("%s: %q: %v\n%.300s", filepath.Base(path), line, err, out)
			}
		}
	}
	if len(checked) < 30 {
		t.Errorf("only %d commands found", len(checked))
	}
}

// TestPagesRun runs the shell blocks of the pages that are followed from top to
// bottom, each against a project of its own.
func TestPagesRun(t *testing.T) {
	t.Parallel()
	dir := withHelixd(t)
	for _, page := range []string{"quickstart.md", "operations.md"} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile("../../docs/" + page)
			if err != nil {
				t.Fatal(err)
			}
			db := testenv.New(t)
			work := t.TempDir()
			env := append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "SUPABASE_DB_URL="+db.URL("postgres"),
				"HELIX_SLOT="+db.SlotName("page"), "HELIX_HTTP=off")
			running := page != "quickstart.md"
			if running {
				admin := migrated(t, db)
				p := start(t, db.URL("postgres"), []string{"HELIX_HTTP=off"}, "run", "--slot", db.SlotName("page"))
				until(t, "streaming", func() bool { return strings.Contains(p.log.String(), "streaming") })
				exec1(t, admin, "select 1")
			}
			lines := helixdLines(string(text))
			if len(lines) < 3 {
				t.Fatalf("only %d commands", len(lines))
			}
			for _, line := range lines {
				if line == "helixd run" {
					p := start(t, db.URL("postgres"), []string{"HELIX_HTTP=off"}, "run", "--slot", db.SlotName("page"))
					until(t, "streaming", func() bool { return strings.Contains(p.log.String(), "streaming") })
					continue
				}
				cmd := exec.Command("bash", "-c", line)
				cmd.Dir, cmd.Env = work, env
				kill := time.AfterFunc(3*patience, func() { _ = cmd.Process.Kill() })
				out, err := cmd.CombinedOutput()
				kill.Stop()
				status := cmd.ProcessState.ExitCode()
				if status == 3 && slices.Contains([]string{"helixd doctor", "helixd status"}, line) {
					status = 0 // it has found something, such as a setting of the test's server
				} else if status != 0 {
					t.Fatalf("%s: %v\n%s", line, err, out)
				}
			}
		})
	}
}

// withHelixd gives a folder with the binary in it.
func withHelixd(t testing.TB) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(path, filepath.Join(dir, "helixd")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestPageLinks: every relative link of a page leads to a file, and to a heading.
func TestPageLinks(t *testing.T) {
	t.Parallel()
	anchors := func(path string) (map[string]bool, error) {
		text, err := os.ReadFile(path)
		all := map[string]bool{}
		for _, h := range pageHeading.FindAllStringSubmatch(string(text), -1) {
			all[strings.ReplaceAll(noAnchor.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-")] = true
		}
		return all, err
	}
	links := 0
	for _, path := range pages(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range pageLink.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(link[1], "://") {
				continue
			}
			links++
			file, anchor, _ := strings.Cut(link[1], "#")
			target := path
			if file != "" {
				target = filepath.Join(filepath.Dir(path), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %v", path, fmt.Errorf("link %s: %w", link[1], err))
				continue
			}
			if anchor == "" {
				continue
			}
			if there, err := anchors(target); err != nil || !there[anchor] {
				t.Errorf("%s: link %s: there is no such heading", path, link[1])
			}
		}
	}
	if links < 50 {
		t.Errorf("only %d links found", links)
	}
}
