package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/helixd/helixd/testenv"
)

const (
	skillUsers   = 20
	skillsOfUser = 5 // of which two are WebAssembly
	skillRate    = 200
	warmRate     = 50
	skillTime    = 20 * time.Second
	burnRuns     = 10_000
)

// skillSource is a tool of a few lines; each has a number, so that no two are
// the same code.
const skillSource = `export default function (input) {
  const words = input.text.toLowerCase().split(/\s+/);
  const counts = {};
  for (const w of words) counts[w] = (counts[w] ?? 0) + 1;
  return { skill: %d, words: words.length, counts };
}`

const skillInput = `{"text": "the quick brown fox jumps over the lazy dog and the dog sleeps"}`

// wasmSkill is the example that is WebAssembly.
func (b *bench) wasmSkill(ctx context.Context) ([]byte, error) {
	dir, err := b.source(ctx)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, "examples", "skills", "wordcount", "wordcount.wasm"))
}

// numbered adds a custom section to a module: other code to whoever asks for its
// digest, the same to whoever runs it.
func numbered(module []byte, n int) []byte {
	name := fmt.Sprintf("bench %06d", n)
	section := append([]byte{0, byte(len(name) + 1), byte(len(name))}, name...)
	return append(append([]byte{}, module...), section...)
}

// skillBench is a project with helixd and skills in it.
type skillBench struct {
	*bench
	db   *testenv.Database
	conn *pgx.Conn
	d    *daemon
}

// skills measures from the commit of a run's row to that of its result, by the
// server's own times as latency does, and how fast a backlog is worked off.
func skills(ctx context.Context, b *bench) error {
	db, conn, drop, err := b.project(ctx, "skills")
	if err != nil {
		return err
	}
	defer drop()
	s := &skillBench{bench: b, db: db, conn: conn}
	if err := s.marks(ctx); err != nil {
		return err
	}
	if s.d, err = b.start(ctx, db.URL("postgres")); err != nil {
		return err
	}
	if err := s.d.streaming(ctx); err != nil {
		return err
	}
	if err := s.makeSkills(ctx); err != nil {
		return err
	}
	b.say("  each skill once, so that it is warm")
	if err := s.run(ctx, "warm", skillRate, skillUsers*skillsOfUser, skillUsers); err != nil {
		return err
	}
	const section = "skills, commit to commit"
	for _, phase := range []struct {
		name            string
		rate, users     int
		median, highest float64 // targets in ms
	}{
		{"mixed", skillRate, skillUsers, 20, 80},
		{"one warm user", warmRate, 1, 15, 50},
	} {
		b.say("  %s: %d runs a second for %s", phase.name, phase.rate, skillTime)
		if err := settle(ctx, db); err != nil {
			return err
		}
		if err := s.run(ctx, phase.name, phase.rate, phase.rate*int(skillTime.Seconds()), phase.users); err != nil {
			return err
		}
		times, err := s.latencies(ctx, phase.name)
		if err != nil {
			return err
		}
		what := fmt.Sprintf("%s, %d a second, ", phase.name, phase.rate)
		b.report.add(
			newFigure(section, what+"p50", "ms", quantile(times, 0.5)).below(phase.median),
			newFigure(section, what+"p95", "ms", quantile(times, 0.95)),
			newFigure(section, what+"p99", "ms", quantile(times, 0.99)).below(phase.highest),
			newFigure(section, what+"max", "ms", quantile(times, 1)))
	}
	b.say("  a backlog of %d JavaScript runs", burnRuns)
	persecond, err := s.burn(ctx, "burn", burnRuns)
	if err != nil {
		return err
	}
	peak, err := s.d.stop()
	if err != nil {
		return err
	}
	b.report.add(
		newFigure("skills, a backlog", "JavaScript", "runs/s", persecond).atLeast(1000),
		newFigure("skills, a backlog", "  peak RSS of the daemon", "MB", peak))
	return nil
}

// marks makes what says when a user wrote a run, whose row helixd writes again.
func (s *skillBench) marks(ctx context.Context) error {
	_, err := s.conn.Exec(ctx, `create table public.bench_marks (run uuid primary key, phase text not null);
		grant insert on public.bench_marks to authenticated`)
	return err
}

