package decay_test

import (
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/decay"
	"github.com/helixd/helixd/reactors/reactortest"
)

// work lets a process's worth of ticks be done, until stop or the test's end.
func (p *project) work(t testing.TB, schedule string) (service *decay.Service, stop func()) {
	t.Helper()
	s, err := decay.ParseSchedule(schedule)
	if err != nil {
		t.Fatal(err)
	}
	service = decay.NewService(s, p.pool, time.Now, zerolog.New(zerolog.NewTestWriter(t)))
	return service, reactortest.Work(t, p.pool, reactors.With(service))
}

const waiting = `from helix.river_job where kind = 'decay_tick' and state in ('available', 'pending', 'scheduled', 'retryable', 'running')`

// TestScheduled: a process that is new ticks at once and then when it is due; what
// restarts changes nothing, and however long nobody was there, it ticks once.
func TestScheduled(t *testing.T) {
	p := newProject(t)
	p.layers(t, 2)
	const schedule = "0 0 0 1 1 *" // once a year
	service, stop := p.work(t, schedule)
	p.until(t, "the first tick", "select count(*) = 1 from helix.decay")
	next := func() {
		t.Helper()
		p.until(t, "the next", "select count(*) = 1 and bool_and(state = 'scheduled' and scheduled_at = date_trunc('year', now() at time zone 'utc' + interval '1 year') at time zone 'utc') "+waiting)
	}
	next()
	p.exact(t, time.Now(), "true")
	ticked := get[time.Time](t, p.admin, "select ticked_at from helix.decay")
	name, details := service.Details()
	if name != "decay" || details["healthy"] != true || details["schedule"] != schedule {
		t.Errorf("%s: %v", name, details)
	}
	stop()
	for range 2 {
		service, stop = p.work(t, schedule)
		next()
		_, details = service.Details()
		if last, _ := details["last_tick_at"].(*time.Time); last == nil || !last.Equal(ticked) || *details["rows"].(*int64) != 14 {
			t.Errorf("after a restart: %v", details)
		}
		stop()
	}
	if !get[bool](t, p.admin, "select ticked_at = $1 from helix.decay", ticked) {
		t.Error("a restart has ticked")
	}

	// Two years in which nobody was there, once with the job that waits and once
	// without: a new one is made from when the last tick was.
	for _, lost := range []string{"update helix.river_job set scheduled_at = now() - interval '2 years' where kind = 'decay_tick' and state = 'scheduled'",
		"delete from helix.river_job where kind = 'decay_tick'"} {
		exec(t, p.admin, "update helix.decay set ticked_at = ticked_at - interval '2 years'")
		exec(t, p.admin, lost)
		before := get[int](t, p.admin, "select count(*) from helix.river_job where kind = 'decay_tick' and state = 'completed'")
		_, stop = p.work(t, schedule)
		p.until(t, "the tick that was missed", "select ticked_at > now() - interval '1 hour' from helix.decay")
		next()
		stop()
		if got := get[int](t, p.admin, "select count(*) from helix.river_job where kind = 'decay_tick' and state = 'completed'"); got != before+1 {
			t.Errorf("%d ticks for those that were missed", got-before)
		}
	}

	// A clock was ahead when it ticked last.
	exec(t, p.admin, "update helix.decay set ticked_at = ticked_at + interval '2 years'")
	exec(t, p.admin, "update helix.river_job set scheduled_at = scheduled_at + interval '2 years' where kind = 'decay_tick' and state = 'scheduled'")
	_, stop = p.work(t, schedule)
	next()
	stop()
	exec(t, p.admin, "delete from helix.river_job where kind = 'decay_tick' and state = 'scheduled'")
	_, stop = p.work(t, schedule)
	p.until(t, "a tick by the clock that is right", "select ticked_at between now() - interval '1 hour' and now() from helix.decay")
	next()
	stop()

	// Another schedule takes its place, and off leaves none.
	_, stop = p.work(t, "@every 1000h")
	p.until(t, "the other schedule", "select count(*) = 1 and bool_and(args ->> 'schedule' = '@every 1000h' and scheduled_at < now() + interval '1001 hours') "+waiting)
	stop()
	service, stop = p.work(t, "off")
	p.until(t, "no tick", "select count(*) = 0 "+waiting)
	if _, details := service.Details(); details["healthy"] != true || details["schedule"] != "off" {
		t.Errorf("off: %v", details)
	}
	stop()
}

// TestEverySecond: ticks follow each other, of two processes one at a time.
func TestEverySecond(t *testing.T) {
	p := newProject(t)
	p.layers(t, 1)
	p.work(t, "* * * * * *")
	p.work(t, "* * * * * *")
	p.until(t, "three ticks", "select count(*) >= 3 from helix.river_job where kind = 'decay_tick' and state = 'completed'")
	if n := get[int](t, p.admin, "select count(*) from helix.river_job a join helix.river_job b on a.id < b.id and a.kind = b.kind and a.scheduled_at = b.scheduled_at where a.kind = 'decay_tick'"); n != 0 {
		t.Errorf("%d ticks came twice", n)
	}
}

// TestFailingTick: it is told, and tried again.
func TestFailingTick(t *testing.T) {
	p := newProject(t)
	p.layers(t, 1)
	exec(t, p.admin, "alter table psychology_layers rename column decay_params to hidden")
	_, stop := p.work(t, "@every 1000h")
	p.until(t, "the failure", "select count(*) = 1 and bool_and(state = 'retryable' and scheduled_at between now() and now() + interval '2 minutes') "+waiting)
	stop()
	service, stop := p.work(t, "@every 1000h")
	if _, details := service.Details(); details["healthy"] != false {
		t.Errorf("after a failure: %v", details)
	}
	stop()
	exec(t, p.admin, "alter table psychology_layers rename column hidden to decay_params")
	exec(t, p.admin, "update helix.river_job set scheduled_at = now() where kind = 'decay_tick' and state = 'retryable'")
	p.work(t, "@every 1000h")
	p.until(t, "the tick", "select count(*) = 1 from helix.decay")
}
