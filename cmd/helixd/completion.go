package main

import (
	"fmt"
	"slices"

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
