package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"github.com/helixd/helixd/replication/stream"
)

func uninstallCommand(cfg *config) *cobra.Command {
	var u uninstall
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove what helixd made from the project, and keep users' data",
		Long: "uninstall drops helixd's slot and publication, its policies on realtime.messages, its triggers, functions and\n" +
			"views, and schema helix with all that is in it: queues, usage, audit chains, what sync knows of devices' versions,\n" +
			"and secrets that are not in the vault.\n\n" +
			"It keeps every table in public with its rows and columns, results included, and their row-level security with the\n" +
			"policies and grants: without them the data would be open, or closed to its owners. The tables stay in publication\n" +
			"supabase_realtime. Without the guards clients can write all columns of their own rows.\n\n" +
			"It finds what depends on schema helix in the catalogs, and refuses where something of the app's own does. It takes\n" +
			"few locks, none for long, and may be run again where it was ended. helixd migrate and helixd run bring all back.\n\n" +
			"Exit status: 0 done, or nothing to do; 1 failed; 2 wrong usage.",
		Example: "  helixd uninstall --dry-run\n  helixd uninstall\n  helixd uninstall --yes",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withConn(cmd.Context(), cfg, func(conn *pgx.Conn) error { return u.run(cmd, cfg, conn) })
		},
	}
	cmd.Flags().BoolVar(&u.dryRun, "dry-run", false, "print the SQL that would be run, and run none")
	cmd.Flags().BoolVar(&u.yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&u.force, "force", false, "even while a helixd runs, whose sessions are ended")
	return cmd
}

type uninstall struct{ dryRun, yes, force bool }

// uninstallReport is what uninstall prints.
type uninstallReport struct {
	Database string           `json:"database"`
	DryRun   bool             `json:"dry_run"`
	SQL      []string         `json:"sql"`
	Goes     map[string]int64 `json:"goes"` // rows of users in schema helix, by table
	Refused  []string         `json:"refused"`
}

func (u *uninstall) run(cmd *cobra.Command, cfg *config, conn *pgx.Conn) error {
	ctx := cmd.Context()
	if _, err := conn.Exec(ctx, "set statement_timeout = 0"); err != nil {
		return databaseError(err)
	}
	steps, err := planUninstall(ctx, conn, cfg)
	if err != nil {
		return err
	}
	report := &uninstallReport{DryRun: u.dryRun, SQL: []string{}, Goes: map[string]int64{}, Refused: []string{}}
	if err := conn.QueryRow(ctx, "select current_database()").Scan(&report.Database); err != nil {
		return databaseError(err)
	}
	for _, s := range steps {
		report.SQL = append(report.SQL, s.script())
	}
	if len(steps) == 0 || u.dryRun {
		return cfg.print(cmd, report, report.write)
	}
	running, err := whoRuns(ctx, conn, cfg.slot)
	if err != nil {
		return err
	}
	if running != "" && !u.force {
		return &stream.SetupError{Problem: running + " runs", Hint: "End it, and any other helixd of this project, then run this again; one that was killed counts for 15 s more. Or use --force."}
	}
	if report.Goes, err = usersRows(ctx, conn); err != nil {
		return err
	}
	question := fmt.Sprintf("This removes helixd from database %q, and keeps the tables in public.", report.Database)
	for table, n := range report.Goes {
		question += fmt.Sprintf("\n  %s goes with %d rows", table, n)
	}
	if err := confirm(cmd, u.yes, question+"\n", report.Database); err != nil {
		return err
	}
	// A helixd that runs makes a slot that it misses, until schema helix is gone. Left
	// over, one would keep the server's WAL for ever.
	for _, s := range steps {
		if s.alone {
			steps = append(steps, s)
		}
	}
	for _, s := range steps {
		err := s.run(ctx, conn)
		var pgErr *pgconn.PgError
		errors.As(err, &pgErr)
		if s.optional && pgErr != nil && pgErr.Code == "42501" {
			report.Refused = append(report.Refused, s.script())
			continue
		}
		if pgErr != nil && pgErr.Code == "2BP01" {
			return &stream.SetupError{Problem: "the app uses what helixd made: " + strings.ReplaceAll(pgErr.Detail, "\n", ", "),
				Hint: "Drop or alter it, then run this again: nothing of yours is dropped for you."}
		}
		if err != nil {
			return fmt.Errorf("%s: %w; what was done before stays done: run it again", s.what, err)
		}
	}
	return cfg.print(cmd, report, report.write)
}

