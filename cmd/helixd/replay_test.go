package main_test

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/helixd/helixd/testenv"
)

// TestReplayKilled: a replay of many rows, while the app writes some of them and
// the leader is killed in the middle, gives each row once, in bounded memory.
func TestReplayKilled(t *testing.T) {
	t.Parallel()
	all := count(20_000, 100_000)
	db := testenv.New(t)
	admin := migrated(t, db)
	user := db.NewUser(t)
	exec1(t, admin, "insert into memories (id, user_id, type, content) select gen_random_uuid(), $1, 'episodic', 'memory ' || n from generate_series(1, $2) n", user.ID, all)
	env := []string{"HELIX_SLOT=" + db.SlotName("replay"), "HELIX_ROLE=stream"}
	first := start(t, db.URL("postgres"), env, "run")
	until(t, "the first start", func() bool { return get[int](t, admin, "select count(*) from memory_retention") == all })
	until(t, "the stream", func() bool {
		return get[bool](t, admin, "select count(*) = 1 from pg_replication_slots where active and database = current_database()")
	})
	exec1(t, admin, "create table seen as select memory_id, reinforcements from memory_retention")
	exec1(t, admin, "delete from memory_retention where memory_id in (select memory_id from memory_retention order by 1 limit $1)", all/2)
	before := peak(t, first.Pid())

	replay := start(t, db.URL("postgres"), env, "replay", "--table", "memories", "--reactor", "decay", "--output", "json")
	given := "select coalesce((select given from helix.replays order by id desc limit 1), 0)"
	until(t, "a part of the replay", func() bool { return get[int](t, admin, given) > all/4 })
	after := peak(t, first.Pid())
	first.Kill()
	part := get[int](t, admin, given)
	if part >= all {
		t.Fatal("it was over before the leader was killed")
	}
	exec1(t, admin, "update memories set content = content || '!' where id in (select id from memories order by id limit 1000 offset $1)", all/2)
	exec1(t, admin, "update memories set content = content || '!' where id in (select id from memories order by id desc limit 1000)")
	exec1(t, admin, "delete from memories where id in (select id from memories order by id offset $1 limit 10)", all/2+1000)
	second := start(t, db.URL("postgres"), env, "run")
	if status := replay.wait(t); status != 0 {
		t.Fatalf("replay ends with %d", status)
	}
	last := peak(t, second.Pid())
	var report struct{ Rows, Given, Changed, Gone, Rejected int }
	line := regexp.MustCompile(`(?m)^\{"table".*$`).FindString(replay.log.String())
	if err := json.Unmarshal([]byte(line), &report); err != nil {
		t.Fatal(err, line)
	}
	t.Logf("%+v; killed at %d; peaks: %d MB before, %d MB at the kill, %d MB of the second", report, part, before>>20, after>>20, last>>20)
	// Each was given once, or is streamed since it was written, or is gone.
	if report.Given+report.Changed+report.Gone != report.Rows || report.Rows < all-10 || report.Rejected != 0 {
		t.Errorf("the report does not add up: %+v", report)
	}
	until(t, "all retentions", func() bool { return get[bool](t, admin, "select count(*) = $1 from memory_retention", all-10) })
	if n := get[int](t, admin, "select count(*) from memory_retention r join seen using (memory_id) where r.reinforcements <> seen.reinforcements"); n != 0 {
		t.Errorf("%d memories were reinforced twice", n)
	}
	if n := get[int](t, admin, "select count(*) from helix.dead_letters"); n != 0 {
		t.Errorf("%d dead letters", n)
	}
	if grown := (after - before) >> 20; grown > 128 {
		t.Errorf("the leader grew by %d MB", grown)
	}
	second.stop(t)
}