// makeSkills gives each user five, and waits until all are ready.
func (s *skillBench) makeSkills(ctx context.Context) error {
	module, err := s.wasmSkill(ctx)
	if err != nil {
		return err
	}
	batch := &pgx.Batch{}
	for n := range skillUsers * skillsOfUser {
		if n%skillsOfUser < 2 {
			batch.Queue("insert into public.skills (id, user_id, name, kind, wasm_bytecode) values ("+skillID("$1::int")+", "+userID("$1::int / 5")+", 'bench', 'wasm', $2)",
				n, numbered(module, n))
			continue
		}
		batch.Queue("insert into public.skills (id, user_id, name, kind, source) values ("+skillID("$1::int")+", "+userID("$1::int / 5")+", 'bench', 'javascript', $2)",
			n, fmt.Sprintf(skillSource, n))
	}
	if err := s.conn.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	return s.d.until(ctx, 50*time.Millisecond, func() (done bool, err error) {
		var invalid int
		var why *string
		err = s.conn.QueryRow(ctx, "select count(*) filter (where status = 'pending') = 0, count(*) filter (where status = 'invalid'), min(error::text) from skills").
			Scan(&done, &invalid, &why)
		if err == nil && invalid > 0 {
			err = fmt.Errorf("%d skills are invalid: %s", invalid, *why)
		}
		return done, err
	})
}

// skillID is the SQL of the n-th skill's id; n is SQL too.
func skillID(n string) string {
	return fmt.Sprintf("('00000000-0000-4000-9000-' || lpad((%s)::text, 12, '0'))::uuid", n)
}

// run inserts runs at a rate, of users and their skills in turn, and waits for
// their results.
func (s *skillBench) run(ctx context.Context, phase string, rate, total, users int) error {
	group, groupCtx := errgroup.WithContext(ctx)
	turns := make(chan int, total)
	for range sessions {
		conn, err := signedIn(ctx, s.db, nil)
		if err != nil {
			return err
		}
		group.Go(func() error {
			defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is pending
			for i := range turns {
				user, skill := i%users, i/users%skillsOfUser
				if _, err := conn.Exec(groupCtx, "select "+setUser("$1::int"), user); err != nil {
					return err
				}
				_, err := conn.Exec(groupCtx, "with r as (insert into skill_runs (skill_id, input) values ("+skillID("$1::int")+`, $2) returning id)
					insert into bench_marks select id, $3 from r`, user*skillsOfUser+skill, skillInput, phase)
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	began := time.Now()
	for i := range total {
		select {
		case <-time.After(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(rate)))):
		case <-groupCtx.Done():
			close(turns)
			return group.Wait()
		}
		turns <- i
	}
	close(turns)
	if err := group.Wait(); err != nil {
		return err
	}
	return s.succeeded(ctx, phase, total)
}

// succeeded waits until all runs of a phase have; one that has not is an error.
func (s *skillBench) succeeded(ctx context.Context, phase string, total int) error {
	err := s.d.until(ctx, 100*time.Millisecond, func() (done bool, err error) {
		err = s.conn.QueryRow(ctx, "select not exists (select from skill_runs where status = 'queued') and not exists (select from skill_runs where status = 'running')").Scan(&done)
		return done, err
	})
	if err != nil {
		return err
	}
	var good int
	var why *string
	err = s.conn.QueryRow(ctx, `select count(*) filter (where status = 'succeeded'), min(error::text)
		from bench_marks join skill_runs on id = run where phase = $1`, phase).Scan(&good, &why)
	if err == nil && good != total {
		err = fmt.Errorf("%d of %d runs succeeded: %v", good, total, why)
	}
	return err
}

// latencies gives milliseconds from the commit of each run to that of its result.
func (s *skillBench) latencies(ctx context.Context, phase string) ([]float64, error) {
	rows, err := s.conn.Query(ctx, `with t as (
			select pg_xact_commit_timestamp(m.xmin) as written, pg_xact_commit_timestamp(r.xmin) as finished
			from bench_marks m join skill_runs r on r.id = m.run where phase = $1)
		select extract(epoch from finished - written)::float8 * 1000 from t
		where written > (select min(written) from t) + make_interval(secs => $2)`, phase, warmUp.Seconds())
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[float64])
}

// burn gives how many runs a second are worked off, from the commit that
// inserted them all until the last result's.
func (s *skillBench) burn(ctx context.Context, phase string, runs int) (float64, error) {
	_, err := s.conn.Exec(ctx, `with r as (
			insert into skill_runs (user_id, skill_id, input)
			select `+userID("i % 20")+`, `+skillID("i % 20 * 5 + 2 + i / 20 % 3")+`, $2
			from generate_series(0, $1 - 1) i returning id)
		insert into bench_marks select id, $3 from r`, runs, skillInput, phase)
	if err != nil {
		return 0, err
	}
	if err := s.succeeded(ctx, phase, runs); err != nil {
		return 0, err
	}
	var took float64
	err = s.conn.QueryRow(ctx, `select extract(epoch from max(pg_xact_commit_timestamp(r.xmin)) - min(pg_xact_commit_timestamp(m.xmin)))::float8
		from bench_marks m join skill_runs r on r.id = m.run where phase = $1`, phase).Scan(&took)
	return float64(runs) / took, err
}
