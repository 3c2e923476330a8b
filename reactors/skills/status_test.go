package skills_test

import (
	"testing"

	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills"
)

// layered is a runner with a sandbox that is as a kernel gave it.
type layered struct {
	runner
	layers []sandbox.Layer
}

func (l layered) Layers() []sandbox.Layer { return l.layers }

// TestStatus: an app sees whether its skills are run, and why they are not.
func TestStatus(t *testing.T) {
	held := sandbox.Layer{Name: "landlock", Required: true, Active: true}
	for name, c := range map[string]struct {
		runner func(t *testing.T) skills.Runner
		want   string
	}{
		"AllLayers": {func(t *testing.T) skills.Runner { return boxes(t) }, "t true"},
		"LayerMissing": {func(*testing.T) skills.Runner {
			return layered{runner{run: echo}, []sandbox.Layer{held, {Name: "seccomp", Required: true, Detail: "no filter"}}}
		}, "f false required layer seccomp is missing: no filter"},
		"LayerMissingThatNeedNotBe": {func(*testing.T) skills.Runner {
			return layered{runner{run: echo}, []sandbox.Layer{held, {Name: "namespaces", Detail: "no right"}}}
		}, "t true"},
		"NoChild": {func(t *testing.T) skills.Runner {
			pool, err := sandbox.NewPool(t.Context(), sandbox.Config{Dir: t.TempDir(), Workers: 1, Limits: sandbox.DefaultLimits,
				Command: []string{"/bin/false"}, Log: zerolog.Nop()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = pool.Close() })
			return pool
		}, "f false no worker child could be started"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.stream(t)
			// As a leader says that it lives.
			b.Exec(t, "insert into helix.leaders (slot, epoch, holder, heartbeat_at) select slot, epoch, 'test', now() + interval '1 hour' from helix.checkpoints")
			b.Exec(t, "insert into helix.reactors (reactor, slot, queue) select 'skills', slot, 'skills' from helix.checkpoints")
			b.work(t, skills.DefaultConfig, c.runner(t))
			app := b.DB.AsUser(t, b.DB.NewUser(t).ID)
			if got := get[string](t, app, "select concat_ws(' ', healthy, details ->> 'healthy', details ->> 'reason') from helix_status where reactor = 'skills'"); got != c.want {
				t.Errorf("helix_status says %q, want %q", got, c.want)
			}
			n := get[int](t, app, "select coalesce(jsonb_array_length(nullif(details -> 'layers', 'null')), 0) from helix_status where reactor = 'skills'")
			if (n > 0) != (name != "NoChild") {
				t.Errorf("it tells of %d layers", n)
			}
		})
	}
}
