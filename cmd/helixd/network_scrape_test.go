package main_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/helixd/helixd/testenv"
)

// told is what nodes said of themselves over HTTP, and what Postgres said meanwhile. It
// is judged when all is over: then for each scrape there is what Postgres said before and
// after.
type told struct {
	db   *testenv.Database
	slot string

	stop   context.CancelFunc
	ctx    context.Context
	group  gosync.WaitGroup
	mu     gosync.Mutex
	lives  []*life
	truths []truth
	wrong  error // in reading the truth
}

// life is a process of a node, from its start to its end.
type life struct {
	node *node
	p    *process

	mu      gosync.Mutex
	scrapes []scraped
	killed  time.Time
}

// scraped is what a process said at a moment between two.
type scraped struct {
	began, ended time.Time
	values       values
	live, ready  int
	state        string // the body of /readyz

	fault   fault // that its wire had all the while
	faulted time.Time
}

// values are those of helixd's metrics, each by its name and labels as they were sent;
// of histograms the counts.
type values map[string]float64

// sum adds up a metric's series.
func (v values) sum(name string, having ...string) float64 {
	total := 0.0
series:
	for series, x := range v {
		if series != name && !strings.HasPrefix(series, name+"{") {
			continue
		}
		for _, label := range having {
			if !strings.Contains(series, label) {
				continue series
			}
		}
		total += x
	}
	return total
}

// truth is what Postgres said at a moment between two. Positions are bytes.
type truth struct {
	Began, Ended                                 time.Time
	Written, Inserted, Flushed, Kept, Checkpoint float64
	Changes, Transactions, Messages, Letters     float64
	Runs, RunsEnded                              float64
	Holder                                       string
	Heartbeat, Applied                           time.Time
}

const truthSQL = `select (pg_current_wal_lsn() - '0/0')::float8, (pg_current_wal_insert_lsn() - '0/0')::float8,
		(s.confirmed_flush_lsn - '0/0')::float8, (s.restart_lsn - '0/0')::float8, (c.lsn - '0/0')::float8, c.changes::float8, c.transactions::float8,
		(select count(*) from realtime.messages)::float8, (select count(*) from helix.dead_letters)::float8,
		(select count(*) from skill_runs)::float8, (select count(*) from skill_runs where finished_at is not null)::float8,
		l.holder, l.heartbeat_at, c.updated_at
	from pg_replication_slots s join helix.checkpoints c on c.slot = s.slot_name join helix.leaders l on l.slot = s.slot_name where s.slot_name = $1`

func readTruth(ctx context.Context, conn *pgx.Conn, slot string) (truth, error) {
	x := truth{Began: time.Now()}
	err := conn.QueryRow(ctx, truthSQL, slot).Scan(&x.Written, &x.Inserted, &x.Flushed, &x.Kept, &x.Checkpoint,
		&x.Changes, &x.Transactions, &x.Messages, &x.Letters, &x.Runs, &x.RunsEnded, &x.Holder, &x.Heartbeat, &x.Applied)
	x.Ended = time.Now()
	return x, err
}

// listen begins to read the truth, before any node runs. What River does with jobs is
// noted, since it forgets them.
func listen(t *testing.T, db *testenv.Database, slot string, admin *pgx.Conn) *told {
	t.Helper()
	exec1(t, admin, "create table job_events (kind text, holder text, what text)")
	exec1(t, admin, `create function note_job() returns trigger language plpgsql as $$ begin
		if new.attempted_by is distinct from old.attempted_by then
			insert into public.job_events values (new.kind, new.attempted_by[array_upper(new.attempted_by, 1)], 'fetched'); end if;
		if new.state = 'completed' and old.state <> 'completed' then
			insert into public.job_events values (new.kind, new.attempted_by[array_upper(new.attempted_by, 1)], 'completed'); end if;
		return null; end $$`)
	exec1(t, admin, "create trigger note_job after update on helix.river_job for each row execute function note_job()")
	x := &told{db: db, slot: slot}
	x.ctx, x.stop = context.WithCancel(context.WithoutCancel(t.Context()))
	conn := db.Connect(t, "postgres")
	t.Cleanup(x.end)
	first, err := readTruth(x.ctx, conn, slot)
	if err != nil {
		t.Fatal(err)
	}
	x.truths = []truth{first}
	x.group.Go(func() {
		tick := time.NewTicker(40 * time.Millisecond)
		defer tick.Stop()
		for x.ctx.Err() == nil {
			now, err := readTruth(x.ctx, conn, slot)
			x.mu.Lock()
			if err == nil {
				x.truths = append(x.truths, now)
			} else if x.ctx.Err() == nil {
				x.wrong = err
			}
			x.mu.Unlock()
			if err != nil {
				return
			}
			<-tick.C
		}
	})
	return x
}

