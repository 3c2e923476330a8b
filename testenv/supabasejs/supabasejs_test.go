// Package supabasejs_test is an app: supabase-js, against the Data API and the
// Auth of supabase-lite, over a test Postgres with helixd beside it. The app's
// side is in the *.test.mjs files.
package supabasejs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helixd/helixd/testenv"
	"github.com/helixd/helixd/testenv/supabasejs"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func TestSupabaseJS(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server of its own, and installs it the first time")
	}
	db := testenv.New(t)
	project := supabasejs.Start(t, db)
	conn := db.Connect(t, "postgres")
	rights := supabasejs.Rights(t, conn)
	supabasejs.Helixd(t, db)

	files, err := filepath.Glob("*.mjs")
	if err != nil {
		t.Fatal(err)
	}
	dir := supabasejs.Folder(t, ".", supabasejs.Packages(t, "testenv/supabasejs"), files...)
	tests, err := filepath.Glob("*.test.mjs")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tests {
		t.Run(strings.TrimSuffix(name, ".test.mjs"), func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), supabasejs.Node(t), "--test", "--test-reporter=spec", name)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "SUPABASE_URL="+project.URL, "SUPABASE_PUBLISHABLE_KEY="+project.Key)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Logf("\n%s", out)
		})
	}
	if got := supabasejs.Rights(t, conn); got != rights {
		t.Errorf("the app's requests changed the rights to\n%s", got)
	}
}
