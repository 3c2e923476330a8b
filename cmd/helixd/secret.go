package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/helixd/helixd/reactors/skills/host/secrets"
)

func secretCommand(cfg *config) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "secret",
		Short: "Keep the secrets that users' skills send to APIs",
		Long: "A skill with the capability secrets:NAME writes {{secret:NAME}} into a header of a request, and helixd puts the\n" +
			"user's secret of this name there; the skill never sees it. Secrets are kept in Supabase Vault where the\n" +
			"project has it, as helix/<user>/<NAME>, else in helix.secrets, encrypted with age to HELIX_AGE_KEY.",
		Args: knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var user string
	cmd.PersistentFlags().StringVar(&user, "user", "", "whose secrets (uuid)")
	// with runs f with the store and the user.
	with := func(f func(*cobra.Command, []string, *secrets.Store, uuid.UUID) error) func(*cobra.Command, []string) error {
		return func(cmd *cobra.Command, args []string) error {
			id, err := parseUser(user)
			if err != nil {
				return err
			}
			return withConn(cmd.Context(), cfg, func(conn *pgx.Conn) error {
				store, err := secrets.New(conn, cfg.ageKey)
				if err != nil {
					return err
				}
				return f(cmd, args, store, id)
			})
		}
	}

	var hosts []string
	set := &cobra.Command{
		Use:     "set --user <uuid> [--host <name>]… NAME",
		Short:   "Make a secret or change it; its value is read from stdin",
		Long:    "set reads the value from stdin, without the line break at its end, and replaces value and hosts of a secret\nthat is there. With --host the secret goes to these hosts only, whatever else the skill may reach.",
		Example: "  helixd secret set --user 1b4e28ba-2fa1-41d2-883f-0016d3cca427 --host api.openai.com openai < key.txt",
		Args:    wrongUse(cobra.ExactArgs(1)),
		RunE: with(func(cmd *cobra.Command, args []string, store *secrets.Store, id uuid.UUID) error {
			if in, ok := cmd.InOrStdin().(*os.File); ok && isTerminal(in) {
				fmt.Fprintln(cmd.ErrOrStderr(), "The value, then Ctrl-D on a line of its own:")
			}
			value, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), secrets.MaxValue+3))
			if err != nil {
				return fmt.Errorf("read the value from stdin: %w", err)
			}
			text := strings.TrimSuffix(strings.TrimSuffix(string(value), "\n"), "\r")
			return store.Set(cmd.Context(), id, args[0], text, hosts)
		}),
	}
	set.Flags().StringArrayVar(&hosts, "host", nil, "a host that it may be sent to; may be given again")

	list := &cobra.Command{
		Use:   "list --user <uuid>",
		Short: "List a user's secrets, without their values",
		Args:  wrongUse(cobra.NoArgs),
		RunE: with(func(cmd *cobra.Command, _ []string, store *secrets.Store, id uuid.UUID) error {
			all, err := store.List(cmd.Context(), id)
			if err != nil {
				return err
			}
			type kept struct {
				Name      string    `json:"name"`
				Hosts     []string  `json:"hosts"` // none: any
				Vault     bool      `json:"vault"`
				UpdatedAt time.Time `json:"updated_at"`
			}
			shown := make([]kept, len(all))
			for i, s := range all {
				shown[i] = kept{s.Name, append([]string{}, s.Hosts...), s.Vault, s.UpdatedAt.UTC()}
			}
			return cfg.print(cmd, shown, func(out io.Writer) error {
				w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
				fmt.Fprintln(w, "NAME\tHOSTS\tKEPT IN\tCHANGED")
				for _, s := range shown {
					hosts, where := strings.Join(s.Hosts, ","), "helix.secrets (age)"
					if hosts == "" {
						hosts = "any"
					}
					if s.Vault {
						where = "Supabase Vault"
					}
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.Name, hosts, where, s.UpdatedAt.Format("2006-01-02 15:04"))
				}
				return w.Flush()
			})
		}),
	}

	remove := &cobra.Command{
		Use:   "remove --user <uuid> NAME",
		Short: "Delete a secret",
		Args:  wrongUse(cobra.ExactArgs(1)),
		RunE: with(func(cmd *cobra.Command, args []string, store *secrets.Store, id uuid.UUID) error {
			err := store.Remove(cmd.Context(), id, args[0])
			if errors.Is(err, secrets.ErrNotFound) {
				return fmt.Errorf("remove %q: %w", args[0], err)
			}
			return err
		}),
	}
	cmd.AddCommand(set, list, remove)
	return cmd
}
