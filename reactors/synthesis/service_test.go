package synthesis_test

import "testing"

// TestUnhealthy: helix_status says so where no synthesis succeeds, and until one does.
func TestUnhealthy(t *testing.T) {
	b := newBench(t)
	b.work(t, config())
	b.stream(t, config())
	b.Exec(t, "alter table memory_synthesis rename to away")
	b.Exec(t, "insert into memories (user_id, type, content) values ($1, 'episodic', 'walked by the river')", b.User(t))
	b.until(t, "it says that it fails", "select exists (select from helix.workers where details -> 'synthesis' ->> 'healthy' = 'false')")
	b.Exec(t, "alter table away rename to memory_synthesis")
	b.until(t, "it works again", "select exists (select from helix.workers where details -> 'synthesis' ->> 'healthy' = 'true')")
}
