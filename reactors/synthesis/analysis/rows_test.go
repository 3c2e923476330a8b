package analysis_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/synthesis/analysis"
)

// TestLocal: without a model package local answers, of conversations and of memories,
// and the row says so.
func TestLocal(t *testing.T) {
	b := newBench(t)
	b.work(t, analysis.DefaultConfig, nil, nil)
	b.stream(t)
	user := b.User(t)

	talks := diary("My goal is to run a marathon next year.", "The weather was grey.", "  ", "My goal is to run a marathon before I am forty.")
	job := b.order(t, user, "prospective_self", talks)
	r := b.done(t, job)
	if r.Provider != "local (no key is set)" || r.Layer == nil || *r.Layer != 4 || r.Input != 0 || r.Output != 0 {
		t.Errorf("%+v", r)
	}
	contains(t, r.Summary, "3 conversations from 2026-03-01 to 2026-03-04", "pattern")
	found := b.patterns(t, job)
	if len(found) == 0 {
		t.Fatal("no pattern")
	}
	for _, p := range found {
		if p.Layer != 4 || p.Description == "" || len(p.Evidence) == 0 {
			t.Errorf("%+v", p)
		}
		for _, id := range p.Evidence {
			if id != "talk-1" && id != "talk-4" {
				t.Errorf("%+v cites %s", p, id)
			}
		}
	}
	if texts := r.Analysis["texts"].(map[string]any); texts["given"] != 4.0 || texts["blank"] != 1.0 || texts["source"] != "conversations" {
		t.Errorf("%v", texts)
	}

	// Of memories, in a range of time, by a former name of the kind.
	b.Exec(t, `insert into memories (user_id, content, emotional_valence, created_at)
		select $1, 'My goal is to write a book ' || n, 0.5, '2026-05-01'::timestamptz + n * interval '1 day' from generate_series(0, 9) n`, user)
	job = get[uuid.UUID](t, b, "insert into memory_synthesis_jobs (user_id, synthesis_type, time_range) values ($1, 'full_synthesis', '[2026-05-03 00:00+00, 2026-05-05 00:00+00]') returning id", user)
	r = b.done(t, job)
	contains(t, r.Summary, "3 memories from 2026-05-03 to 2026-05-05")
	if layers := r.Analysis["layers"].(map[string]any); len(layers) != 7 || r.Layer != nil {
		t.Errorf("layers %v of a full synthesis whose layer is %v", layers, r.Layer)
	}
	for _, p := range b.patterns(t, job) {
		if get[int](t, b, "select count(*)::int from memories where id::text = any ($1) and created_at between '2026-05-03' and '2026-05-05'", p.Evidence) != len(p.Evidence) {
			t.Errorf("%+v cites others", p)
		}
	}

	// In ranges that end where time does.
	for _, r := range []string{"[4713-01-01 BC, 294276-12-31 23:59:59.999999]", "(2026-05-01, 294276-12-31 23:59:59.999999)", "(294276-12-31 23:59:59.999999,)", "[-infinity, infinity]"} {
		job = get[uuid.UUID](t, b, "insert into memory_synthesis_jobs (user_id, synthesis_type, time_range) values ($1, 'prospective_self', $2::text::tstzrange) returning id", user, r)
		want := "10 memories"
		if strings.HasPrefix(r, "(2026") {
			want = "9 memories"
		} else if strings.HasSuffix(r, ",)") {
			want = "nothing to analyse"
		}
		contains(t, b.done(t, job).Summary, want)
	}

	// Nothing to analyse.
	for _, nothing := range []any{"[]", diary("", " \n")} {
		r = b.done(t, b.order(t, user, "relational_dynamics", nothing))
		if r.Provider != "local (nothing to analyse)" || !strings.HasPrefix(r.Summary, "There is nothing to analyse") || strings.Contains(r.Summary, "in that time") {
			t.Errorf("%+v", r)
		}
	}
	empty := get[uuid.UUID](t, b, "insert into memory_synthesis_jobs (user_id, synthesis_type, time_range) values ($1, 'full_synthesis', '[2030-01-01,)') returning id", user)
	if r = b.done(t, empty); r.Summary != "There is nothing to analyse: no text was found in that time." {
		t.Errorf("%+v", r)
	}
	r = b.done(t, b.order(t, user, "prospective_self", `[{"id": "a", "text": "It rained on Tuesday."}]`))
	contains(t, r.Summary, "1 conversation shows no pattern of this kind.")
	b.until(t, "the jobs' ends", "select not exists (select from helix.analysis_work) and not exists (select from helix.river_job where queue = 'analysis' and state not in ('completed'))")
}

