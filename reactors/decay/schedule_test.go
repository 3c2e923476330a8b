package decay_test

import (
	"strings"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/decay"
)

func TestSchedule(t *testing.T) {
	at := time.Date(2026, 3, 28, 23, 59, 30, 0, time.UTC)
	for text, want := range map[string]string{
		decay.DefaultSchedule:                  "2026-03-29T00:00:00Z",
		"  0 */50 * * * * ":                    "2026-03-29T00:00:00Z",
		"*/10 * * * * *":                       "2026-03-28T23:59:40Z",
		"@hourly":                              "2026-03-29T00:00:00Z",
		"@every 50m":                           "2026-03-29T00:49:30Z",
		"0 30 3 * * *":                         "2026-03-29T03:30:00Z",
		"CRON_TZ=Europe/Berlin 0 30 3 * * *":   "2026-03-29T01:30:00Z", // it is summer there by then
		"TZ=America/New_York 0 0 12 1 JAN *":   "2027-01-01T17:00:00Z",
		"CRON_TZ=Europe/Berlin 15 0 0 * * SUN": "2026-04-04T22:00:15Z",
	} {
		s, err := decay.ParseSchedule(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := s.Next(at).UTC().Format(time.RFC3339); got != want || s.String() != strings.TrimSpace(text) {
			t.Errorf("%q (%s) is due at %s, want %s", text, s, got, want)
		}
		if next := s.Next(at); s.Ahead(at) != next.Sub(at) {
			t.Errorf("%q: the next tick is %s ahead", text, s.Ahead(at))
		}
	}
	for text, want := range map[string]string{
		"":                          "expected",
		"0 * * * *":                 "six is seconds: 0 0 * * * *",
		"0 0 0 30 2 *":              "never due",
		"61 * * * * *":              "above maximum",
		"hourly":                    "expected",
		"CRON_TZ=Europe/Berlin":     "time zone alone",
		"TZ=Nowhere/At 0 0 * * * *": "time zone",
		"CRON_TZ= 0 0 0 * * * *":    "expected",
		"* * * * * * *":             "expected",
		"@every":                    "",
		"@every never":              "",
	} {
		if s, err := decay.ParseSchedule(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want %q", text, s, err, want)
		}
	}
	off, err := decay.ParseSchedule("off")
	if err != nil || !off.Next(at).IsZero() || off.String() != decay.Off || off.Ahead(at) != time.Hour {
		t.Errorf("off: %v, %v", off, err)
	}
}

// FuzzSchedule: no schedule panics, and one that is taken goes on.
func FuzzSchedule(f *testing.F) {
	for _, s := range []string{decay.DefaultSchedule, "@every 50m", "CRON_TZ=Europe/Berlin 0 0 0 * * *", "TZ=", "CRON_TZ= ", "*/0 * * * * *", "TZ=UTC"} {
		f.Add(s)
	}
	at := time.Date(2026, 3, 28, 23, 59, 30, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := decay.ParseSchedule(text)
		if err != nil || s.String() == decay.Off {
			return
		}
		if next := s.Next(at); !next.IsZero() && !next.After(at) {
			t.Errorf("%q after %s is due at %s", text, at, next)
		}
	})
}
