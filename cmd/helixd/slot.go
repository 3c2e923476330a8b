package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/helixd/helixd/replication/stream"
)

func slotCommand(cfg *config) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "slot",
		Short: "Show the replication slot, or have it made anew",
		Long: "The slot is where the server notes how far helixd has read the write-ahead log, and what of it to keep.\n" +
			"helixd makes it, and makes it anew where it is lost; nothing but helixd may use it.",
		Example: "  helixd slot show\n  helixd slot recreate",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(slotShowCommand(cfg), slotRecreateCommand(cfg))
	for _, c := range cmd.Commands() {
		c.Args = wrongUse(c.Args)
	}
	cmd.Args = knownCommand
	return cmd
}

func slotShowCommand(cfg *config) *cobra.Command {
	return showSettings(&cobra.Command{
		Use:   "show",
		Short: "Where the slot is, what the server keeps for it, and who leads",
		Long: "show prints the slot as the server has it beside helixd's own checkpoint. It changes nothing.\n\n" +
			"Exit status: 0 shown; 1 the database failed; 2 wrong usage; 3 there is no slot, or the server has lost what it needs.",
		Example: "  helixd slot show\n  helixd slot show --output json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withPool(cmd.Context(), cfg, func(pool *pgxpool.Pool) error {
				s, err := readSlot(cmd.Context(), pool, cfg.slot)
				if err != nil {
					return err
				}
				if err := cfg.print(cmd, s, s.print); err != nil {
					return err
				}
				if !s.Exists || s.WALStatus == "lost" {
					return errFindings
				}
				return nil
			})
		},
	}, "slot")
}

// slotState is the slot as the server has it, with what helixd knows of it.
type slotState struct {
	Name      string  `json:"name"`
	Exists    bool    `json:"exists"`
	Plugin    *string `json:"plugin"`
	Active    bool    `json:"active"`
	ActivePID *int    `json:"active_pid"`
	Restart   *string `json:"restart_lsn"`
	Confirmed *string `json:"confirmed_lsn"`
	WALEnd    string  `json:"wal_end"`
	WALStatus string  `json:"wal_status"`
	Retained  *int64  `json:"retained_bytes"`
	Safe      *int64  `json:"safe_bytes"` // null: the server has no limit

	Checkpoint   *string    `json:"checkpoint_lsn"`
	CheckpointAt *time.Time `json:"checkpoint_at"`
	Lag          *int64     `json:"lag_bytes"` // from the checkpoint to the end of the WAL
	Repair       string     `json:"repair,omitempty"`
	Repaired     *time.Time `json:"repaired_at"`

	Leader    *string    `json:"leader"` // null: none lives
	Heartbeat *time.Time `json:"heartbeat_at"`
	Paused    *time.Time `json:"paused_since"`

	Now time.Time `json:"at"`

	backfill map[string]int64
}

func readSlot(ctx context.Context, pool *pgxpool.Pool, slot string) (*slotState, error) {
	rows, err := pool.Query(ctx, `select $1::text as name, s.slot_name is not null as exists, s.plugin::text, coalesce(s.active, false) as active, s.active_pid,
			s.restart_lsn::text, s.confirmed_flush_lsn::text, pg_current_wal_lsn()::text as wal_end, coalesce(s.wal_status, '') as wal_status,
			(pg_current_wal_lsn() - s.restart_lsn)::bigint as retained, s.safe_wal_size,
			c.lsn::text as checkpoint, c.updated_at, (pg_current_wal_lsn() - c.lsn)::bigint as lag, coalesce(c.repair, ''), c.repaired_at,
			l.holder, l.heartbeat_at, p.since, now(), l.backfill
		from (select) one left join pg_replication_slots s on s.slot_name = $1 left join helix.checkpoints c on c.slot = $1
		left join helix.leaders l on l.slot = $1 and `+stream.Lives+`
		left join helix.paused p on p.what = 'stream' and p.ended_at is null and (p.until is null or p.until > now())`, slot)
	if err != nil {
		return nil, fmt.Errorf("read slot %q: %w", slot, err)
	}
	s, err := pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (*slotState, error) {
		var s slotState
		err := row.Scan(&s.Name, &s.Exists, &s.Plugin, &s.Active, &s.ActivePID, &s.Restart, &s.Confirmed, &s.WALEnd, &s.WALStatus, &s.Retained, &s.Safe,
			&s.Checkpoint, &s.CheckpointAt, &s.Lag, &s.Repair, &s.Repaired, &s.Leader, &s.Heartbeat, &s.Paused, &s.Now, &s.backfill)
		return &s, err
	})
	if err != nil {
		return nil, fmt.Errorf("read slot %q: %w", slot, err)
	}
	return s, nil
}

