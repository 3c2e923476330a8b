package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// confirm asks before something is destroyed, and goes on where the answer is word.
// With yes it asks nothing; without, and away from a terminal, it refuses.
func confirm(cmd *cobra.Command, yes bool, question, word string) error {
	if yes {
		return nil
	}
	in, ok := cmd.InOrStdin().(*os.File)
	if !ok || !isTerminal(in) {
		return &usageError{fmt.Errorf("%s asks before it destroys anything, and here is no terminal: add --yes", cmd.CommandPath())}
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s Type %s to go on: ", question, word)
	answer, err := bufio.NewReader(in).ReadString('\n')
	if err != nil || strings.TrimSpace(answer) != word {
		return errors.New("nothing was done")
	}
	return nil
}
