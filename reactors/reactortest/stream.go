package reactortest

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
	"github.com/helixd/helixd/replication/stream"
	"github.com/helixd/helixd/testenv"
)

// Stream lets a reactor see what is there, and what is written until the test's end.
func Stream(t testing.TB, db *testenv.Database, pool *pgxpool.Pool, reactor reactors.Reactor) {
	t.Helper()
	log := zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.WarnLevel)
	d, source, from := open(t, db, pool, reactor, db.SlotName(reactor.Name()), log)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- source.Run(ctx, from, d) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) { // before it had begun
			t.Errorf("stream: %v", err)
		}
		d.Abandon()
		source.Close()
	})
}

// open makes a slot, lets the reactor see what is there, and gives where the stream
// goes on from.
func open(t testing.TB, db *testenv.Database, pool *pgxpool.Pool, reactor reactors.Reactor, slot string, log zerolog.Logger) (
	*reactors.Dispatcher, *stream.Stream, replication.LSN) {
	t.Helper()
	jobs, err := reactors.NewJobs(pool, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := reactors.NewDispatcher(t.Context(), pool, slot, jobs, log, reactor)
	if err != nil {
		t.Fatal(err)
	}
	cfg := stream.Config{ConnString: db.URL("postgres"), Slot: slot, Publication: "helix", Log: log}
	source, err := stream.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.EnsurePublication(t.Context(), pool, cfg.Publication, d.Tables(), func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	snapshot, err := source.CreateSlot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := replication.Checkpoint{Slot: slot, SystemIdentifier: source.System(), LSN: snapshot.LSN}
	if err := d.Backfill(t.Context(), snapshot.Name, at, holder, func(string, int) {}); err != nil {
		t.Fatal(err)
	}
	return d, source, snapshot.LSN
}
