package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// prompt asks on a terminal.
type prompt struct {
	in  *os.File
	out io.Writer
}

// newPrompt gives nil where nobody could answer.
func newPrompt(cmd *cobra.Command) *prompt {
	in, ok := cmd.InOrStdin().(*os.File)
	if !ok || !isTerminal(in) {
		return nil
	}
	return &prompt{in, cmd.ErrOrStderr()}
}

// secret reads a line that is not shown.
func (p *prompt) secret(ctx context.Context, question string) (string, error) {
	fmt.Fprint(p.out, question)
	defer fmt.Fprintln(p.out)
	return p.read(ctx, func() (string, error) {
		line, err := term.ReadPassword(int(p.in.Fd()))
		return string(line), err
	})
}

// yes asks a question whose answer is no unless it begins with y.
func (p *prompt) yes(ctx context.Context, question string) (bool, error) {
	fmt.Fprint(p.out, question, " [y/N] ")
	answer, err := p.read(ctx, func() (string, error) {
		var line []byte
		for b := make([]byte, 1); ; {
			switch n, err := p.in.Read(b); {
			case err != nil:
				return "", err
			case n == 1 && b[0] == '\n':
				return string(line), nil
			}
			line = append(line, b[0])
		}
	})
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(answer)), "y"), err
}

// read gives up when ctx ends, and leaves the terminal as it was: what waits for
// a line shows nothing of it meanwhile.
func (p *prompt) read(ctx context.Context, f func() (string, error)) (string, error) {
	state, err := term.GetState(int(p.in.Fd()))
	if err != nil {
		return "", fmt.Errorf("read the terminal's state: %w", err)
	}
	type answer struct {
		line string
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		line, err := f()
		answers <- answer{strings.TrimSpace(line), err}
	}()
	select {
	case a := <-answers:
		if errors.Is(a.err, io.EOF) {
			return "", errors.New("nothing was entered")
		}
		return a.line, a.err
	case <-ctx.Done():
		_ = term.Restore(int(p.in.Fd()), state)
		return "", ctx.Err()
	}
}

// complain shows an error, with its next step, before the question is asked again.
func (p *prompt) complain(err error) {
	fmt.Fprintln(p.out, "That does not work:", err)
	if hint := hintOf(err); hint != "" {
		fmt.Fprintln(p.out, "  →", hint)
	}
}
