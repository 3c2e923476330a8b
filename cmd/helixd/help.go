package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// showSettings has a command's --help list the settings whose flags begin so, with those of the database and the log,
// and say where all are.
func showSettings(cmd *cobra.Command, flags ...string) *cobra.Command {
	flags = append(flags, "db-url", "log-", "output", "json")
	cmd.SetUsageFunc(func(c *cobra.Command) error {
		c.InheritedFlags().VisitAll(func(f *pflag.Flag) {
			f.Hidden = !slices.ContainsFunc(flags, func(begin string) bool { return strings.HasPrefix(f.Name, begin) })
		})
		if err := c.Root().UsageFunc()(c); err != nil {
			return err
		}
		_, err := fmt.Fprintf(c.OutOrStderr(), "\nUse \"%s --help\" for all settings.\n", c.Root().Name())
		return err
	})
	return cmd
}

// helpCommand shows a command's help, and complains of one that is not there.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err == nil && len(rest) > 0 {
				err = knownCommand(found, rest)
			}
			if err != nil {
				return &usageError{fmt.Errorf("%w; see %s --help", err, cmd.Root().Name())}
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var names []cobra.Completion
			if found, _, err := cmd.Root().Find(args); err == nil {
				for _, c := range found.Commands() {
					if c.IsAvailableCommand() {
						names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// knownCommand takes no arguments, and says what may have been meant by one.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	meant := ""
	if names := cmd.SuggestionsFor(args[0]); len(names) > 0 {
		meant = " (did you mean " + strings.Join(names, " or ") + "?)"
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), meant)
}
