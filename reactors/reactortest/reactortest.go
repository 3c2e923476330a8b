// Package reactortest is the conformance suite that every reactor passes: on a
// real Postgres it records what an app's writes look like in the stream, and
// applies them in the ways that batches, crashes and repairs bring about. The
// result must be the same each time.
package reactortest

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
	"github.com/helixd/helixd/testenv"
)

// Suite is a reactor and a history for it.
type Suite struct {
	Reactor reactors.Reactor
	// Write makes the history, as apps do: app is a user's session. It should
	// show all that the reactor distinguishes. At least three transactions.
	Write func(t *testing.T, db *testenv.Database, app *pgx.Conn)
	// Setup makes what the reactor needs beside the migrations; may be nil.
	Setup func(t *testing.T, db *testenv.Database, admin *pgx.Conn)
}

// Run checks a reactor.
func Run(t *testing.T, s Suite) {
	h := newHarness(t, s)
	want := h.results()
	t.Run("WritesSomething", func(t *testing.T) {
		if strings.TrimSpace(want) == "" {
			t.Fatal("the history leaves no row in the tables that the reactor writes")
		}
		h.noDeadLetters(t)
	})
	t.Run("OneTransactionABatch", func(t *testing.T) {
		h.reset(t)
		for i := range h.history {
			h.apply(t, &replication.Batch{Transactions: h.history[i : i+1], EndLSN: h.history[i].EndLSN})
		}
		h.same(t, want)
	})
	t.Run("AnySplit", func(t *testing.T) {
		for range 5 {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			h.reset(t)
			h.applySplit(t, rand.New(rand.NewPCG(seed, 0)))
			h.same(t, want)
		}
	})
	t.Run("Abandoned", func(t *testing.T) {
		h.reset(t)
		part := h.history[0]
		part.EndLSN = 0
		h.apply(t, &replication.Batch{Transactions: []replication.Transaction{part}, More: true})
		h.dispatcher.Abandon()
		if left := h.results(); strings.TrimSpace(left) != "" {
			t.Errorf("an abandoned apply left:\n%s", left)
		}
		h.applyAll(t)
		h.same(t, want)
	})
	t.Run("BackfillAfterStream", func(t *testing.T) {
		h.reset(t)
		h.applyAll(t)
		h.backfill(t)
		h.same(t, want)
	})
	t.Run("Fenced", func(t *testing.T) {
		h.reset(t)
		h.exec(t, "update helix.checkpoints set epoch = epoch + 1")
		if err := h.dispatcher.Apply(t.Context(), h.all()); err == nil {
			t.Error("a leader of an older epoch committed")
		}
		if left := h.results(); strings.TrimSpace(left) != "" {
			t.Errorf("it left:\n%s", left)
		}
	})
	t.Run("AccountDeleted", func(t *testing.T) {
		h.reset(t)
		h.applyAll(t)
		h.db.Exec(t, "supabase_admin", "delete from auth.users")
		if left := h.results(); strings.TrimSpace(left) != "" {
			t.Errorf("a deleted account left:\n%s", left)
		}
		h.rewind(t)
		h.applyAll(t)
		if left := h.results(); strings.TrimSpace(left) != "" {
			t.Errorf("rows of a deleted account made:\n%s", left)
		}
		h.noDeadLetters(t)
	})
}
