// Command helixd runs beside a Supabase project: it turns committed row changes
// into results.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/helixd/helixd/reactors/sandbox"
)

func main() {
	if sandbox.IsChild() {
		os.Exit(sandbox.RunChild(guests))
	}
	os.Exit(Main())
}

// Main is the program; it gives the exit status: 0 done, 1 failed, 2 wrong usage, 3 done and something is wrong.
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
		cfg.readOutput(os.Args[1:])
		return &usageError{fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())}
	})
	cfg.register(root.PersistentFlags())
	root.Args = wrongUse(knownCommand)
	root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	root.AddGroup(
		&cobra.Group{ID: groupStart, Title: "Begin:"},
		&cobra.Group{ID: groupOperate, Title: "Operate:"},
		&cobra.Group{ID: groupWork, Title: "Work by hand:"})
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add(groupStart, showSettings(initCommand(&cfg)), showSettings(migrateCommand(&cfg)), runCommand(&cfg), showSettings(demoCommand(&cfg), "slot"))
	add(groupOperate, showSettings(statusCommand(&cfg), "slot", "publication"), showSettings(doctorCommand(&cfg), "slot", "publication", "supabase-url", "sandbox", "cache-dir"),
		showSettings(pauseCommand(&cfg), "slot", "pause-wal"), showSettings(resumeCommand(&cfg), "slot"), showSettings(slotCommand(&cfg), "slot", "publication"),
		showSettings(dlqCommand(&cfg), "slot"), showSettings(replayCommand(&cfg), "slot"),
		showSettings(usageCommand(&cfg), "llm-daily", "llm-user", "llm-price", "embeddings-daily", "embeddings-user", "embeddings-price"),
		showSettings(secretCommand(&cfg)), showSettings(auditCommand(&cfg)), showSettings(uninstallCommand(&cfg), "slot", "publication"))
	add(groupWork, showSettings(recordCommand(&cfg), "voice-"), showSettings(transcribeCommand(&cfg), "voice-", "sandbox", "cache-dir"), showSettings(backfillCommand(&cfg)),
		showSettings(synthesizeCommand(&cfg), "synthesis-m"), showSettings(analyzeCommand(&cfg), "llm", "anthropic-", "redact"),
		showSettings(decayCommand(&cfg), "decay-"), showSettings(maintainCommand(&cfg), "vector-"))
	root.AddCommand(versionCommand(&cfg))
	root.SetHelpCommand(helpCommand())
	root.SuggestionsMinimumDistance = 2
	for _, c := range root.Commands() {
		c.Args = wrongUse(c.Args)
	}
	err := completeChoices(root)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	if err != nil {
		return cfg.complain(os.Stderr, err)
	}
	return 0
}

// Groups of subcommands in --help.
const (
	groupStart   = "start"
	groupOperate = "operate"
	groupWork    = "work"
)

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
