package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helixd/helixd/deploy"
	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/replication/stream"
)

// initiation is what helixd init is told, and what it has done.
type initiation struct {
	migrations string
	unit       string
	compose    string
	force      bool
	noCheck    bool

	ask     *prompt         // nil without a terminal
	entered map[string]bool // variables that were asked for

	Wrote []string `json:"wrote"`
	Kept  []string `json:"kept"` // with the reason
	Next  []string `json:"next"`
}

const envFile = ".env"

func initCommand(cfg *config) *cobra.Command {
	var in initiation
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write .env and what else a project needs to run helixd",
		Long: "init asks for the project's connection string, tries it, and writes what helixd needs into this folder:\n\n" +
			"  .env                  settings, for you alone to read; all that may be set is there with its meaning\n" +
			"  .gitignore            gets a line for .env, where there is a .gitignore or a repository\n" +
			"  supabase/migrations   helixd's tables as files for the Supabase CLI, where there is a folder supabase\n\n" +
			"and, when asked, a unit for systemd or a file for docker compose.\n\n" +
			"Without a terminal it asks nothing and takes the environment: SUPABASE_DB_URL, and any other setting that\n" +
			"is set there. It may run again: what is in .env stays, and only what is missing is added; a unit or compose\n" +
			"file that you have changed is replaced when you say so, or with --force, which also puts settings of the\n" +
			"environment in the place of those in .env.\n\n" +
			"Exit status: 0 done; 1 the server cannot be reached or used, or a file not written; 2 wrong usage.",
		Example: "  helixd init\n  SUPABASE_DB_URL='postgresql://…' helixd init --systemd\n  helixd init --compose --migrations db/migrations",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			in.ask, in.entered, in.Wrote, in.Kept = newPrompt(cmd), map[string]bool{}, []string{}, []string{}
			if err := in.run(cmd.Context(), cfg, cmd.Flags()); err != nil {
				return err
			}
			return cfg.print(cmd, in, in.text)
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.migrations, "migrations", "", "folder for migration files (default supabase/migrations, where there is a folder supabase)")
	f.StringVar(&in.unit, "systemd", "", "write a unit for systemd into this file")
	f.StringVar(&in.compose, "compose", "", "write a file for docker compose")
	f.Lookup("systemd").NoOptDefVal = "helixd.service"
	f.Lookup("compose").NoOptDefVal = "compose.yaml"
	f.BoolVar(&in.force, "force", false, "replace what is there and differs")
	f.BoolVar(&in.noCheck, "no-check", false, "do not try the connection")
	return cmd
}

func (in *initiation) run(ctx context.Context, cfg *config, flags *pflag.FlagSet) error {
	if err := in.connection(ctx, cfg); err != nil {
		return err
	}
	if err := in.keys(ctx, cfg); err != nil {
		return err
	}
	if err := in.writeEnv(cfg, flags); err != nil {
		return err
	}
	if err := in.ignore(); err != nil {
		return err
	}
	if err := in.export(); err != nil {
		return err
	}
	for _, file := range []struct{ path, text string }{{in.unit, deploy.Unit}, {in.compose, deploy.Compose}} {
		if file.path == "" {
			continue
		}
		if err := in.write(ctx, file.path, file.text); err != nil {
			return err
		}
	}
	in.next()
	return nil
}

// connection finds a connection string that the server accepts. On a terminal it
// asks until there is one.
func (in *initiation) connection(ctx context.Context, cfg *config) error {
	for {
		err := in.try(ctx, cfg)
		if err == nil || in.ask == nil || ctx.Err() != nil {
			return err
		}
		if cfg.databaseURL != "" {
			in.ask.complain(databaseError(err))
		}
		if cfg.databaseURL, err = in.ask.secret(ctx, "Connection string (dashboard → Connect → Direct connection; it is not shown): "); err != nil {
			return err
		}
		in.entered["SUPABASE_DB_URL"] = true
	}
}

