// Package supabasejs runs what an app talks to, for tests: the Data API and the Auth
// of supabase-lite over a test Postgres, and Node with packages of a package-lock.json.
package supabasejs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/helixd/helixd/testenv/module"
)

const oldestNode = 20 // which supabase-js needs

// Missing skips the test, or fails it where HELIX_TEST_JS=require says that it
// must run.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("HELIX_TEST_JS") == "require" {
		t.Fatalf("HELIX_TEST_JS=require, but "+format, args...)
	}
	t.Skipf(format, args...)
}

// Node gives the program. It skips the test where there is none, see [Missing].
func Node(t testing.TB) string {
	t.Helper()
	program, err := exec.LookPath("node")
	if err != nil {
		Missing(t, "there is no node: install Node %d or newer with npm (Debian: testenv/supabasejs/setup.sh)", oldestNode)
	}
	out, err := exec.CommandContext(t.Context(), program, "--version").Output()
	version := strings.TrimSpace(string(out))
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	if n, convErr := strconv.Atoi(major); err != nil || convErr != nil || n < oldestNode {
		Missing(t, "%s is Node %q: install Node %d or newer (Debian: testenv/supabasejs/setup.sh)", program, version, oldestNode)
	}
	return program
}

// Packages gives what npm makes of the package-lock.json in a folder of the
// repository: a folder under .helix that has node_modules, made once for each
// content. It skips the test where that cannot be, see [Missing].
func Packages(t testing.TB, folder string) string {
	t.Helper()
	root, err := module.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := install(t, filepath.Join(root, folder), filepath.Join(root, ".helix", "npm"))
	if err != nil {
		Missing(t, "the packages of %s/package-lock.json cannot be installed: %v", folder, err)
	}
	return dir
}

func install(t testing.TB, folder, cache string) (string, error) {
	lock, err := os.ReadFile(filepath.Join(folder, "package-lock.json"))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(lock)
	dir := filepath.Join(cache, filepath.Base(folder)+"-"+hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", errors.New("there is no npm: it comes with Node, or as Debian's package npm")
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	// Made under another name: one that was left half-done is never taken for it.
	unfinished, err := os.MkdirTemp(cache, "unfinished-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(unfinished)
	for _, pattern := range []string{"package.json", "package-lock.json", "*/package.json"} { // those of workspaces, too
		files, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return "", err
		}
		for _, file := range files {
			if err := Copy(filepath.Join(unfinished, strings.TrimPrefix(file, folder)), file); err != nil {
				return "", err
			}
		}
	}
	cmd := exec.CommandContext(t.Context(), npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = unfinished
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	if err := os.Rename(unfinished, dir); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	return dir, nil
}

// Copy copies a file, and makes its folder.
func Copy(to, from string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}

// Folder makes a new folder with copies of files of folder, by their names in it,
// where they find the packages.
func Folder(t testing.TB, folder, packages string, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if err := Copy(filepath.Join(dir, name), filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(packages, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return dir
}
