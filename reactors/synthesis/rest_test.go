package synthesis_test

import "testing"

// TestRest: whoever waits for the end of a long synthesis before the next change
// takes no more of a worker than who changes something meanwhile.
func TestRest(t *testing.T) {
	b := newBench(t)
	b.stream(t, config())
	for _, tt := range []struct {
		name, ran   string
		took        int
		least, most string
	}{
		{"Long", "now()", 10_000, "30 s", "41 s"},
		{"VeryLong", "now()", 600_000, "50 s", "61 s"},
		{"Short", "now()", 10, "-1 s", "5 s"},
		{"LongAgo", "now() - interval '1 hour'", 10_000, "-1 s", "5 s"},
		{"Never", "null", 0, "-1 s", "5 s"},
	} {
		user := b.User(t)
		b.Exec(t, "insert into helix.synthesis_work (user_id, due, ran_at, took_ms) values ($1, false, "+tt.ran+", $2)", user, tt.took)
		b.Exec(t, "insert into memories (user_id, content) values ($1, 'a walk')", user)
		b.until(t, "the job", "select exists (select from helix.river_job where args ->> 'user_id' = $1)", user.String())
		if !get[bool](t, b.Admin, "select scheduled_at - created_at between $2::text::interval and $3::text::interval from helix.river_job where args ->> 'user_id' = $1",
			user.String(), tt.least, tt.most) {
			t.Errorf("%s: the next is after %s", tt.name, get[string](t, b.Admin, "select (scheduled_at - created_at)::text from helix.river_job where args ->> 'user_id' = $1", user.String()))
		}
	}
}
