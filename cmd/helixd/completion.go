package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"
)

// choices are the values of flags that take one of a few, for shells that complete
// them.
var choices = map[string][]string{
	"role":             {roleAll, roleStream, roleWorker},
	"output":           {outputText, outputJSON},
	"log-level":        {"trace", "debug", "info", "warn", "error"},
	"log-format":       {"json", "console"},
	"sandbox":          {"required", "unsafe"},
	"voice-provider":   {providerDeepgram, providerOpenAI, providerOff},
	"voice-denoise":    {"off", "highpass", "light", "strong"},
	"synthesis-method": {"graph", "hdbscan", "dbscan", "kmeans"},
	"llm":              {llmAuto, llmAnthropic, llmOpenAI, llmLocal},
	"embeddings":       {"on", "off"},
}

// completeChoices has cobra's completion offer the choices.
func completeChoices(root *cobra.Command) error {
	for flag, values := range choices {
		if err := root.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			return fmt.Errorf("complete --%s: %w", flag, err)
		}
	}
	return nil
}

// completeWith has a flag's values offered that are known only once settings are.
func completeWith(cmd *cobra.Command, flag string, values func() []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		names := values()
		slices.Sort(names)
		return names, cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // the flag is a constant
	}
}

const (
	completeWithin = 3 * time.Second // a shell waits for it
	completeMost   = 50
)

// letterIDs completes the ids of the slot's newest dead letters, at most so many
// arguments; 0: any number.
func letterIDs(cfg *config, most int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) (ids []cobra.Completion, _ cobra.ShellCompDirective) {
		if most > 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completeWithin)
		defer cancel()
		err := withPool(ctx, cfg, func(pool *pgxpool.Pool) error {
			l, err := (&letterFilter{limit: completeMost}).list(ctx, cfg, pool)
			if err != nil {
				return err
			}
			for _, d := range l.Letters {
				if id := strconv.FormatInt(d.ID, 10); !slices.Contains(args, id) {
					ids = append(ids, cobra.CompletionWithDesc(id, fmt.Sprintf("%s: %s of %s, %s", d.Reactor, d.Op, d.Table, code(d.Code))))
				}
			}
			return nil
		})
		if err != nil {
			cobra.CompErrorln(err.Error())
		}
		return ids, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}