func (r *uninstallReport) write(out io.Writer) error {
	var b strings.Builder
	switch {
	case len(r.SQL) == 0:
		fmt.Fprintf(&b, "Nothing of helixd's is in database %q.\n", r.Database)
	case r.DryRun:
		b.WriteString(strings.Join(r.SQL, "\n"))
	default:
		fmt.Fprintf(&b, "helixd is removed from database %q. The tables in public are as they were, with row-level security.\n", r.Database)
	}
	if len(r.Refused) > 0 {
		b.WriteString("\nThe server refused this; run it as the owner of realtime.messages (dashboard → SQL Editor):\n" + strings.Join(r.Refused, "\n"))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// whoRuns names a helixd that lives, "" for none.
func whoRuns(ctx context.Context, conn *pgx.Conn, slot string) (string, error) {
	var leader, worker, streams bool
	err := conn.QueryRow(ctx, "select exists (select from pg_replication_slots where slot_name = $1 and active)", slot).Scan(&streams)
	if err != nil {
		return "", fmt.Errorf("look whether helixd runs: %w", err)
	}
	for table, lives := range map[string]*bool{"helix.leaders": &leader, "helix.workers": &worker} {
		var there bool
		if err := conn.QueryRow(ctx, "select to_regclass($1) is not null", table).Scan(&there); err != nil {
			return "", fmt.Errorf("look whether helixd runs: %w", err)
		}
		if !there {
			continue
		}
		err := conn.QueryRow(ctx, "select exists (select from "+table+" l where heartbeat_at > clock_timestamp() - $1::interval and not "+stream.HasLeft+")", leaderlessFrom).Scan(lives)
		if err != nil {
			return "", fmt.Errorf("look whether helixd runs: %w", err)
		}
	}
	switch {
	case leader || streams:
		return "a helixd that leads", nil
	case worker:
		return "a helixd that works jobs", nil
	}
	return "", nil
}

// usersRows counts what users have in schema helix.
func usersRows(ctx context.Context, conn *pgx.Conn) (map[string]int64, error) {
	counts := map[string]int64{}
	rows, err := conn.Query(ctx, `select c.oid::regclass::text from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'user_id'
		where c.relnamespace = to_regnamespace('helix') and c.relkind in ('r', 'p') order by 1`)
	if err != nil {
		return nil, databaseError(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, databaseError(err)
	}
	for _, table := range tables {
		n, err := get1[int64](ctx, conn, "select count(*) from "+table)
		if err != nil {
			return nil, fmt.Errorf("count %s: %w", table, err)
		}
		if n > 0 {
			counts[table] = n
		}
	}
	return counts, nil
}

// step is a transaction of uninstall.
type step struct {
	what     string
	sql      []string
	alone    bool // not in a transaction block: slots
	optional bool // the role may lack the right to
	check    func(context.Context, pgx.Tx) error
}

const uninstallLock = "set local lock_timeout = '2s'"

// script is the step as an operator could run it.
func (s *step) script() string {
	if s.alone {
		return strings.Join(s.sql, ";\n") + ";\n"
	}
	return "begin;\n" + uninstallLock + ";\n" + strings.Join(s.sql, ";\n") + ";\ncommit;\n"
}

// run tries a step until it has its locks, for a minute.
func (s *step) run(ctx context.Context, conn *pgx.Conn) error {
	for deadline := time.Now().Add(time.Minute); ; {
		err := s.try(ctx, conn)
		var pgErr *pgconn.PgError
		busy := errors.As(err, &pgErr) && (pgErr.Code == "55P03" || pgErr.Code == "40P01" || pgErr.Code == "55006") // lock, deadlock, slot in use
		if !busy || time.Now().After(deadline) {
			return err
		}
		if err := sleepUntil(ctx, time.Now().Add(500*time.Millisecond)); err != nil {
			return err
		}
	}
}

func (s *step) try(ctx context.Context, conn *pgx.Conn) error {
	if s.alone {
		for _, sql := range s.sql {
			if _, err := conn.Exec(ctx, sql); err != nil {
				return err
			}
		}
		return nil
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, uninstallLock); err != nil {
			return err
		}
		if s.check != nil {
			if err := s.check(ctx, tx); err != nil {
				return err
			}
		}
		for _, sql := range s.sql {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		return nil
	})
}