// end ends all reading.
func (x *told) end() {
	x.stop()
	x.group.Wait()
}

// now gives the last truth, which began after now did.
func (x *told) now(t *testing.T) truth {
	t.Helper()
	asked := time.Now()
	var last truth
	until(t, "what Postgres says", func() bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.wrong != nil {
			t.Fatal(x.wrong)
		}
		last = x.truths[len(x.truths)-1]
		return last.Began.After(asked)
	})
	return last
}

// follow scrapes a process of a node until it has ended.
func (x *told) follow(n *node) {
	l := &life{node: n, p: n.process}
	x.mu.Lock()
	x.lives = append(x.lives, l)
	x.mu.Unlock()
	x.group.Go(func() {
		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-x.ctx.Done():
				return
			case <-l.p.Done:
				return
			case <-tick.C:
				l.scrape(x.ctx)
			}
		}
	})
}

// of gives the node's present life.
func (x *told) of(n *node) *life {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, l := range x.lives {
		if l.p == n.process {
			return l
		}
	}
	return nil
}

// kill kills the process right after a last scrape.
func (x *told) kill(n *node) {
	l := x.of(n)
	l.scrape(x.ctx)
	n.Kill()
	l.mu.Lock()
	l.killed = time.Now()
	l.mu.Unlock()
}

// last gives the last scrape, nil before the first.
func (l *life) last() *scraped {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.scrapes) == 0 {
		return nil
	}
	return &l.scrapes[len(l.scrapes)-1]
}

var named = regexp.MustCompile(`"name":"(helixd [^"]+)","time":"[^"]*","message":"helixd starts"`)

// holder is the name of the process in the database.
func (l *life) holder() string {
	if said := named.FindStringSubmatch(l.p.log.String()); said != nil {
		return said[1]
	}
	return ""
}

// scrape asks the process, if it listens already. One that has just been killed does not
// answer.
func (l *life) scrape(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	said := served.FindStringSubmatch(l.p.log.String())
	if said == nil {
		return
	}
	at := "http://127.0.0.1:" + said[1]
	how, faulted := l.node.wire.since()
	s := scraped{began: time.Now(), values: values{}}
	_, body, err := ask(ctx, at+"/metrics")
	s.ended = time.Now()
	if err != nil {
		return
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(body))
	if err != nil {
		return // it was killed in the middle of its answer
	}
	for name, family := range families {
		if !strings.HasPrefix(name, "helixd_") {
			continue
		}
		for _, series := range family.Metric {
			key := name
			for _, label := range series.Label {
				key += fmt.Sprintf("{%s=%q}", label.GetName(), label.GetValue())
			}
			s.values[key] = series.GetCounter().GetValue() + series.GetGauge().GetValue() + float64(series.GetHistogram().GetSampleCount())
		}
	}
	if s.live, _, err = ask(ctx, at+"/livez"); err != nil {
		return
	}
	if s.ready, s.state, err = ask(ctx, at+"/readyz"); err != nil {
		return
	}
	if still, since := l.node.wire.since(); still == how && since.Equal(faulted) {
		s.fault, s.faulted = how, faulted
	}
	l.scrapes = append(l.scrapes, s)
}

func ask(ctx context.Context, url string) (int, string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body), err
}
