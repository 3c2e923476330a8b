package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/decay"
	"github.com/helixd/helixd/reactors/embedding"
	"github.com/helixd/helixd/reactors/recall"
	"github.com/helixd/helixd/reactors/skills"
	"github.com/helixd/helixd/reactors/sync"
	"github.com/helixd/helixd/reactors/synthesis"
	"github.com/helixd/helixd/reactors/synthesis/analysis"
	"github.com/helixd/helixd/reactors/voice"
	"github.com/helixd/helixd/replication/stream"
)

// extraReactors are those of builds for tests.
var extraReactors []reactors.Reactor

// allReactors are the ones that run.
func allReactors(cfg *config) []reactors.Reactor {
	all := []reactors.Reactor{sync.Reactor{}, skills.Reactor{}, voice.Reactor{},
		synthesis.Reactor{Delay: cfg.synthesis.config.Delay}, decay.Reactor{}, recall.Reactor{}, analysis.Reactor{}}
	if cfg.embedding.on() {
		all = append(all, embedding.Reactor{Delay: cfg.embedding.config.Delay})
	}
	return append(all, extraReactors...)
}

// offReactors are those that a setting switches off.
func offReactors(cfg *config) []reactors.Reactor {
	if cfg.embedding.on() {
		return nil
	}
	return []reactors.Reactor{embedding.Reactor{}}
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
		return newerSchema(err)
	}
	return &stream.SetupError{Problem: fmt.Sprintf("the schema lacks %d migrations, the first is %s", len(pending), pending[0].File()), Hint: "Run: helixd migrate"}
}

// newerSchema says what to do where the schema is of a later release.
func newerSchema(err error) error {
	var newer *migrations.NewerError
	if errors.As(err, &newer) {
		return &stream.SetupError{Problem: newer.Error(), Hint: "Run the release of helixd that migrated it, or a later one. Schemas do not go back."}
	}
	return err
}
