package main_test

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"github.com/helixd/helixd/testenv"
)

// insertWalks makes 30 memories of two kinds, without embeddings.
const insertWalks = `insert into memories (user_id, content, created_at)
	select $1, (array['walked along the quiet river with the old dog', 'baked bread with flour, yeast and salt'])[1 + n % 2] || ' ' || n,
		now() - n * interval '7 hours' from generate_series(1, 30) n`

// TestSynthesize: by hand, with and without helixd run beside it.
func TestSynthesize(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	user := db.NewUser(t).ID
	run := func(args ...string) (string, string, int) {
		return command(t, db.URL("postgres"), "", nil, append([]string{"synthesize"}, args...)...)
	}
	t.Run("of a user without memories", func(t *testing.T) {
		if out, errs, status := run("--user", user); status != 0 || out != "" || !strings.HasPrefix(errs, "0 patterns in 0 memories, written") {
			t.Errorf("exit status %d: %s%s", status, out, errs)
		}
	})
	exec1(t, admin, insertWalks, user)
	t.Run("a dry run writes nothing", func(t *testing.T) {
		out, errs, status := run("--user", user, "--dry-run")
		if status != 0 || !strings.Contains(out, "semantic_cluster") || !strings.Contains(out, "river") || !strings.Contains(errs, "in 30 memories, not written") {
			t.Errorf("exit status %d: %s%s", status, out, errs)
		}
		if n := get[int](t, admin, "select count(*)::int from memory_synthesis"); n != 0 {
			t.Errorf("%d rows", n)
		}
	})
	t.Run("prints what it writes", func(t *testing.T) {
		out, errs, status := run("--user", user, "--json")
		if status != 0 || !strings.Contains(errs, "written to memory_synthesis") {
			t.Fatalf("exit status %d: %s%s", status, out, errs)
		}
		for line := range strings.Lines(out) {
			var p struct {
				Type    string   `json:"pattern_type"`
				Members []string `json:"memory_ids"`
			}
			if err := json.Unmarshal([]byte(line), &p); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if !get[bool](t, admin, "select exists (select from memory_synthesis where user_id = $1 and pattern_type = $2 and memory_ids = $3::text[]::uuid[])", user, p.Type, p.Members) {
				t.Errorf("not written: %s", line)
			}
		}
		if n, rows := strings.Count(out, "\n"), get[int](t, admin, "select count(*)::int from memory_synthesis"); n < 2 || n != rows {
			t.Errorf("%d patterns, %d rows", n, rows)
		}
	})
	t.Run("fewer memories, and surer patterns", func(t *testing.T) {
		if out, errs, status := run("--user", user, "--limit", "2", "--confidence", "0.99"); status != 0 || out != "" || !strings.HasPrefix(errs, "0 patterns in 2 memories") {
			t.Errorf("exit status %d: %s%s", status, out, errs)
		}
		if n := get[int](t, admin, "select count(*)::int from memory_synthesis"); n != 0 {
			t.Errorf("%d rows of patterns that are gone", n)
		}
	})
	t.Run("each method", func(t *testing.T) {
		for _, method := range []string{"graph", "hdbscan", "dbscan", "kmeans"} {
			if out, errs, status := run("--user", user, "--synthesis-method", method, "--dry-run"); status != 0 || !strings.Contains(out, "semantic_cluster") {
				t.Errorf("%s: exit status %d: %s%s", method, status, out, errs)
			}
		}
	})
	t.Run("wrong use is refused", func(t *testing.T) {
		for _, test := range []struct {
			args []string
			want string
		}{
			{nil, "--user: say whose memories"},
			{[]string{"--user", "me"}, `--user "me"`},
			{[]string{"--user", "6f1c2a52-0c5f-4a57-9a9f-0a3f5a1d7c11"}, "there is no such user"},
			{[]string{"--user", user, "--limit", "-1"}, "--limit -1"},
			{[]string{"--user", user, "--limit", "0"}, "--limit 0"},
			{[]string{"--user", user, "--confidence", "1.5"}, "--confidence 1.5"},
			{[]string{"--user", user, "--synthesis-method", "magic"}, "--synthesis-method"},
		} {
			if out, errs, status := run(test.args...); status != 2 || out != "" || !strings.Contains(errs, test.want) {
				t.Errorf("%v: exit status %d: %s%s", test.args, status, out, errs)
			}
		}
	})
	t.Run("helixd run does it by itself", func(t *testing.T) {
		p := start(t, db.URL("postgres"), []string{"HELIX_SLOT=" + db.SlotName("helix"), "HELIX_SYNTHESIS_DELAY=50ms"}, "run")
		until(t, "a pattern", func() bool {
			return get[bool](t, admin, "select exists (select from memory_synthesis where user_id = $1 and pattern_type = 'semantic_cluster')", user)
		})
		exec1(t, admin, "delete from memories where user_id = $1", user)
		until(t, "the patterns to go", func() bool {
			return get[bool](t, admin, "select not exists (select from memory_synthesis where user_id = $1)", user)
		})
		p.stop(t)
	})
}

