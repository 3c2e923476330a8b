package command_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/reactors/voice/command"
	"github.com/helixd/helixd/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func migrated(t *testing.T) (db *testenv.Database, admin *pgx.Conn, user testenv.User, app *pgx.Conn) {
	t.Helper()
	db = testenv.New(t)
	admin = db.Connect(t, "postgres")
	if err := migrations.Up(t.Context(), admin, func(migrations.Migration) {}); err != nil {
		t.Fatal(err)
	}
	user = db.NewUser(t)
	return db, admin, user, db.AsUser(t, user.ID)
}

func exec(t *testing.T, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%.200s: %v", sql, err)
	}
}

func get[T any](t *testing.T, conn *pgx.Conn, sql string, args ...any) T {
	t.Helper()
	return testenv.Get[T](t, conn, sql, args...)
}

// act acts on a transcript, as its storing transaction does, and gives the actions
// as the row would have them, without ids.
func act(t *testing.T, conn interface {
	Begin(context.Context) (pgx.Tx, error)
}, r command.Recording) string {
	t.Helper()
	var actions []command.Action
	err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) (err error) {
		actions, err = command.Act(t.Context(), tx, r)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, a := range actions {
		if (a.ID == nil) == (a.Error == nil) {
			t.Errorf("action %+v has not one of a row and an error", a)
		}
		text := a.Action
		if a.Error != nil {
			text += " " + a.Error.Code
		}
		said = append(said, text)
	}
	return strings.Join(said, ", ")
}

func TestAct(t *testing.T) {
	db, admin, user, app := migrated(t)
	bob := db.NewUser(t)
	r := command.Recording{ID: uuid.New(), UserID: uuid.MustParse(user.ID), CreatedAt: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	exec(t, app, "insert into skills (name, kind, source) values ('list', 'javascript', '1'), ('other', 'javascript', '1')")
	exec(t, db.AsUser(t, bob.ID), "insert into skills (name, kind, source, visibility) values ('open', 'javascript', '1', 'public')")
	exec(t, app, "insert into skills (name, kind, source) values ('gone', 'javascript', '1')")
	define := func(phrase, skill, arguments string) {
		t.Helper()
		exec(t, app, `insert into voice_commands (phrase, skill_id, arguments) select $1, $2, nullif($3, '')::jsonb`, phrase,
			get[string](t, admin, "select id::text from skills where name = $1", skill), arguments)
	}
	define("add {item} to my list", "list", "")
	define("add {item} to my list", "other", "") // younger
	define("add {item}", "other", "")            // fewer words
	define("[please] open {what}", "open", `{"name": "{what}", "n": 2, "text": "open {what}!"}`)
	define("forget it", "gone", "")
	exec(t, app, "insert into voice_commands (phrase, skill_id, enabled) select 'never mind', id, false from skills where name = 'list'")
	exec(t, db.AsUser(t, bob.ID), "insert into voice_commands (phrase, skill_id) select 'only for bob', id from skills")
	exec(t, app, "delete from skills where name = 'gone'")

	memory := func(r command.Recording) command.Recording { r.Memo = true; return r }
	said := func(text string) command.Recording { r := r; r.Transcript = text; return r }
	runs := func() string {
		return get[string](t, admin, `select coalesce(string_agg(concat_ws(' ', s.name, r.input, r.status, r.user_id = $1), ', '), '')
			from skill_runs r join skills s on s.id = r.skill_id`, user.ID)
	}
	for _, tt := range []struct {
		name      string
		r         command.Recording
		want, run string
		memories  int
	}{
		{"Nothing", said(""), "", "", 0},
		{"NothingForAMemory", memory(said(" \n")), "", "", 0},
		{"NoCommand", said("what a day"), "", "", 0},
		{"Memory", memory(said("what a day")), "memory", "", 1},
		{"MostWordsThenOldest", said("Add milk to my list."), "command", `list {"item": "milk"} queued t`, 0},
		{"Both", memory(said("Add milk.")), "memory, command", `other {"item": "milk"} queued t`, 1},
		{"AnothersPublicSkill", said("Please open the door!"), "command", `open {"n": 2, "name": "the door", "text": "open the door!"} queued t`, 0},
		{"DeletedSkill", memory(said("forget it")), "memory, command skill_not_found", "", 1},
		{"SwitchedOffCommand", said("never mind"), "", "", 0},
		{"AnothersCommand", said("only for bob"), "", "", 0},
		{"Dictation", memory(said(strings.Repeat("add milk ", 600))), "memory", "", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			exec(t, admin, "delete from memories")
			exec(t, admin, "delete from skill_runs")
			if got := act(t, admin, tt.r); got != tt.want {
				t.Errorf("actions %q, want %q", got, tt.want)
			}
			if got := runs(); got != tt.run {
				t.Errorf("runs %s, want %s", got, tt.run)
			}
			const written = "select count(*) from memories where type = 'episodic' and content = $1 and user_id = $2 and created_at = $3 and embedding is null"
			if got := get[int](t, admin, written, tt.r.Transcript, user.ID, r.CreatedAt); got != tt.memories {
				t.Errorf("%d memories, want %d", got, tt.memories)
			}
		})
	}

	t.Run("IDs", func(t *testing.T) {
		tx, err := admin.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback(context.WithoutCancel(t.Context())) // undoing is all it does
		actions, err := command.Act(t.Context(), tx, memory(said("add milk to my list")))
		if err != nil || len(actions) != 2 {
			t.Fatalf("%v, %v", actions, err)
		}
		if n := get[int](t, admin, "select count(*) from memories m, skill_runs r, voice_commands c where m.id = $1 and r.id = $2 and c.id = $3 and c.skill_id = r.skill_id",
			actions[0].ID, actions[1].ID, actions[1].CommandID); n != 1 {
			t.Error("the ids are not those of the rows")
		}
		written, err := json.Marshal(actions[1])
		if want := fmt.Sprintf(`{"action":"command","id":"%s","command_id":"%s"}`, actions[1].ID, actions[1].CommandID); err != nil || string(written) != want {
			t.Errorf("%s, want %s", written, want)
		}
	})

	fails := func(name, before, text, want string) {
		t.Run(name, func(t *testing.T) {
			tx, err := admin.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback(context.WithoutCancel(t.Context())) // undoing is all it does
			if _, err := tx.Conn().PgConn().Exec(t.Context(), before).ReadAll(); err != nil {
				t.Fatal(err)
			}
			if got := act(t, tx, memory(said(text))); got != want {
				t.Errorf("actions %q, want %q", got, want)
			}
			exec(t, admin, "select 1") // the transaction goes on
		})
	}
	const openDoor = "open the door"
	raises := func(table, code string) string {
		return "create function stop() returns trigger language plpgsql as $$ begin " + code + " end $$; create trigger z_stop before insert on " + table +
			" for each row execute function stop()"
	}
	fails("SkillIsPrivateNow", "update skills set visibility = 'private' where name = 'open'", openDoor, "memory, command skill_not_found")
	fails("SkillIsDisabled", "update skills set enabled = false where name = 'open'", openDoor, "memory, command skill_disabled")
	fails("SkillIsBuiltInNow", "update skills set user_id = null, visibility = 'private' where name = 'open'", openDoor, "memory, command")
	fails("AppsTriggerOnRuns", raises("skill_runs", "raise 'no';"), openDoor, "memory, command row_refused")
	fails("AppsTriggerOnMemories", raises("memories", "raise 'no';"), openDoor, "memory row_refused, command")
	fails("AppsTriggerIsBroken", raises("memories", "select 1 from not_there;"), openDoor, "memory row_refused, command")
	fails("AppsTriggerLeavesOut", raises("memories", "return null;"), openDoor, "memory row_refused, command")
	fails("AppsCheck", "alter table memories add check (length(content) < 3) not valid", openDoor, "memory row_refused, command")

	for name, code := range map[string]string{"Serialization": "40001", "Lock": "55P03", "Memory": "53200", "Statement": "57014", "Storage": "58030"} {
		t.Run("TheServersError/"+name, func(t *testing.T) {
			tx, err := admin.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback(context.WithoutCancel(t.Context())) // undoing is all it does
			if _, err := tx.Conn().PgConn().Exec(t.Context(), raises("memories", "raise sqlstate '"+code+"';")).ReadAll(); err != nil {
				t.Fatal(err)
			}
			if actions, err := command.Act(t.Context(), tx, memory(said(openDoor))); err == nil {
				t.Errorf("actions %v", actions)
			}
		})
	}

	t.Run("TheOldestHundredCount", func(t *testing.T) {
		exec(t, app, "delete from voice_commands")
		exec(t, app, `insert into voice_commands (phrase, skill_id, created_at) select 'number ' || n, s.id, now() + n * interval '1 second'
			from generate_series(1, 101) n, skills s where name = 'list'`)
		if got := act(t, admin, said("number 100")); got != "command" {
			t.Errorf("the hundredth: %q", got)
		}
		if got := act(t, admin, said("number 101")); got != "" {
			t.Errorf("the next: %q", got)
		}
	})
}

