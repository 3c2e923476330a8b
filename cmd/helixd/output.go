package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// Exit statuses. What is found wrong with a project is no failure of the command
// that found it, and scripts can tell the two apart.
const (
	statusFailed   = 1
	statusUsage    = 2
	statusFindings = 3
)

// Forms of --output.
const (
	outputText = "text"
	outputJSON = "json"
)

// print writes what a command found: as one JSON value and a line break with --output
// json, else as text does.
func (c *config) print(cmd *cobra.Command, v any, text func(io.Writer) error) error {
	if c.output != outputJSON {
		return text(cmd.OutOrStdout())
	}
	enc := json.NewEncoder(cmd.OutOrStdout())
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// errFindings ends a command with statusFindings, and says nothing more: what it
// found it has printed.
var errFindings = errors.New("something is wrong with the project")

// complain writes an error with its next step to stderr, and gives the exit status.
func (c *config) complain(errs io.Writer, err error) int {
	if errors.Is(err, errFindings) {
		return statusFindings
	}
	if err == context.Canceled { //nolint:errorlint // what wraps it says more
		err = errors.New("interrupted")
	}
	hint := hintOf(err)
	if c.output == outputJSON {
		enc := json.NewEncoder(errs)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(struct {
			Error string `json:"error"`
			Hint  string `json:"hint,omitempty"`
		}{err.Error(), hint})
	} else {
		fmt.Fprintln(errs, "helixd:", err)
		if hint != "" {
			fmt.Fprintln(errs, "  →", hint)
		}
	}
	var usage *usageError
	if errors.As(err, &usage) {
		return statusUsage
	}
	return statusFailed
}