func (in *initiation) try(ctx context.Context, cfg *config) error {
	if err := cfg.requireDatabase(); err != nil {
		return err
	}
	if in.noCheck {
		return nil
	}
	s, err := stream.Open(ctx, cfg.stream(cfg.logger()))
	if err != nil {
		return err
	}
	s.Close()
	return nil
}

// keys fills in the project's address, which the name of its host tells, and on a
// terminal asks for its key.
func (in *initiation) keys(ctx context.Context, cfg *config) (err error) {
	parsed, err := pgx.ParseConfig(cfg.databaseURL)
	if err != nil {
		return databaseError(err)
	}
	if ref := regexp.MustCompile(`^db\.([a-z0-9]+)\.supabase\.co$`).FindStringSubmatch(parsed.Host); ref != nil && cfg.voice.supabaseURL == "" {
		cfg.voice.supabaseURL = "https://" + ref[1] + ".supabase.co"
	}
	if in.ask != nil && cfg.voice.serviceKey == "" {
		cfg.voice.serviceKey, err = in.ask.secret(ctx, "Secret key, for recordings in Storage (dashboard → Project Settings → API Keys; it is not shown; Enter for none): ")
		in.entered["SUPABASE_SERVICE_ROLE_KEY"] = cfg.voice.serviceKey != ""
	}
	return err
}

// export writes the migration files where there is a folder for them. It never
// changes one that is there: the Supabase CLI may have applied it.
func (in *initiation) export() error {
	dir := in.migrations
	if dir == "" {
		if info, err := os.Stat("supabase"); err != nil || !info.IsDir() {
			return nil
		}
		dir = filepath.Join("supabase", "migrations")
	}
	written, err := migrations.Export(dir)
	in.Wrote = append(in.Wrote, written...)
	if err == nil && len(written) == 0 {
		in.Kept = append(in.Kept, dir+": all files are there already")
	}
	in.migrations = dir
	return err
}

// write makes a file, and asks before it replaces another text.
func (in *initiation) write(ctx context.Context, path, text string) error {
	old, err := os.ReadFile(path)
	switch {
	case err == nil && string(old) == text:
		in.Kept = append(in.Kept, path+": it is as it should be")
		return nil
	case err == nil && !in.force:
		replace := false
		if in.ask != nil {
			if replace, err = in.ask.yes(ctx, path+" is there, and differs. Replace it?"); err != nil {
				return err
			}
		}
		if !replace {
			in.Kept = append(in.Kept, path+": it differs; --force replaces it")
			return nil
		}
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return err
	}
	in.Wrote = append(in.Wrote, path)
	return nil
}

func (in *initiation) next() {
	if in.migrations != "" {
		in.Next = append(in.Next, "supabase db push        # or: helixd migrate")
	} else {
		in.Next = append(in.Next, "helixd migrate          # makes helixd's tables")
	}
	switch {
	case in.unit != "":
		in.Next = append(in.Next, "sudo install -D -m 600 .env /etc/helixd/helixd.env",
			"sudo install -m 644 "+in.unit+" /etc/systemd/system/helixd.service",
			"sudo systemctl daemon-reload && sudo systemctl enable --now helixd")
	case in.compose != "":
		in.Next = append(in.Next, "docker compose -f "+in.compose+" up -d")
	default:
		in.Next = append(in.Next, "helixd run              # in another terminal")
	}
	in.Next = append(in.Next, "helixd demo             # first results, on a user that is removed again")
}

func (in *initiation) text(out io.Writer) error {
	for _, path := range slices.Compact(in.Wrote) {
		fmt.Fprintln(out, "wrote", path)
	}
	for _, kept := range in.Kept {
		fmt.Fprintln(out, "kept ", kept)
	}
	fmt.Fprintln(out, "\nNext:")
	for _, command := range in.Next {
		if _, err := fmt.Fprintln(out, " ", command); err != nil {
			return err
		}
	}
	return nil
}