// TestMemoryWithoutTimeZone: an adopted column's times are in UTC, whatever zone the
// server and the recording have.
func TestMemoryWithoutTimeZone(t *testing.T) {
	db, admin, user, _ := migrated(t)
	exec(t, admin, "drop view memories_with_retention cascade")
	exec(t, admin, "alter table memories alter column created_at type timestamp using created_at at time zone 'utc'")
	conn := db.Connect(t, "postgres")
	exec(t, conn, "set timezone = 'Pacific/Auckland'")
	at := time.Date(2026, 3, 4, 8, 6, 7, 0, time.FixedZone("", 3*3600))
	if got := act(t, conn, command.Recording{UserID: uuid.MustParse(user.ID), Transcript: "what a day", Memo: true, CreatedAt: at}); got != "memory" {
		t.Errorf("actions %q", got)
	}
	if got := get[string](t, conn, "select created_at::text from memories"); got != "2026-03-04 05:06:07" {
		t.Errorf("created_at %s", got)
	}
}

// TestTableTakesWhatParseTakes: a client is told what is wrong with a phrase, and a
// phrase that was taken is understood.
func TestTableTakesWhatParseTakes(t *testing.T) {
	_, admin, _, app := migrated(t)
	exec(t, app, "insert into skills (name) values ('x')")
	agree := func(phrase string) error {
		tx, err := app.Begin(t.Context())
		if err != nil {
			return err
		}
		defer tx.Rollback(context.WithoutCancel(t.Context())) // undoing is all it does
		_, refused := tx.Exec(t.Context(), "insert into voice_commands (phrase, skill_id) select $1, id from skills", phrase)
		if _, err := command.Parse(phrase); (err == nil) != (refused == nil) {
			return fmt.Errorf("%q: Parse says %v, the table %v", phrase, err, refused)
		}
		return nil
	}
	for _, phrase := range append(append([]string{}, valid...), invalid...) {
		if err := agree(phrase); err != nil {
			t.Error(err)
		}
	}
	if n := get[int](t, admin, "select count(*) from voice_commands"); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "é", "語", " ", ".", ",", "...", "…", "{x}", "{y}", "{", "}", "[", "]", "(", ")", "|", "{1}", "-", "\n"}), 1, 12)
		if err := agree(strings.Join(pieces.Draw(t, "pieces"), "")); err != nil {
			t.Fatal(err)
		}
	})
}
