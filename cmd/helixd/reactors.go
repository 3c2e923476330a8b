package main

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/skills"
	"github.com/helixd/helixd/reactors/sync"
	"github.com/helixd/helixd/reactors/voice"
	"github.com/helixd/helixd/replication/stream"
)

// extraReactors are those of builds for tests.
var extraReactors []reactors.Reactor

// allReactors are the ones that run.
func allReactors() []reactors.Reactor {
	return append([]reactors.Reactor{sync.Reactor{}, skills.Reactor{}, voice.Reactor{}}, extraReactors...)
}

// requireMigrated refuses a schema that this helixd does not know.
func requireMigrated(ctx context.Context, pool *pgxpool.Pool) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return databaseError(err)
	}
	defer conn.Release()
	pending, err := migrations.Pending(ctx, conn.Conn())
	if err != nil || len(pending) == 0 {
		return err
	}
	names := make([]string, len(pending))
	for i, m := range pending {
		names[i] = m.File()
	}
	return &stream.SetupError{Problem: "the schema lacks " + strings.Join(names, ", "), Hint: "Run: helixd migrate"}
}
