package reactors_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
)

// TestMarker: what a job writes is withheld from its own reactor, however the
// transaction was marked, and what an app writes is not.
func TestMarker(t *testing.T) {
	b := newBench(t, copier{})
	results, err := reactors.NewResults(t.Context(), b.pool, "copier", "public.source")
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for name, c := range map[string]struct {
		transact func() error
		withheld bool
	}{
		"Begin": {func() error {
			tx, err := results.Begin(ctx)
			if err != nil {
				return err
			}
			return tx.Commit(ctx)
		}, true},
		"QueueMarker": {func() error {
			batch := &pgx.Batch{}
			results.QueueMarker(batch)
			return b.pool.SendBatch(ctx, batch).Close()
		}, true},
		"Mark": {func() error {
			return pgx.BeginFunc(ctx, b.pool, func(tx pgx.Tx) error { return reactors.Mark(ctx, tx, "copier", "public.source") })
		}, true},
		"MarkOfAnother": {func() error {
			return pgx.BeginFunc(ctx, b.pool, func(tx pgx.Tx) error { return reactors.Mark(ctx, tx, "mirror", "public.source") })
		}, false},
		"Forged": {func() error {
			_, err := b.pool.Exec(ctx, `select pg_logical_emit_message(true, 'helix', '{"secret": "guessed", "writes": {"copier": ["public.source"]}}')`)
			return err
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			slot := b.db.SlotName(strings.ToLower(name))
			b.exec(t, "truncate target")
			b.exec(t, "select pg_create_logical_replication_slot('"+slot+"', 'test_decoding')")
			defer b.admin.Exec(context.WithoutCancel(ctx), "select pg_drop_replication_slot($1)", slot) //nolint:errcheck // the cluster goes with the tests
			if err := c.transact(); err != nil {
				t.Fatal(err)
			}
			_, content, found := strings.Cut(query[string](t, b, `select data from pg_logical_slot_get_changes($1, null, null)
				where data like 'message: transactional: 1 prefix: helix,%'`, slot), " content:")
			if !found {
				t.Fatal("there is no marker")
			}
			message := replication.Change{Op: replication.Message, Transactional: true, Prefix: "helix", Content: []byte(content)}
			if err := b.d.Apply(ctx, batch(b.transaction(message, row(b.source, 1, 1)))); err != nil {
				t.Fatal(err)
			}
			if got := query[int](t, b, "select count(*) from target") == 0; got != c.withheld {
				t.Errorf("the row was withheld: %t", got)
			}
		})
	}
}
