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
	jobs, err := reactors.NewJobs(pool, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	slot := db.SlotName(reactor.Name())
	d, err := reactors.NewDispatcher(t.Context(), pool, slot, jobs, log, reactor)
	if err != nil {
		t.Fatal(err)
	}
	cfg := stream.Config{ConnString: db.URL("postgres"), Slot: slot, Publication: "helix", Log: log}
	s, err := stream.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.EnsurePublication(t.Context(), pool, cfg.Publication, d.Tables(), func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	snapshot, err := s.CreateSlot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := replication.Checkpoint{Slot: slot, SystemIdentifier: s.System(), LSN: snapshot.LSN}
	if err := d.Backfill(t.Context(), snapshot.Name, at, "test", func(string, int) {}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, snapshot.LSN, d) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) { // before it had begun
			t.Errorf("stream: %v", err)
		}
		d.Abandon()
		s.Close()
	})
}
