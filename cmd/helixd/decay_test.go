package main_test

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/helixd/helixd/testenv"
)

func TestDecayOnce(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	user := db.NewUser(t).ID
	exec1(t, admin, "insert into psychology_layers (user_id, layer_number, last_reinforced) select $1, n, now() - interval '10 days' from generate_series(1, 7) n", user)
	run := func(args ...string) (string, string, int) {
		return command(t, db.URL("postgres"), "", []string{"HELIX_DECAY_SCHEDULE=off"}, append([]string{"decay"}, args...)...)
	}
	progress := regexp.MustCompile(`(?m)^\d+ chunks, .*\n`) // of what takes more than a second
	for _, want := range []string{`^7 rows looked at, 7 written, in \d`, `^7 rows looked at, 0 written, in \d`} {
		if out, errs, status := run("--once"); status != 0 || progress.ReplaceAllString(errs, "") != "" || !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("exit status %d: %s%s", status, out, errs)
		}
	}
	if got := get[float64](t, admin, "select decay_rate from psychology_layers where layer_number = 5"); math.Abs(got-math.Exp(-1)) > 1e-3 {
		t.Errorf("after 240 of 240 hours layer 5 is %g", got)
	}
	for _, args := range [][]string{{}, {"--once", "now"}, {"--twice"}} {
		if out, errs, status := run(args...); status != 2 || out != "" || !strings.Contains(errs, "helixd:") {
			t.Errorf("%q: exit status %d: %s%s", args, status, out, errs)
		}
	}
	if out, _, status := run("--help"); status != 0 || !strings.Contains(out, "more than 0.01 off") || !strings.Contains(out, "Exit status") ||
		!strings.Contains(out, "--decay-schedule") || strings.Contains(out, "--voice-url") || !strings.Contains(out, "for all settings") {
		t.Errorf("exit status %d: %s", status, out)
	}
	exec1(t, admin, `create function pin() returns trigger language plpgsql as $$ begin raise exception 'pinned'; end $$`)
	exec1(t, admin, "update psychology_layers set last_reinforced = now() - interval '100 days'")
	exec1(t, admin, "create trigger pin before update on psychology_layers for each row execute function pin()")
	if out, errs, status := run("--once"); status != 1 || !strings.Contains(errs, " could not be written") || !strings.Contains(out, " 0 written") {
		t.Errorf("rows that are refused: exit status %d: %s%s", status, out, errs)
	}
}

func TestDecaySettings(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{
		"HELIX_DECAY_SCHEDULE=0 * * * *":             "the first of six is seconds",
		"HELIX_DECAY_SCHEDULE=hourly":                `such as "0 0 * * * *"`,
		"HELIX_DECAY_SCHEDULE=0 0 0 31 2 *":          "never due",
		"HELIX_DECAY_SCHEDULE=CRON_TZ=Europe/Berlin": "a time zone alone",
	} {
		p := start(t, "postgresql://h/d", []string{setting}, "run")
		if status := p.wait(t); status != 2 || !strings.Contains(p.log.String(), want) || !strings.Contains(p.log.String(), "--decay-schedule") {
			t.Errorf("%s: exit status %d, and %q is not in:\n%s", setting, status, want, p.log)
		}
	}
}

// TestDecayRuns: helixd run makes the layers of who has a memory, and updates them by
// its schedule; status says when.
func TestDecayRuns(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	p := start(t, db.URL("postgres"), []string{"HELIX_DECAY_SCHEDULE=* * * * * *"}, "run", "--slot", db.SlotName("decay"))
	app := db.AsUser(t, db.NewUser(t).ID)
	exec1(t, app, "insert into memories (content, created_at) values ('m', '2024-01-01')")
	until(t, "the layers and the retention", func() bool {
		return get[bool](t, app, "select (select count(*) from psychology_layers) = 7 and (select count(*) from memory_retention) = 1")
	})
	exec1(t, admin, "update psychology_layers set last_reinforced = now() - interval '720 hours' where layer_number = 1")
	until(t, "a tick", func() bool {
		return get[bool](t, app, "select abs(decay_rate - .5) < .01 from psychology_layers where layer_number = 1")
	})
	until(t, "status", func() bool {
		return get[bool](t, app, "select coalesce(bool_or(healthy and details ->> 'last_tick_at' is not null and details ->> 'next_tick_at' is not null), false) from helix_status where reactor = 'decay'")
	})
	if out, errs, status := command(t, db.URL("postgres"), "", nil, "decay", "--once"); status != 0 || !strings.Contains(out, "7 rows looked at") {
		t.Errorf("beside helixd run: exit status %d: %s%s", status, out, errs)
	}
	p.stop(t)
}
