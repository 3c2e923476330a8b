package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/helixd/helixd/migrations"
)

func migrateCommand(cfg *config) *cobra.Command {
	var export string
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Create or update helixd's tables, policies and triggers",
		Long: "migrate applies what the project's schema lacks, each file in a transaction of its own. It may run\n" +
			"again at any time: the last file, helixd's triggers, is applied every time. With --export it writes the files for the Supabase CLI instead, and touches no database.",
		Example: "  helixd migrate\n  helixd migrate --export supabase/migrations && supabase db push",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			if export != "" {
				written, err := migrations.Export(export)
				if cfg.output == outputJSON {
					return errors.Join(err, cfg.print(cmd, map[string][]string{"wrote": append([]string{}, written...)}, nil))
				}
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
			applied := []string{}
			err = newerSchema(migrations.Up(cmd.Context(), conn, func(m migrations.Migration) {
				applied = append(applied, m.File())
				if cfg.output != outputJSON {
					fmt.Fprintln(out, "applying", m.File())
				}
			}))
			if err != nil {
				return err
			}
			return cfg.print(cmd, map[string][]string{"applied": applied}, func(out io.Writer) error {
				_, err := fmt.Fprintln(out, "The schema is up to date.")
				return err
			})
		},
	}
	cmd.Flags().StringVar(&export, "export", "", "write the migration files into this folder")
	return cmd
}