// repairing reports whether the leader makes the slot anew now, or is about to.
func (s *slotState) repairing() bool {
	return s.Leader != nil && (s.Repair != "" || s.backfill != nil || !s.Exists || s.Confirmed == nil)
}

// awaits says what a new slot waits for, "" where that is nobody's doing.
func (s *slotState) awaits() string {
	switch {
	case s.Paused != nil:
		return "the stream is paused, and no slot is made meanwhile; waiting for: helixd resume stream"
	case s.Leader == nil:
		return "no helixd leads now; waiting for one"
	case s.Repair != "" && s.Active:
		return "waiting for " + *s.Leader + ", which leads"
	}
	return ""
}

func (s *slotState) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) { fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, args...)) }
	line("slot", "%s", s.Name)
	if s.Exists {
		line("plugin", "%s", deref(s.Plugin, "none"))
		active := "no"
		if s.ActivePID != nil {
			active = fmt.Sprintf("yes, pid %d", *s.ActivePID)
		}
		line("active", "%s", active)
		line("restart", "%s", deref(s.Restart, "none"))
		line("confirmed", "%s", deref(s.Confirmed, "none"))
	} else {
		line("state", "there is no such slot; helixd run makes it")
	}
	line("end of the WAL", "%s", s.WALEnd)
	if s.Checkpoint != nil {
		line("checkpoint", "%s, %s behind, written %s ago", *s.Checkpoint, megabytes(*s.Lag), s.Now.Sub(*s.CheckpointAt).Round(time.Second))
	} else {
		line("checkpoint", "none: nothing was ever applied")
	}
	if s.Retained != nil {
		safe := "any amount more is kept: max_slot_wal_keep_size is not set"
		if s.Safe != nil {
			safe = megabytes(*s.Safe) + " more may be written"
		}
		line("WAL kept for it", "%s, %s (%s)", megabytes(*s.Retained), safe, s.WALStatus)
	} else if s.Exists {
		line("WAL kept for it", "none (%s)", s.WALStatus)
	}
	if s.Leader != nil {
		line("leader", "%s", *s.Leader)
	} else {
		line("leader", "none: no helixd streams")
	}
	if s.Paused != nil {
		line("paused", "for %s", s.Now.Sub(*s.Paused).Round(time.Second))
	}
	if s.Repair != "" {
		line("to be made anew", "%s", s.Repair)
	}
	return t.Flush()
}

func deref(s *string, none string) string {
	if s == nil {
		return none
	}
	return *s
}

