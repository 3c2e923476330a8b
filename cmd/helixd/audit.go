package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	chain "github.com/helixd/helixd/reactors/skills/host/audit"
)

func auditCommand(cfg *config) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Look at what skills were granted, were denied and did",
		Args:  knownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(auditVerifyCommand(cfg))
	return cmd
}

func auditVerifyCommand(cfg *config) *cobra.Command {
	var user, expect string
	var heads bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Compute the audit's hash chains anew",
		Long: "verify reads helix.audit, in which each user has a chain of entries, and computes every hash anew. It prints\n" +
			"a line for each chain that does not hold (user, number of the entry, what is wrong with it; 0 is the chain's\n" +
			"end) and a summary, and exits with 1 when there is one. It changes nothing, and may run beside helixd.\n\n" +
			"What a chain shows: that a column of an entry was changed, or an entry was taken out, put in or moved, by\n" +
			"whoever did not compute all later hashes of that user anew.\n" +
			"What it cannot show by itself: that its end was cut off together with its head, that whoever can write the\n" +
			"tables has written all of it anew, or that it went with its account, as it should. To see these, keep the\n" +
			"heads elsewhere, where nobody who can write the tables can write: --heads prints one a line (user, number,\n" +
			"hash), and --expect compares the chains with such a file. A chain that has only grown since is as expected.\n" +
			"Nor does it show that something was left out before it was written: helixd itself is trusted.",
		Example: "  helixd audit verify\n  helixd audit verify --heads > heads-2026-11-21\n  helixd audit verify --expect heads-2026-11-21",
		Args:    wrongUse(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := chain.Verification{}
			if user != "" {
				id, err := parseUser(user)
				if err != nil {
					return err
				}
				v.User = &id
			}
			if expect != "" {
				var err error
				if v.Expect, err = readHeads(expect); err != nil {
					return err
				}
			}
			report := cmd.OutOrStdout()
			broken, lines := []brokenChain{}, []string{}
			if heads {
				report = cmd.ErrOrStderr() // so that the heads alone go into a file
				v.Head = func(h chain.Head) {
					if cfg.output == outputJSON {
						lines = append(lines, h.String())
					} else {
						fmt.Fprintln(cmd.OutOrStdout(), h)
					}
				}
			}
			v.Break = func(b chain.Break) {
				broken = append(broken, brokenChain{b.User.String(), int64(b.Seq), b.What})
				if cfg.output != outputJSON {
					fmt.Fprintf(report, "%s %d %s\n", b.User, b.Seq, b.What)
				}
			}
			return withConn(cmd.Context(), cfg, func(conn *pgx.Conn) error {
				sum, err := chain.Verify(cmd.Context(), conn, v)
				if err != nil {
					return err
				}
				if cfg.output == outputJSON {
					found := map[string]any{"chains": sum.Chains, "entries": sum.Entries, "broken": broken}
					if heads {
						found["heads"] = lines
					}
					if err := cfg.print(cmd, found, nil); err != nil {
						return err
					}
				} else {
					fmt.Fprintf(report, "chains: %d, entries: %d, broken: %d\n", sum.Chains, sum.Entries, sum.Broken)
				}
				if sum.Broken > 0 {
					return fmt.Errorf("the audit does not hold; broken chains: %d", sum.Broken)
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&user, "user", "", "of this user only (uuid)")
	cmd.Flags().BoolVar(&heads, "heads", false, "print the head of each chain that holds; the rest goes to stderr")
	cmd.Flags().StringVar(&expect, "expect", "", "compare with the heads in this file, which --heads has printed")
	return cmd
}

// brokenChain is a place where a chain does not hold.
type brokenChain struct {
	User string `json:"user"`
	Seq  int64  `json:"entry"` // 0: the chain's end
	What string `json:"what"`
}

// readHeads reads a file of heads, one a line.
func readHeads(path string) ([]chain.Head, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the expected heads: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	var all []chain.Head
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		h, err := chain.ParseHead(line)
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, n, err)
		}
		all = append(all, h)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the expected heads: %w", err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("read the expected heads: %s has none: %w", path, io.ErrUnexpectedEOF)
	}
	return all, nil
}

func parseUser(text string) (uuid.UUID, error) {
	if text == "" {
		return uuid.Nil, &usageError{errors.New("--user: say whose, by the id in auth.users")}
	}
	id, err := uuid.Parse(text)
	if err != nil || id == uuid.Nil {
		return uuid.Nil, &usageError{fmt.Errorf("--user %q: it takes a user's id, a uuid", text)}
	}
	return id, nil
}
