package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/replication/stream"
)

// withConn runs f with a connection to the project's database.
func withConn(ctx context.Context, cfg *config, f func(*pgx.Conn) error) error {
	if err := cfg.requireDatabase(); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, cfg.databaseURL)
	if err != nil {
		return databaseError(err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is pending
	return f(conn)
}

// withPool runs f with a pool for a project whose schema this helixd knows.
func withPool(ctx context.Context, cfg *config, f func(*pgxpool.Pool) error) error {
	if err := cfg.requireDatabase(); err != nil {
		return err
	}
	pool, err := openPool(ctx, cfg)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := requireMigrated(ctx, pool); err != nil {
		return err
	}
	return f(pool)
}

func openPool(ctx context.Context, cfg *config) (*pgxpool.Pool, error) {
	poolConfig, err := cfg.pool()
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, poolConfig)
	if err != nil {
		return nil, databaseError(err)
	}
	return pool, nil
}

// databaseError explains why the database could not be asked, without quoting the
// connection string.
func databaseError(err error) error {
	var setup *stream.SetupError
	var parse *pgconn.ParseConfigError
	var connect *pgconn.ConnectError
	switch {
	case errors.As(err, &setup): // said already
		return err
	case errors.As(err, &parse):
		return &stream.SetupError{Problem: "SUPABASE_DB_URL is no connection string",
			Hint: "It looks like postgresql://postgres:<password>@db.<ref>.supabase.co:5432/postgres"}
	case errors.As(err, &connect):
		if setup := stream.ConnectError(err); setup != nil {
			return setup
		}
		return fmt.Errorf("connect to the database: %w", connect)
	}
	return fmt.Errorf("ask the database: %w", err)
}

// hintOf is the next step for the operator, "" where there is none to give.
func hintOf(err error) string {
	var setup *stream.SetupError
	var connect *pgconn.ConnectError
	var pgErr *pgconn.PgError
	switch {
	case errors.As(err, &setup):
		return setup.Hint
	case errors.As(err, &pgErr) && pgErr.Code == "42501":
		return "The role in SUPABASE_DB_URL lacks a right: connect as the one that ran helixd migrate, which is postgres on Supabase. helixd doctor says more."
	case errors.As(err, &connect) && errors.As(err, &pgErr): // it answers, and says what is wrong
		return "helixd doctor says more."
	case errors.As(err, &connect):
		return "Check host and port in SUPABASE_DB_URL, and that the project is not paused. helixd doctor says more."
	case errors.Is(err, context.DeadlineExceeded):
		return "The database is slow, or a lock is held: helixd doctor names open transactions and who blocks whom."
	}
	return ""
}
