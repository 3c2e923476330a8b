package triggers_test

import (
	"testing"
)

// TestNewAudio: what is recorded again is transcribed again; what is dropped, or
// said of it, is not.
func TestNewAudio(t *testing.T) {
	db, admin, user, app := migrated(t)
	service := db.AsService(t)
	const done = `update voice_recordings set status = 'done', transcript = 'x', error = '{"code": "x"}'`
	reset := func(column, value string) {
		t.Helper()
		exec(t, admin, "delete from voice_recordings")
		exec(t, admin, "insert into voice_recordings (user_id, "+column+") values ($1, "+value+")", user.ID)
		exec(t, admin, done)
	}
	for _, tt := range []struct {
		name, set string
		path      bool // the row has a storage_path, not audio_data
		want      string
	}{
		{"OtherAudio", `audio_data = '\x02'`, false, "pending 1"},
		{"SameAudio", `audio_data = '\x01'`, false, "done x 0"},
		{"AudioDropped", "audio_data = null", false, "done x 1"},
		{"MovedToStorage", "audio_data = null, storage_path = 'a/b'", false, "pending 1"},
		{"OtherPath", "storage_path = 'a/c'", true, "pending 1"},
		{"SamePath", "storage_path = 'a/b'", true, "done x 0"},
		{"PathDropped", "storage_path = null", true, "done x 1"},
		{"MovedFromStorage", `storage_path = null, audio_data = '\x01'`, true, "pending 1"},
		{"KeepAudio", "keep_audio = true, memo = true, language = 'de', mime_type = 'audio/ogg'", false, "done x 0"},
		{"Upsert", `audio_data = audio_data, storage_path = storage_path, created_at = now()`, false, "done x 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, conn := range []string{"client", "service"} {
				if reset("audio_data", `'\x01'`); tt.path {
					reset("storage_path", "'a/b'")
				}
				writer := app
				if conn == "service" {
					writer = service
				}
				exec(t, writer, "update voice_recordings set "+tt.set)
				if got := get[string](t, admin, "select concat_ws(' ', status, error->>'code', content_rev) from voice_recordings"); got != tt.want {
					t.Errorf("%s: %s, want %s", conn, got, tt.want)
				}
			}
		})
	}
	t.Run("NotBoth", func(t *testing.T) {
		for column, set := range map[string]string{"audio_data": "storage_path = 'a/b'", "storage_path": `audio_data = '\x02'`} {
			reset(column, map[string]string{"audio_data": `'\x01'`, "storage_path": "'a/b'"}[column])
			refuses(t, app, check, "storage_path", "update voice_recordings set "+set)
			refuses(t, service, check, "storage_path", "update voice_recordings set "+set)
		}
	})
	t.Run("ResultsOfHelixd", func(t *testing.T) {
		reset("audio_data", `'\x01'`)
		exec(t, admin, `update voice_recordings set status = 'processing'`)
		exec(t, admin, `update voice_recordings set status = 'done', transcript = 'y', processed_audio = '\x03', actions = '[]', error = null`)
		if got := get[string](t, admin, "select concat_ws(' ', status, transcript, content_rev) from voice_recordings"); got != "done y 0" {
			t.Errorf("row %s", got)
		}
	})
	t.Run("NullMemo", func(t *testing.T) {
		exec(t, app, `insert into voice_recordings (audio_data, memo) values ('\x01', null)`)
		exec(t, app, "update voice_recordings set memo = true")
		exec(t, app, "update voice_recordings set memo = null")
		if get[bool](t, app, "select bool_or(memo) from voice_recordings") {
			t.Error("null is not the default")
		}
	})
}

func TestVoiceCommandsOfSkills(t *testing.T) {
	db, admin, alice, app := migrated(t)
	bob := db.NewUser(t)
	exec(t, admin, `insert into skills (user_id, name, visibility) values
		($1, 'own', 'private'), ($2, 'secret', 'private'), ($2, 'open', 'public'), (null, 'built in', 'private')`, alice.ID, bob.ID)
	id := func(name string) string {
		return get[string](t, admin, "select id::text from skills where name = $1", name)
	}
	exec(t, app, "insert into voice_commands (phrase, skill_id) values ('a row to update', $1)", id("own"))
	for name, may := range map[string]bool{"own": true, "open": true, "built in": true, "secret": false} {
		t.Run(name, func(t *testing.T) {
			if !may {
				refuses(t, app, denied, "skill_id ", "insert into voice_commands (phrase, skill_id) values ('x', $1)", id(name))
				refuses(t, app, denied, "skill_id ", "update voice_commands set skill_id = $1", id(name))
				refuses(t, db.AsService(t), denied, "skill_id ", "insert into voice_commands (user_id, phrase, skill_id) values ($1, 'x', $2)", alice.ID, id(name))
				return
			}
			exec(t, app, "insert into voice_commands (phrase, skill_id) values ('x', $1)", id(name))
		})
	}
	refuses(t, app, denied, "skill_id ", "insert into voice_commands (phrase, skill_id) values ('x', gen_random_uuid())")
	t.Run("DeletedSkillLeavesTheCommand", func(t *testing.T) {
		before := get[int](t, app, "select count(*) from voice_commands")
		exec(t, app, "delete from skills where name = 'own'")
		if got := get[int](t, app, "select count(*) from voice_commands"); got != before {
			t.Errorf("%d commands are left of %d", got, before)
		}
		if get[int](t, app, "select count(*) from voice_commands where skill_id is null") == 0 {
			t.Error("the command does not say so")
		}
		exec(t, app, "update voice_commands set enabled = false where skill_id is null")
	})
	t.Run("SlotAndArgumentsTogether", func(t *testing.T) {
		exec(t, app, `insert into voice_commands (phrase, skill_id, arguments) values ('say {what}', $1, '{"text": "{what}!", "n": 1, "b": false, "s": "{1}"}')`, id("open"))
		refuses(t, app, check, "arguments", "update voice_commands set phrase = 'say {it}' where arguments is not null")
		exec(t, app, `update voice_commands set phrase = 'say {it}', arguments = '{"text": "{it}"}' where arguments is not null`)
	})
}
