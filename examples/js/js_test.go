// Package js_test runs the helper: its channels against a socket that speaks Phoenix's
// protocol, and all of it against a project with helixd.
package js_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/helixd/helixd/testenv"
	"github.com/helixd/helixd/testenv/supabasejs"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// TestTypes: the helper, its tests and the examples pass strict TypeScript.
func TestTypes(t *testing.T) {
	dir := folder(t)
	node(t, dir, nil, "node_modules/typescript/bin/tsc", "--noEmit", "--project", "js")
}

// TestChannels: join, refusal, fallback, reconnection and a new token, with the
// real supabase-js.
func TestChannels(t *testing.T) {
	dir := folder(t)
	t.Logf("\n%s", node(t, dir, nil, "--import", "tsx", "--test", "--test-reporter=spec", "js/test/channel.test.ts"))
}

// TestHelper runs the helper, and each example, in a project with helixd: in a stack that
// HELIX_E2E_SUPABASE_URL names, else in supabase-lite over the test Postgres, where
// there is no Realtime.
func TestHelper(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server of its own, and installs it the first time")
	}
	dir := folder(t)
	stack := supabasejs.StartStack(t)
	env := []string{"SUPABASE_URL=" + stack.URL, "SUPABASE_ANON_KEY=" + stack.Key}
	if stack.Realtime {
		env = append(env, "BY=broadcast")
	}
	t.Run("its tests", func(t *testing.T) {
		t.Logf("\n%s", node(t, dir, env, "--import", "tsx", "--test", "--test-reporter=spec", "js/test/stack.test.ts"))
	})
	// What each example says in the end.
	for name, want := range map[string]string{
		"skill":    "Hello, Ada",
		"sync":     "oat milk and bread",
		"memories": "6 memories",
		"analysis": "[monday",
		"status":   "processing is online",
	} {
		t.Run("example "+name, func(t *testing.T) {
			account := []string{"EMAIL=" + uuid.NewString() + "@example.com", "PASSWORD=a password of a test"}
			said := node(t, dir, append(account, env...), "--import", "tsx", "js/features/"+name+".ts")
			if !strings.Contains(said, want) {
				t.Errorf("it does not say %q:\n%s", want, said)
			}
			t.Logf("\n%s", said)
		})
	}
}

// folder is one with the helper, where it finds its packages.
func folder(t *testing.T) string {
	t.Helper()
	supabasejs.Node(t)
	packages := supabasejs.Packages(t, "examples")
	var names []string
	for _, pattern := range []string{"js/*.ts", "js/*.json", "js/test/*.ts", "js/features/*.ts"} {
		found, err := filepath.Glob(filepath.Join("..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			names = append(names, strings.TrimPrefix(name, "../"))
		}
	}
	return supabasejs.Folder(t, "..", packages, names...)
}

// node runs a script to its end and gives what it said.
func node(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), supabasejs.Node(t), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	ended := time.AfterFunc(5*time.Minute, func() { _ = cmd.Process.Kill() }) // so that what it said is seen
	defer ended.Stop()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
