package supabasejs_test

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
)

const oldestNode = 20 // which supabase-js needs

// missing skips the test, or fails it where HELIX_TEST_JS=require says that it
// must run.
func missing(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("HELIX_TEST_JS") == "require" {
		t.Fatalf("HELIX_TEST_JS=require, but "+format, args...)
	}
	t.Skipf(format, args...)
}

// node gives the program, and what npm makes of package-lock.json: a folder
// under .helix that has node_modules.
func node(t *testing.T) (program, packages string) {
	t.Helper()
	program, err := exec.LookPath("node")
	if err != nil {
		missing(t, "there is no node: install Node %d or newer with npm (Debian: testenv/supabasejs/setup.sh)", oldestNode)
	}
	out, err := exec.CommandContext(t.Context(), program, "--version").Output()
	version := strings.TrimSpace(string(out))
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	if n, convErr := strconv.Atoi(major); err != nil || convErr != nil || n < oldestNode {
		missing(t, "%s is Node %q: install Node %d or newer (Debian: testenv/supabasejs/setup.sh)", program, version, oldestNode)
	}
	packages, err = install(t)
	if err != nil {
		missing(t, "the packages of package-lock.json cannot be installed: %v", err)
	}
	return program, packages
}

// install runs npm ci once for each content of package-lock.json.
func install(t *testing.T) (string, error) {
	lock, err := os.ReadFile("package-lock.json")
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(lock)
	cache, err := filepath.Abs("../../.helix/supabasejs")
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, hex.EncodeToString(sum[:8]))
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
	for _, name := range []string{"package.json", "package-lock.json"} {
		content, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(unfinished, name), content, 0o644); err != nil {
			return "", err
		}
	}
	cmd := exec.CommandContext(t.Context(), npm, "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = unfinished
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	if err := os.Rename(unfinished, dir); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	return dir, nil
}

// scripts copies this folder's scripts into a new one, where they find packages.
func scripts(t *testing.T, packages string) string {
	t.Helper()
	dir := t.TempDir()
	files, err := filepath.Glob("*.mjs")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(packages, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return dir
}
