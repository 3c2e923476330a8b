package skills_test

import (
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/skills"
)

func TestNextTime(t *testing.T) {
	for _, c := range []struct{ schedule, after, want string }{
		{"0 8 * * *", "2026-03-04T07:59:59Z", "2026-03-04T08:00:00Z"},
		{"0 8 * * *", "2026-03-04T08:00:00Z", "2026-03-05T08:00:00Z"},
		{"@daily", "2026-12-31T10:00:00Z", "2027-01-01T00:00:00Z"},
		{"CRON_TZ=Europe/Berlin 0 8 * * *", "2026-03-28T12:00:00Z", "2026-03-29T06:00:00Z"},  // summer time begins
		{"CRON_TZ=Europe/Berlin 0 8 * * *", "2026-10-24T12:00:00Z", "2026-10-25T07:00:00Z"},  // and ends
		{"CRON_TZ=Europe/Berlin 30 2 * * *", "2026-03-28T12:00:00Z", "2026-03-29T01:30:00Z"}, // skipped: an hour later
		{"CRON_TZ=America/Sao_Paulo 0 0 * * *", "2018-11-03T12:00:00Z", "2018-11-04T03:00:00Z"},
		{"CRON_TZ=America/New_York 30 1 * * *", "2026-11-01T00:00:00Z", "2026-11-01T05:30:00Z"}, // twice: the first time
		{"CRON_TZ=America/New_York 30 1 * * *", "2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"},
		{"CRON_TZ=America/New_York 30 * * * *", "2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z"}, // every hour is an hour
		{"CRON_TZ=UTC", "2026-01-01T00:00:00Z", ""},                                             // the parser panics
		{"TZ=", "2026-01-01T00:00:00Z", ""},
		{"0 0 30 2 *", "2026-01-01T00:00:00Z", ""},
		{"* * * *", "2026-01-01T00:00:00Z", ""},
		{"@every 1s", "2026-01-01T00:00:00Z", ""},
		{"CRON_TZ=Nowhere/City 0 8 * * *", "2026-01-01T00:00:00Z", ""},
		{"", "2026-01-01T00:00:00Z", ""},
	} {
		after, err := time.Parse(time.RFC3339, c.after)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if next, err := skills.NextTime(c.schedule, after); err == nil {
			got = next.UTC().Format(time.RFC3339)
		}
		if got != c.want {
			t.Errorf("%q after %s: %q, want %q", c.schedule, c.after, got, c.want)
		}
	}
}

func TestSchedule(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	b.work(t, skills.DefaultConfig, runner{run: echo})
	user := b.User(t)
	waiting := func(t *testing.T, want string) {
		t.Helper()
		b.until(t, "the jobs to be: "+want, `select coalesce(string_agg(args ->> 'schedule' || ' ' || state, ', '), '') = $1 from helix.river_job
			where kind = 'skill_schedule' and state <> 'completed'`, want)
	}
	skill := b.skill(t, user, "kind = 'javascript', source = 'x', schedule = '0 8 1 1 *'")
	waiting(t, "0 8 1 1 * scheduled")
	t.Run("RunsOnceWhenItIsOverdue", func(t *testing.T) {
		b.Exec(t, "update helix.river_job set scheduled_at = now() - interval '3 years' where kind = 'skill_schedule' and state = 'scheduled'")
		b.until(t, "the run", "select count(*) = 1 from skill_runs where skill_id = $1 and user_id = $2 and status = 'succeeded'", skill, user)
		waiting(t, "0 8 1 1 * scheduled")
		if !get[bool](t, b.Admin, "select scheduled_at > now() from helix.river_job where kind = 'skill_schedule' and state = 'scheduled'") {
			t.Error("the next one is due already")
		}
	})
	t.Run("RunsOnceWhereTheClockIsBehind", func(t *testing.T) {
		runs := get[int](t, b.Admin, "select count(*) from skill_runs")
		b.Exec(t, `update helix.river_job set scheduled_at = now(), state = 'available' where kind = 'skill_schedule' and state = 'scheduled'`)
		b.until(t, "the run", "select count(*) = $1 + 1 from skill_runs", runs)
		waiting(t, "0 8 1 1 * scheduled")
		if !get[bool](t, b.Admin, `select (select (args ->> 'at')::timestamptz from helix.river_job where kind = 'skill_schedule' and state = 'scheduled')
			> (select max((args ->> 'at')::timestamptz) from helix.river_job where kind = 'skill_schedule' and state = 'completed')`) {
			t.Error("the next one is due at the same time")
		}
	})
	t.Run("ChangeReplacesIt", func(t *testing.T) {
		b.Exec(t, "update skills set schedule = '0 9 1 1 *' where id = $1", skill)
		waiting(t, "0 9 1 1 * scheduled")
	})
	t.Run("NonsenseIsNoted", func(t *testing.T) {
		b.Exec(t, "update skills set schedule = 'soon' where id = $1", skill)
		b.until(t, "the note", "select coalesce(checks #>> '{schedule,code}' = 'invalid_schedule', false) from skills where id = $1", skill)
		waiting(t, "")
		b.Exec(t, "update skills set schedule = '0 7 1 1 *' where id = $1", skill)
		b.until(t, "the note to go", "select not coalesce(checks, '{}') ? 'schedule' from skills where id = $1", skill)
	})
	t.Run("DisabledHasNone", func(t *testing.T) {
		b.Exec(t, "update skills set enabled = false where id = $1", skill)
		waiting(t, "")
		b.Exec(t, "update skills set enabled = true where id = $1", skill)
		waiting(t, "0 7 1 1 * scheduled")
	})
	t.Run("DeletedHasNone", func(t *testing.T) {
		b.Exec(t, "delete from skills where id = $1", skill)
		waiting(t, "")
	})
}