// TestConversationsInvalid: a row whose conversations cannot be read fails at once,
// and says which entry is at fault.
func TestConversationsInvalid(t *testing.T) {
	b := newBench(t)
	b.work(t, analysis.DefaultConfig, nil, nil)
	b.stream(t)
	user := b.User(t)
	for raw, want := range map[string]string{
		`[{"id": "a", "text": "x"}, "hello"]`: "conversations[1]: it is not an object",
		`[null]`:                              "conversations[0]: it is not an object",
		`[{"text": "x"}]`:                     "conversations[0]: its id is not a string",
		`[{"id": 7, "text": "x"}]`:            "conversations[0]: its id is not a string",
		`[{"id": "", "text": "x"}]`:           "conversations[0]: its id has 0 characters",
		`[{"id": "` + strings.Repeat("é", 201) + `", "text": "x"}]`: "conversations[0]: its id has 201 characters",
		`[{"id": "a", "text": null}]`:                               "conversations[0]: its text is not a string",
		`[{"id": "a", "text": {"a": 1}}]`:                           "conversations[0]: its text is not a string",
		`[{"id": "a", "text": "x"}, {"id": "a", "text": "y"}]`:      "conversations[1]: its id was given before",
		`[{"id": "a", "text": "x", "timestamp": "last week"}]`:      "conversations[0]: its timestamp is no time",
		`[{"id": "a", "text": "x", "timestamp": {}}]`:               "conversations[0]: its timestamp is no time",
		`[{"id": "a", "text": "x", "timestamp": 1e80}]`:             "conversations[0]: its timestamp is no time",
	} {
		r := b.ended(t, b.order(t, user, "prospective_self", raw))
		if r.Status != "failed" || r.Error == nil || r.Error.Code != "conversations_invalid" || r.Error.Retryable || !strings.HasPrefix(r.Error.Message, want) || r.Finished == nil {
			t.Errorf("%s: %+v %+v", raw, r, r.Error)
		}
	}
	// All that apps write as a time.
	r := b.done(t, b.order(t, user, "prospective_self", `[{"id": "a", "text": "My goal is rest.", "timestamp": 1767225600000}, {"id": "b", "text": "x", "timestamp": null},
		{"id": "c", "text": "x", "timestamp": "2026-01-03"}, {"id": "d", "text": "x", "timestamp": "2026-01-02T10:00:00.123+02:00"}, {"id": "e", "text": "x", "timestamp": "2026-01-02 10:00:00+00"}]`))
	contains(t, r.Summary, "5 conversations from 2026-01-01 to 2026-01-03")
}

// TestSweep: a row that no job is for, as a restored database may have it, is found;
// of two processes one works on it.
func TestSweep(t *testing.T) {
	b := newBench(t)
	user := b.User(t)
	job := b.order(t, user, "prospective_self", diary("My goal is to rest."))
	lost := b.order(t, user, "prospective_self", diary("My goal is to rest."))
	b.Exec(t, "update memory_synthesis_jobs set status = 'processing', progress = 0.5 where id = $1", lost)
	b.Exec(t, "insert into helix.analysis_work (job_id, user_id, claim, holder) values ($1, $2, gen_random_uuid(), 'helixd gone')", lost, user)
	b.work(t, analysis.DefaultConfig, nil, nil)
	b.work(t, analysis.DefaultConfig, nil, nil)
	b.done(t, job)
	b.done(t, lost)
	if n := get[int](t, b, "select count(*)::int from memory_patterns"); n != 2 {
		t.Errorf("%d patterns", n)
	}
}

// TestDeleted: a row or an account that is deleted leaves nothing, before and after.
func TestDeleted(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	user, other := b.User(t), b.User(t)
	gone := b.order(t, user, "prospective_self", diary("My goal is to rest."))
	b.order(t, other, "prospective_self", diary("My goal is to rest."))
	b.until(t, "the jobs", "select count(*) = 2 from helix.river_job where queue = 'analysis'")
	b.Exec(t, "delete from memory_synthesis_jobs where id = $1", gone)
	b.DB.Exec(t, "supabase_admin", "delete from auth.users where id = $1", other)
	b.until(t, "the jobs to go", "select not exists (select from helix.river_job where queue = 'analysis') and not exists (select from helix.analysis_work)")
	kept := b.order(t, user, "prospective_self", diary("My goal is to rest."))
	b.work(t, analysis.DefaultConfig, nil, nil)
	b.done(t, kept)
	b.DB.Exec(t, "supabase_admin", "delete from auth.users where id = $1", user)
	for _, table := range []string{"public.memory_synthesis_jobs", "public.memory_patterns", "public.synthesis_recommendations", "helix.analysis_work", "helix.analysis_cache"} {
		if n := get[int](t, b, "select count(*)::int from "+table); n != 0 {
			t.Errorf("%d rows of %s are left", n, table)
		}
	}
}

// TestRefused: what an app's trigger refuses fails with a reason, and ends the job.
func TestRefused(t *testing.T) {
	b := newBench(t)
	b.work(t, analysis.DefaultConfig, nil, nil)
	b.stream(t)
	b.Exec(t, `create function public.no() returns trigger language plpgsql as $$ begin raise exception 'no %', new.description; end $$`)
	b.Exec(t, "create trigger no before insert on memory_patterns for each row execute function public.no()")
	r := b.ended(t, b.order(t, b.User(t), "prospective_self", diary("My goal is to rest.")))
	if r.Status != "failed" || r.Error.Code != "analysis_refused" || !strings.Contains(r.Error.Message, "P0001") || strings.Contains(r.Error.Message, "goal") {
		t.Errorf("%+v %+v", r, r.Error)
	}
	b.until(t, "the job's end", "select not exists (select from helix.river_job where queue = 'analysis' and state <> 'completed')")
}

// TestCrowded: of a user's rows so many are worked on at a time; the others wait and
// are worked on then.
func TestCrowded(t *testing.T) {
	b := newBench(t)
	c := analysis.DefaultConfig
	c.UserConcurrency = 1
	b.work(t, c, nil, nil)
	b.stream(t)
	user := b.User(t)
	for range 6 {
		b.order(t, user, "prospective_self", diary("My goal is to rest."))
	}
	b.until(t, "all of them", "select count(*) = 6 from memory_synthesis_jobs where status = 'done' and finished_at > now() - $1::interval", time.Hour)
}