func slotRecreateCommand(cfg *config) *cobra.Command {
	var yes bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "recreate",
		Short: "Have helixd make the slot anew, and read all rows once",
		Long: "recreate tells the helixd that leads to drop its slot, make a new one, and read all rows of the tables that it\n" +
			"watches once, as it does by itself where the slot is lost. It first says what lies between the checkpoint and the\n" +
			"end of the WAL, and asks. It returns when changes are streamed again. Where no helixd runs, the next one that\n" +
			"starts does it, first of all.\n\n" +
			"Exit status: 0 streaming again, or noted for the next helixd; 1 failed, or --timeout was over (helixd goes on\n" +
			"nevertheless); 2 wrong usage, or nobody who could be asked.",
		Example: "  helixd slot recreate\n  helixd slot recreate --yes --timeout 1h",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withPool(cmd.Context(), cfg, func(pool *pgxpool.Pool) error {
				return recreateSlot(cmd, cfg, pool, yes, timeout)
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().DurationVar(&timeout, "timeout", time.Hour, "how long to wait until changes are streamed again")
	return showSettings(cmd, "slot")
}

// gap is what a new slot passes over.
type gap struct {
	Slot         string           `json:"slot"`
	Checkpoint   string           `json:"checkpoint_lsn"`
	CheckpointAt time.Time        `json:"checkpoint_at"`
	WALEnd       string           `json:"wal_end"`
	Bytes        int64            `json:"bytes"`
	Rows         map[string]int64 `json:"rows"`  // to read; estimates above a million
	State        string           `json:"state"` // of the slot in the end: noted, streaming
	Seconds      float64          `json:"seconds,omitempty"`
}

func recreateSlot(cmd *cobra.Command, cfg *config, pool *pgxpool.Pool, yes bool, timeout time.Duration) error {
	ctx, errs := cmd.Context(), cmd.ErrOrStderr()
	s, err := readSlot(ctx, pool, cfg.slot)
	switch {
	case err != nil:
		return err
	case s.Checkpoint == nil && s.Leader != nil:
		return &stream.SetupError{Problem: fmt.Sprintf("%s makes slot %q just now, for the first time", *s.Leader, cfg.slot), Hint: "See how far it is: helixd status"}
	case s.Checkpoint == nil:
		return &stream.SetupError{Problem: fmt.Sprintf("helixd has never streamed from slot %q", cfg.slot), Hint: "Run: helixd run, which makes it; or name another one with --slot."}
	case s.Paused != nil:
		return &stream.SetupError{Problem: "the stream is paused, and no slot is made meanwhile", Hint: "Run: helixd resume stream"}
	}
	g := &gap{Slot: s.Name, Checkpoint: *s.Checkpoint, CheckpointAt: *s.CheckpointAt, WALEnd: s.WALEnd, Bytes: *s.Lag, State: "noted"}
	if g.Rows, err = countRows(ctx, pool, cfg); err != nil {
		return err
	}
	if err := g.print(errs, s.Now); err != nil {
		return err
	}
	if err := confirm(cmd, yes, "Make the slot anew?", "yes"); err != nil {
		return err
	}
	if s, err = readSlot(ctx, pool, cfg.slot); err != nil { // an answer may take long
		return err
	}
	if s.repairing() { // which takes this for done, too
		fmt.Fprintf(errs, "a repair is under way: %s makes the slot anew already; waiting for that\n", *s.Leader)
	}
	_, err = pool.Exec(ctx, "update helix.checkpoints set repair = $2, repairs = 0 where slot = $1", cfg.slot, "helixd slot recreate was run by "+whoAmI())
	if err != nil {
		return fmt.Errorf("ask for a new slot: %w", err)
	}
	if s.Leader != nil {
		if err := awaitSlot(ctx, pool, s, g, timeout, errs); err != nil {
			return err
		}
		g.State = "streaming"
	}
	return cfg.print(cmd, g, func(w io.Writer) error {
		if g.State == "noted" {
			_, err := fmt.Fprintln(w, "noted: no helixd runs now; the next helixd run makes the slot anew, first of all")
			return err
		}
		_, err := fmt.Fprintf(w, "streaming again, from a new slot, after %.1f s\n", g.Seconds)
		return err
	})
}

func (g *gap) print(w io.Writer, now time.Time) error {
	var all int64
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "The checkpoint is at %s, %s old; the WAL ends at %s, %s later.\n",
		g.Checkpoint, now.Sub(g.CheckpointAt).Round(time.Second), g.WALEnd, megabytes(g.Bytes))
	fmt.Fprintln(w, "A new slot begins at that end, and these rows are read once, as they are then:")
	for _, table := range sortedKeys(g.Rows) {
		all += g.Rows[table]
		fmt.Fprintf(t, "%d\t%s\t\n", g.Rows[table], strings.TrimPrefix(table, "public."))
	}
	fmt.Fprintf(t, "%d\tin all\t\n", all)
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprint(w, "What reading rows cannot bring back, of the changes since the checkpoint: of a row that was written several times\n"+
		"only the last version is seen, and a row that came and went is not. Deletes of rows that were there are not lost.\n")
	return err
}

// countRows counts what a repair reads, and estimates where that is much.
func countRows(ctx context.Context, pool *pgxpool.Pool, cfg *config) (map[string]int64, error) {
	counts := map[string]int64{}
	for _, r := range everyReactor(cfg) {
		for _, w := range r.Watches() {
			if _, done := counts[w.Table]; done || len(w.Columns) == 0 {
				continue
			}
			schema, name, _ := strings.Cut(w.Table, ".")
			table := pgx.Identifier{schema, name}.Sanitize()
			var n int64
			err := pool.QueryRow(ctx, `select case when n > 1000000 then greatest(n, (select reltuples::bigint from pg_class where oid = $1::regclass)) else n end
				from (select count(*) as n from (select from `+table+` limit 1000001) few) counted`, table).Scan(&n)
			if err != nil {
				return nil, fmt.Errorf("count the rows of %s: %w", w.Table, err)
			}
			counts[w.Table] = n
		}
	}
	return counts, nil
}
