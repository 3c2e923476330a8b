package main_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/reactors/usage"
	"github.com/helixd/helixd/testenv"
)

func TestUsage(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	migrated(t, db)
	pool, err := pgxpool.New(t.Context(), db.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	run := func(env []string, args ...string) (string, string, int) {
		return command(t, db.URL("postgres"), "", env, append([]string{"usage"}, args...)...)
	}
	// Days that nobody's midnight can move.
	day := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	days := []string{"--from", "2026-03-14", "--to", "2026-03-15"}
	alice, bob := uuid.MustParse(db.NewUser(t).ID), uuid.MustParse(db.NewUser(t).ID)

	t.Run("Empty", func(t *testing.T) {
		out, errs, status := run(nil, days...)
		if status != 0 || errs != "" || !strings.Contains(out, "Nothing was asked of a provider from 2026-03-14 to 2026-03-15.") ||
			!strings.Contains(out, "HELIX_LLM_USER_DAILY_TOKENS") || strings.Contains(out, "total") {
			t.Errorf("exit status %d: %s%s", status, out, errs)
		}
	})

	prices, err := usage.ParsePrices("anthropic=3/15")
	if err != nil {
		t.Fatal(err)
	}
	books := usage.NewLedger(pool, nil, prices)
	ask := func(at time.Time, user uuid.UUID, purpose, provider string, in, out int64) {
		t.Helper()
		books.Now = func() time.Time { return at }
		h, err := books.Hold(t.Context(), user, purpose, provider, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if in+out > 0 {
			err = h.Settle(t.Context(), in, out)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	ask(day, alice, "analysis", "anthropic opus", 100_000, 10_000)
	ask(day, bob, "analysis", "anthropic opus", 200_000, 20_000)
	ask(day, bob, "skill", "anthropic opus", 1, 1)
	ask(day.AddDate(0, 0, 1), bob, "analysis", "own \x1b[31mserver", 500, 50)
	ask(day.AddDate(0, 0, 1), bob, "analysis", "anthropic opus", 0, 0)
	books.Now = func() time.Time { return day }
	released, err := books.Hold(t.Context(), bob, "embedding", "never asked", 5)
	if err != nil {
		t.Fatal(err)
	}
	if err := released.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	ask(day.AddDate(0, 0, 2), bob, "analysis", "anthropic opus", 7, 7) // outside

	table := func(out string) string {
		out, _, _ = strings.Cut(out, "\n\n")
		return regexp.MustCompile(` +`).ReplaceAllString(out, " ")
	}
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"DayProvider": {nil, "day provider requests input output unsettled USD\n" +
			"2026-03-14 anthropic opus 3 300001 30001 0 1.3500\n" +
			"2026-03-15 anthropic opus 1 0 0 1000 0.0000\n" +
			"2026-03-15 own ?[31mserver 1 500 50 0 ?\n" +
			"total 5 300501 30051 1000 >1.3500"},
		"Purpose": {[]string{"--by", "purpose"}, "purpose requests input output unsettled USD\nanalysis 4 300500 30050 1000 >1.3500\nskill 1 1 1 0 0.0000\ntotal 5 300501 30051 1000 >1.3500"},
		"OneUser": {[]string{"--user", alice.String(), "--by", "provider,day"}, "provider day requests input output USD\nanthropic opus 2026-03-14 1 100000 10000 0.4500\ntotal 1 100000 10000 0.4500"},
	} {
		t.Run(name, func(t *testing.T) {
			out, errs, status := run(nil, append(tt.args, days...)...)
			if got := table(out); status != 0 || errs != "" || got != tt.want {
				t.Errorf("exit status %d: %s\n%s\nwant\n%s", status, errs, got, tt.want)
			}
			if name != "OneUser" && (!strings.Contains(out, "Of 550 tokens no price is known: set HELIX_LLM_PRICE") || !strings.Contains(out, "Unsettled are")) {
				t.Errorf("the notes are missing:\n%s", out)
			}
		})
	}
	t.Run("Users", func(t *testing.T) {
		users := func(lines ...string) string {
			return "user requests input output unsettled USD\n" + strings.Join(lines, "\n") + "\ntotal 5 300501 30051 1000 >1.3500"
		}
		bobs := bob.String() + " 4 200501 20051 1000 >0.9000"
		both := []string{alice.String() + " 1 100000 10000 0 0.4500", bobs}
		if alice.String() > bob.String() {
			both[0], both[1] = both[1], both[0]
		}
		if out, errs, status := run(nil, append([]string{"--by", "user"}, days...)...); table(out) != users(both...) {
			t.Errorf("exit status %d: %s%s", status, out, errs)
		}
		db.Exec(t, "supabase_auth_admin", "delete from auth.users where id = $1", alice)
		gone := []string{bobs, "deleted accounts 1 100000 10000 0 0.4500"}
		if bob.String() > "deleted accounts" {
			gone[0], gone[1] = gone[1], gone[0]
		}
		if out, errs, status := run(nil, append([]string{"--by", "user"}, days...)...); table(out) != users(gone...) {
			t.Errorf("exit status %d: %s%s", status, out, errs)
		}
	})
	t.Run("JSON", func(t *testing.T) {
		out, errs, status := run(nil, append([]string{"--json", "--by", "provider"}, days...)...)
		var report struct {
			From   string
			Lines  []usage.Line
			Total  usage.Line
			Limits []usage.Limit `json:"limits_today"`
		}
		if err := json.Unmarshal([]byte(out), &report); err != nil || status != 0 {
			t.Fatalf("%v: exit status %d: %s%s", err, status, out, errs)
		}
		if report.From != "2026-03-14" || len(report.Lines) != 2 || report.Lines[1].Cost != nil || report.Total.Requests != 5 ||
			report.Total.Cost == nil || report.Total.Cost.String() != "1.350018" || len(report.Limits) != 6 {
			t.Errorf("%s", out)
		}
	})
	t.Run("Budgets", func(t *testing.T) {
		books.Now = time.Now
		h, err := books.Hold(t.Context(), bob, "skill", "anthropic opus", 60)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Settle(t.Context(), 50, 10); err != nil {
			t.Fatal(err)
		}
		env := []string{"HELIX_LLM_DAILY_TOKENS=100", "HELIX_LLM_USER_DAILY_TOKENS=66", "HELIX_LLM_USER_DAILY_REQUESTS=0", "HELIX_LLM_PRICE=5/5"}
		out, errs, status := run(env)
		flat := table(strings.ReplaceAll(out, "\n\n", "\n"))
		for _, want := range []string{"HELIX_LLM_DAILY_TOKENS all users 60 90 100 60%\n", "HELIX_LLM_USER_DAILY_TOKENS who used most 60 59 66 spent\n",
			"HELIX_LLM_DAILY_REQUESTS all users 1 1800 2000 0%\n", "HELIX_EMBEDDINGS_DAILY_TOKENS all users 0 9000000 10000000 0%\n"} {
			if !strings.Contains(flat, want) {
				t.Errorf("exit status %d: %q is not in %s%s", status, want, out, errs)
			}
		}
		if strings.Contains(flat, "HELIX_LLM_USER_DAILY_REQUESTS") {
			t.Errorf("a limit that is none: %s", out)
		}
	})
	t.Run("Help", func(t *testing.T) {
		if out, _, status := run(nil, "--help"); status != 0 || !strings.Contains(out, "--llm-daily-tokens") || strings.Contains(out, "--voice-url") ||
			!strings.Contains(out, "Exit status") || !strings.Contains(out, "deleted accounts") {
			t.Errorf("exit status %d: %s", status, out)
		}
	})
	for _, tt := range []struct{ arg, value, want string }{
		{"--from", "soon", "it takes a day, such as 2026-11-01"}, {"--from", "2999-01-01", "is after --to"}, {"--to", "2026-02-30", "it takes a day"},
		{"--by", "month", "it takes some of day, provider, user, purpose"}, {"--by", "day,day", "each once"}, {"--user", "bob", "it takes a user's id"},
		{"--llm-daily-tokens", "-1", "it takes a number"}, {"--llm-user-daily-requests", "1e6", "it takes a number"},
		{"--llm-price", "anthropic=cheap", "such as anthropic=3/15"}, {"--embeddings-price", "a=1,a=2", "has a price already"},
	} {
		t.Run(fmt.Sprint(tt.arg, tt.value), func(t *testing.T) {
			if out, errs, status := run(nil, tt.arg, tt.value); status != 2 || out != "" || !strings.Contains(errs, tt.want) || !strings.Contains(errs, tt.arg) {
				t.Errorf("exit status %d: %s%s", status, out, errs)
			}
		})
	}
}
