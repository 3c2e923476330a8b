package voice_test

import (
	"testing"

	"github.com/google/uuid"
)

func TestActions(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	b.work(t, parts{decoder: raw{}, ear: &ear{}})
	user := b.User(t)
	memo := func() uuid.UUID {
		return get[uuid.UUID](t, b.Admin, "insert into voice_recordings (user_id, audio_data, memo) values ($1, '\\x0100', true) returning id", user)
	}
	t.Run("MemoBecomesAMemory", func(t *testing.T) {
		id := memo()
		if r := b.ended(t, id); r.code() != "done" {
			t.Fatalf("the row is %+v", r)
		}
		if !get[bool](t, b.Admin, `select exists (select from memories m, voice_recordings r where r.id = $1 and m.user_id = r.user_id and m.type = 'episodic'
			and m.content = 'hello' and r.actions = jsonb_build_array(jsonb_build_object('action', 'memory', 'id', m.id)))`, id) {
			t.Error("there is no such memory")
		}
	})
	t.Run("TranscriptStandsWithoutThem", func(t *testing.T) {
		b.Exec(t, "drop table voice_commands cascade")
		id := memo()
		if r := b.ended(t, id); r.code() != "done" || *r.Transcript != "hello" || r.Attempts != 1 {
			t.Fatalf("the row is %+v", r)
		}
		if !get[bool](t, b.Admin, "select actions -> 0 -> 'error' ->> 'code' = 'internal' from voice_recordings where id = $1", id) {
			t.Error("the row does not say that nothing followed")
		}
		if n := get[int](t, b.Admin, "select count(*) from memories"); n != 1 {
			t.Errorf("%d memories", n)
		}
	})
}
