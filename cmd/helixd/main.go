// Command helixd runs beside a Supabase project: it turns committed row changes
// into results.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/replication/stream"
)

func main() {
	if sandbox.IsChild() {
		os.Exit(sandbox.RunChild(guests))
	}
	os.Exit(Main())
}

// Main is the program; it gives the exit status: 0 done, 1 failed, 2 wrong usage.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var cfg config
	root := &cobra.Command{
		Use:   "helixd",
		Short: "Memory synthesis, decay, skills, transcription and sync beside a Supabase project",
		Long: "helixd reads the write-ahead log of a Supabase project and writes results back as rows,\n" +
			"so that apps only insert rows with supabase-js and see results through Supabase Realtime.\n\n" +
			"Settings come from flags, the environment and a file .env, in this order.",
		Example:       "  export SUPABASE_DB_URL=postgresql://postgres:<password>@db.<ref>.supabase.co:5432/postgres\n  helixd migrate\n  helixd run",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return cfg.load(cmd.Flags())
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())}
	})
	cfg.register(root.PersistentFlags())
	root.Args = wrongUse(cobra.NoArgs)
	root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	root.AddCommand(migrateCommand(&cfg), runCommand(&cfg), recordCommand(&cfg), transcribeCommand(&cfg), backfillCommand(&cfg),
		secretCommand(&cfg), auditCommand(&cfg), versionCommand())
	for _, c := range root.Commands() {
		c.Args = wrongUse(c.Args)
	}
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "helixd:", err)
		var setup *stream.SetupError
		if errors.As(err, &setup) && setup.Hint != "" {
			fmt.Fprintln(os.Stderr, "  →", setup.Hint)
		}
		var usage *usageError
		if errors.As(err, &usage) {
			return 2
		}
		return 1
	}
	return 0
}

// wrongUse makes a complaint about arguments one of wrong usage.
func wrongUse(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check == nil {
			return nil
		}
		if err := check(cmd, args); err != nil {
			return &usageError{fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())}
		}
		return nil
	}
}
