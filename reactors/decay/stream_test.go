package decay_test

import (
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/decay"
	"github.com/helixd/helixd/reactors/reactortest"
	"github.com/helixd/helixd/testenv"
)

const patience = 60 * time.Second

// stream lets the reactor see what is there, and what is written from now on.
func (p *project) stream(t testing.TB) {
	t.Helper()
	t.Cleanup(func() {
		if n := get[int](t, p.admin, "select count(*) from helix.dead_letters"); n != 0 {
			t.Errorf("%d dead letters", n)
		}
	})
	reactortest.Stream(t, p.db, p.pool, decay.Reactor{})
}

// until polls a condition.
func (p *project) until(t testing.TB, what, sql string, args ...any) {
	t.Helper()
	testenv.Until(t, patience, what, func() bool { return get[bool](t, p.admin, sql, args...) })
}
