package testenv_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helixd/helixd/testenv"
)

// failedTest pretends that its test has failed.
type failedTest struct {
	testing.TB
	cleanups []func()
}

func (f *failedTest) Failed() bool      { return true }
func (f *failedTest) Name() string      { return f.TB.Name() + "/a case" }
func (f *failedTest) Cleanup(fn func()) { f.cleanups = append(f.cleanups, fn) }

func TestLogOfFailedTestIsKept(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HELIX_TESTENV_LOGS", dir)
	conn := testenv.New(t).Connect(t, "postgres")
	provoke := func(marker string) {
		if _, err := conn.Exec(t.Context(), "select '"+marker+"'::int"); err == nil {
			t.Fatal("no error")
		}
	}
	provoke("before")
	failed := &failedTest{TB: t}
	testenv.New(failed)
	provoke("meanwhile")
	for i := len(failed.cleanups) - 1; i >= 0; i-- {
		failed.cleanups[i]()
	}
	kept, err := os.ReadFile(filepath.Join(dir, "TestLogOfFailedTestIsKept_a_case.log"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(kept), `"meanwhile"`) || strings.Contains(string(kept), `"before"`) {
		t.Errorf("kept: %s", kept)
	}
}
