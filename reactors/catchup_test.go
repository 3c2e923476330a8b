package reactors_test

import (
	"testing"

	"github.com/helixd/helixd/reactors"
)

// TestCatchUpKeepsLetters: what a reactor cannot apply is kept each time that it is
// switched on, at the same checkpoint too.
func TestCatchUpKeepsLetters(t *testing.T) {
	b := newBench(t, copier{})
	at := b.lsn
	for i, sql := range []string{
		"insert into source values (1, 1), (2, -1)",
		"truncate target; delete from source where id = 2; insert into source values (3, 0)",
		"truncate target; insert into source values (4, -1)",
	} {
		b.exec(t, sql)
		if err := b.d.CatchUp(t.Context(), []reactors.Reactor{copier{}}, at, func(string, int) {}); err != nil {
			t.Fatal(err)
		}
		if got := query[int](t, b, "select count(*) from target"); got != 1 {
			t.Errorf("%d: %d rows", i, got)
		}
	}
	const letters = "select string_agg(id, ' ' order by id) from (select distinct key ->> 'id' as id from helix.dead_letters) x"
	if got := query[string](t, b, letters); got != "2 3 4" {
		t.Errorf("there are letters of rows %s", got)
	}
}
