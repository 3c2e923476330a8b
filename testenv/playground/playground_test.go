package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestClock(t *testing.T) {
	var none clock
	first := none.plus("phone")
	if got := first.plus("tablet").join(clock{"laptop": 2, "phone": 3}).String(); got != "laptop:2 phone:3 tablet:1" {
		t.Errorf("join: %s", got)
	}
	if first.String() != "phone:1" || none != nil {
		t.Errorf("plus and join change what they are called on: %s, %v", first, none)
	}
}

// TestDevEnv has a shell and the .env parser read the same values back.
func TestDevEnv(t *testing.T) {
	want := devEnv{
		adminURL:  "postgres://supabase_admin:0af@127.0.0.1:5432/helix_dev?sslmode=disable",
		url:       "postgres://postgres:0af@[::1]:5432/helix_dev?sslmode=disable",
		jwtSecret: newJWTSecret(),
		log:       "/home/ada's own/a b/$HOME/dev.log",
	}
	path := filepath.Join(t.TempDir(), "dev.env")
	if err := want.write(path); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v: it holds passwords", info.Mode(), err)
	}
	said, err := exec.Command("sh", "-c", `. "$0" && printf '%s\n%s\n%s\n%s' "$HELIX_DEV_ADMIN_URL" "$HELIX_DEV_URL" "$HELIX_DEV_JWT_SECRET" "$HELIX_DEV_LOG"`, path).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := string(said); got != want.adminURL+"\n"+want.url+"\n"+want.jwtSecret+"\n"+want.log {
		t.Errorf("a shell reads\n%s", got)
	}
	want.log = "/home/ada/a b/dev.log" // the parser has no way to write a quote inside quotes
	if err := want.write(path); err != nil {
		t.Fatal(err)
	}
	if got, err := readDevEnv(path); err != nil || got != want {
		t.Errorf("read %+v, %v", got, err)
	}
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	f, err := lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock(path); !errors.Is(err, errHeld) {
		t.Errorf("a second one: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if f, err = lock(path); err != nil {
		t.Fatalf("after it was let go: %v", err)
	}
	_ = f.Close()
}

func TestDifferences(t *testing.T) {
	var diff differences
	diff.check("clock", clock{"phone": 1}, clock{"phone": 1})
	if err := diff.err("a row"); err != nil {
		t.Errorf("equal: %v", err)
	}
	diff.check("text", "a", "b")
	want := "a row: not as expected\n   text\n      expected  a\n      actual    b"
	if err := diff.err("a row"); err == nil || err.Error() != want {
		t.Errorf("different: %v", err)
	}
}
