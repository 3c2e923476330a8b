package decay

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// DefaultSchedule is every hour.
const DefaultSchedule = "0 0 * * * *"

// Off is the schedule of no ticks.
const Off = "off"

// Schedule says when layers are updated. The zero Schedule is Off.
type Schedule struct {
	text string
	cron cron.Schedule
}

var parser = cron.NewParser(cron.Second | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// ParseSchedule reads six cron fields, seconds first ("0 0 * * * *"), @hourly and
// the like, @every 50m, or off. Times are UTC but after CRON_TZ=<time zone>.
func ParseSchedule(text string) (Schedule, error) {
	text = strings.TrimSpace(text)
	if text == Off {
		return Schedule{}, nil
	}
	spec := text
	if !strings.HasPrefix(text, "CRON_TZ=") && !strings.HasPrefix(text, "TZ=") {
		spec = "CRON_TZ=UTC " + text
	} else if !strings.Contains(text, " ") {
		return Schedule{}, errors.New("it is a time zone alone") // of which the parser panics
	}
	if n := len(strings.Fields(text)); n == 5 && !strings.Contains(text, "@") && !strings.Contains(text, "TZ=") {
		return Schedule{}, errors.New("it has five fields; the first of six is seconds: 0 " + text)
	}
	parsed, err := parser.Parse(spec)
	if err != nil {
		return Schedule{}, err
	}
	s := Schedule{text, parsed}
	if s.Next(time.Unix(0, 0)).IsZero() {
		return Schedule{}, fmt.Errorf("%q is never due", text)
	}
	return s, nil
}

// String gives the schedule as it was written.
func (s Schedule) String() string {
	if s.cron == nil {
		return Off
	}
	return s.text
}

// Next gives the first time after one at which it is due, the zero time for Off.
func (s Schedule) Next(after time.Time) time.Time {
	if s.cron == nil {
		return time.Time{}
	}
	return s.cron.Next(after)
}

// Ahead is how far from a tick the next one is: what it leaves unwritten must be
// near enough until then. An hour where no schedule says.
func (s Schedule) Ahead(at time.Time) time.Duration {
	if next := s.Next(at); !next.IsZero() {
		return next.Sub(at)
	}
	return time.Hour
}