// TestSynthesisSurvivesKill: helixd is killed, or frozen until another one has gone
// on, at each step of a synthesis; each pattern is written once, and none is left
// of memories that are gone.
func TestSynthesisSurvivesKill(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	slot := db.SlotName("helix")
	run := func(failpoint string) *process {
		return start(t, db.URL("postgres"), []string{"HELIX_FAILPOINT=" + failpoint, "HELIX_SYNTHESIS_DELAY=50ms"}, "run", "--slot", slot)
	}
	exec1(t, admin, `create table ends (id uuid, op text);
		create function note_end() returns trigger language plpgsql security definer as $$ begin
			insert into public.ends select coalesce(new.id, old.id), tg_op; return null; end $$;
		create trigger note_end after insert or update or delete on memory_synthesis for each row execute function note_end()`)
	var users []string
	for _, point := range []string{"synthesis-begun", "synthesis-detected", "synthesis-written"} {
		user := db.NewUser(t).ID
		users = append(users, user)
		p := run(point)
		exec1(t, admin, insertWalks, user)
		p.wait(t)
	}
	for _, point := range []string{"synthesis-begun:1:stop", "synthesis-detected:1:stop", "synthesis-written:1:stop"} {
		user := db.NewUser(t).ID
		users = append(users, user)
		frozen := run(point)
		exec1(t, admin, insertWalks, user)
		until(t, "helixd to be frozen", func() bool { return strings.Contains(frozen.log.String(), "failpoint: stopped") })
		next := run("")
		until(t, "another one to go on", func() bool {
			return get[bool](t, admin, "select exists (select from memory_synthesis where user_id = $1 and pattern_type = 'semantic_cluster')", user)
		})
		if err := frozen.Cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		frozen.stop(t)
		next.stop(t)
	}
	last := run("")
	defer last.stop(t)
	for _, user := range users {
		until(t, "the patterns", func() bool {
			return get[bool](t, admin, "select count(*) >= 2 from memory_synthesis where user_id = $1 and pattern_type = 'semantic_cluster'", user)
		})
	}
	until(t, "the jobs", func() bool {
		return get[bool](t, admin, `select not exists (select from helix.synthesis_work where due) and not exists (
			select from helix.river_job where queue = 'synthesis' and state not in ('completed', 'cancelled'))`)
	})
	if n := get[int](t, admin, "select count(*)::int from ends where op <> 'INSERT'"); n != 0 {
		t.Errorf("%d rows were written again: the memories had not changed", n)
	}
	if !get[bool](t, admin, "select count(*) = count(distinct (user_id, pattern_type, memory_ids)) from memory_synthesis") {
		t.Error("a pattern stands twice")
	}
	exec1(t, admin, "delete from memories")
	until(t, "the patterns to go", func() bool { return get[bool](t, admin, "select not exists (select from memory_synthesis)") })
}

// TestSynthesizeBesideRun: what is inserted while a synthesis by hand ends, the first
// one of that user, is synthesised after it.
func TestSynthesizeBesideRun(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	user := db.NewUser(t).ID
	p := start(t, db.URL("postgres"), []string{"HELIX_SYNTHESIS_DELAY=50ms"}, "run", "--slot", db.SlotName("helix"))
	until(t, "the stream", func() bool { return p.says(`"streaming"`) })
	byHand := start(t, db.URL("postgres"), []string{"HELIX_FAILPOINT=synthesis-written:1:stop"}, "synthesize", "--user", user)
	until(t, "the end by hand", func() bool { return byHand.says("failpoint: stopped") })
	exec1(t, admin, insertWalks, user)
	until(t, "the apply to wait", func() bool {
		return get[bool](t, admin, `select exists (select from pg_stat_activity where datname = current_database()
			and wait_event_type = 'Lock' and query like '%synthesis_work%')`)
	})
	byHand.signal(t, syscall.SIGCONT)
	if status := byHand.wait(t); status != 0 {
		t.Errorf("exit status %d", status)
	}
	until(t, "a pattern", func() bool { return get[bool](t, admin, "select exists (select from memory_synthesis)") })
	p.stop(t)
}

// TestSynthesesWait: as many as may run at a time, all waiting for an apply, leave
// this process a connection to say that it lives.
func TestSynthesesWait(t *testing.T) {
	t.Parallel()
	const concurrency = 8
	db := testenv.New(t)
	admin := migrated(t, db)
	for range concurrency {
		db.NewUser(t)
	}
	exec1(t, admin, "insert into helix.synthesis_work (user_id, due) select id, true from auth.users")
	apply := db.Connect(t, "postgres")
	exec1(t, apply, "begin")
	exec1(t, apply, "select from helix.synthesis_work for update")
	p := start(t, db.URL("postgres"), []string{"HELIX_SYNTHESIS_CONCURRENCY=8"}, "run", "--role", "worker")
	until(t, "all to wait", func() bool {
		return get[bool](t, admin, `select count(*) = $1 from pg_stat_activity where datname = current_database()
			and wait_event_type = 'Lock' and query like '%synthesis_work%'`, concurrency)
	})
	since := get[string](t, admin, "select clock_timestamp()::text")
	until(t, "signs of life", func() bool {
		return get[bool](t, admin, "select count(*) = 1 and bool_and(heartbeat_at > $1::timestamptz) from helix.workers", since)
	})
	exec1(t, apply, "rollback")
	until(t, "the jobs", func() bool {
		return get[bool](t, admin, "select not exists (select from helix.river_job where queue = 'synthesis' and state <> 'completed')")
	})
	p.stop(t)
}
