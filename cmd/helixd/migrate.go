package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/replication/stream"
)

func migrateCommand(cfg *config) *cobra.Command {
	var export string
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Create or update helixd's tables, policies and triggers",
		Long: "migrate applies what the project's schema lacks, each file in a transaction of its own. It may run\n" +
			"again at any time. With --export it writes the files for the Supabase CLI instead, and touches no database.",
		Example: "  helixd migrate\n  helixd migrate --export supabase/migrations && supabase db push",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			if export != "" {
				written, err := migrations.Export(export)
				for _, path := range written {
					fmt.Fprintln(out, "wrote", path)
				}
				if err == nil && len(written) == 0 {
					fmt.Fprintln(out, "all files are there already")
				}
				return err
			}
			if err := cfg.requireDatabase(); err != nil {
				return err
			}
			conn, err := pgx.Connect(cmd.Context(), cfg.databaseURL)
			if err != nil {
				return databaseError(err)
			}
			defer conn.Close(context.WithoutCancel(cmd.Context())) //nolint:errcheck // nothing is pending
			return migrations.Up(cmd.Context(), conn, func(m migrations.Migration) {
				fmt.Fprintln(out, "applying", m.File())
			})
		},
	}
	cmd.Flags().StringVar(&export, "export", "", "write the migration files into this folder")
	return cmd
}

// databaseError explains why an SQL connection could not be made, without
// quoting the connection string.
func databaseError(err error) error {
	var pgErr *pgconn.PgError
	var parse *pgconn.ParseConfigError
	switch {
	case errors.As(err, &parse):
		return &stream.SetupError{Problem: "SUPABASE_DB_URL is no connection string",
			Hint: "It looks like postgresql://postgres:<password>@db.<ref>.supabase.co:5432/postgres"}
	case errors.As(err, &pgErr) && pgErr.Code == "28P01":
		return &stream.SetupError{Problem: "the server refuses the password",
			Hint: "Check SUPABASE_DB_URL: the password is under Settings → Database; special characters must be percent-encoded.", Err: pgErr}
	}
	return fmt.Errorf("connect to the database: %w", err)
}
