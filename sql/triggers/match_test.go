package triggers_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestMatchMemoriesOfAnyArguments: odd arguments find what they can mean, or say
// what is wrong.
func TestMatchMemoriesOfAnyArguments(t *testing.T) {
	db, admin, _, app := migrated(t)
	// Columns of an app's own, named as the function's variables are.
	exec(t, admin, `alter table memories add weight float default 7, add wanted int default 1, add candidates uuid[] default '{}', add me uuid,
		add types text[] default '{x}', add query_embedding text default 'x', add many int default 0, add distance float default -5`)
	exec(t, app, "insert into memories (content, type, embedding) values ('near', 'semantic', "+at("10")+"), ('far', 'episodic', "+at("80")+
		"), ('zero', null, array_fill(0, array[1536])::vector), ('huge', 'episodic', array_fill(-1e9, array[1536])::vector), ('tiny', 'procedural', array_fill(-1e-10, array[1536])::vector)")
	for args, want := range map[string]string{
		at("0"):                               "near far",
		at("0") + ", min_similarity => 'NaN'": "",
		at("0") + ", min_similarity => 'infinity'":             "",
		at("0") + ", min_similarity => .1":                     "near far",
		at("0") + ", min_similarity => null, match_count => 2": "near far",
		at("0") + ", weight_retention => 'NaN'":                "near far",
		at("0") + ", weight_retention => -3":                   "near far",
		at("0") + ", weight_retention => null":                 "near far",
		at("0") + ", weight_retention => 'infinity'":           "",
		at("0") + ", weight_retention => 2":                    "",
		at("0") + ", match_count => 2147483647":                "near far",
		at("0") + ", types => array[null]":                     "",
		at("0") + ", types => array[null, 'semantic']":         "near",
		"array_fill(0, array[1536])::vector":                   "",
		"null":                                                 "",
	} {
		got := get[string](t, app, "select coalesce(string_agg(content, ' '), '') from match_memories("+args+") where content in ('near', 'far', 'zero')")
		if strings.Contains(args, "weight_retention => 2") || strings.Contains(args, "weight_retention => 'inf") {
			// As 1: by retention alone, in which they are equal.
			if len(got) != len("near far") {
				t.Errorf("%s finds %q", args, got)
			}
		} else if got != want {
			t.Errorf("%s finds %q, want %q", args, got, want)
		}
	}
	_, err := app.Exec(t.Context(), "select match_memories('[1,2,3]')")
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) || pgErr.Code != "22000" || !strings.Contains(pgErr.Message, "has 3 dimensions, memories.embedding has 1536") {
		t.Errorf("an embedding of another model: %v", err)
	}
	if n := get[int](t, db.AsService(t), "select count(*) from match_memories("+at("0")+")"); n != 0 {
		t.Errorf("the service, which is nobody, finds %d memories", n)
	}
	exec(t, admin, "create policy everyone on memories for all using (true) with check (true)")
	if n := get[int](t, db.AsUser(t, db.NewUser(t).ID), "select count(*) from match_memories("+at("0")+", 100, -1)"); n != 0 {
		t.Errorf("another user finds %d memories, by a policy that shows all", n)
	}
	exec(t, admin, "create policy hidden on memories as restrictive for select to authenticated using (content <> 'near')")
	if got := get[string](t, app, "select string_agg(content, ' ') from match_memories("+at("0")+", 10, .1)"); got != "far" {
		t.Errorf("with a policy that hides one: %s", got)
	}
	exec(t, app, "begin read only") // as PostgREST's GET is
	if n := get[int](t, app, "select count(*) from match_memories("+at("0")+")"); n == 0 {
		t.Error("nothing in a read-only transaction")
	}
	if got := get[string](t, app, "show enable_sort"); got != "on" {
		t.Error("it leaves a setting behind")
	}
}
