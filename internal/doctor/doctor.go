// Package doctor looks at a project, the way to it and this machine, and says what
// is wrong and what to do about it.
//
// Each Check stands alone: what it may not look at is a Finding too. None changes
// anything in the project but what it takes back.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/replication/stream"
)

// Severity is how bad a Finding is.
type Severity string

// Severities.
const (
	OK   Severity = "ok"
	Info Severity = "info" // good to know
	Warn Severity = "warn" // helixd works, and something is worse than it could be, or will be
	Fail Severity = "fail" // helixd, or what apps see of it, does not work, or is not safe
)

// Kind is one thing that a check can find. docs/doctor.md has them all.
type Kind struct {
	Name     string
	Severity Severity
}

// What every check can find.
var (
	Fine         = Kind{"ok", OK}
	CouldNotLook = Kind{"could-not-look", Warn}
	Skipped      = Kind{"skipped", Info} // it needs what another check found missing
)

// Finding is what a check found.
type Finding struct {
	Check    string   `json:"check"`
	Kind     string   `json:"kind"`
	Severity Severity `json:"severity"`
	Problem  string   `json:"problem"` // or what is fine
	Remedy   string   `json:"remedy,omitempty"`
	SQL      string   `json:"sql,omitempty"` // that the remedy is to run
}

func (k Kind) found(remedy, sql, problem string, args ...any) Finding {
	return Finding{Kind: k.Name, Severity: k.Severity, Problem: fmt.Sprintf(problem, args...), Remedy: remedy, SQL: sql}
}

func fine(what string, args ...any) []Finding {
	return []Finding{Fine.found("", "", what, args...)}
}

// need is what a check cannot do without.
type need int

const (
	nothing  need = iota
	database      // a connection
	schema        // and helixd's tables
)

// Check looks at one thing.
type Check struct {
	Name  string
	Kinds []Kind // beside those of every check

	needs need
	look  func(context.Context, *Doctor) ([]Finding, error)
}

// Config is what there is to look at.
type Config struct {
	DatabaseURL string
	Unusable    *stream.SetupError // why DatabaseURL cannot be used; nil: it can
	Slot        string
	Publication string
	Tables      map[string][]string // that the publication must carry, with their columns

	SupabaseURL string
	ServiceKey  string
	JWTSecret   string // of the project's legacy tokens; with it the round trip is an app's, too
	Keys        []Key
	Ask         bool // the providers of Keys, whether they take them

	Connections int // that a process of helixd takes at most
	// Sandbox starts a worker child and gives the layers that hold; nil: nothing here runs one.
	Sandbox func(context.Context) ([]sandbox.Layer, error)
	Unsafe  bool // HELIX_SANDBOX

	Timeout  time.Duration // of each check; 0: 10 s
	Long     time.Duration // of a transaction that is worth a word; 0: 5 min
	HTTP     *http.Client  // nil: one that follows no redirects
	Resolver *net.Resolver // nil: the machine's
	Now      func() time.Time
	// Reaches reports whether this machine has a route to an address; nil: asks the kernel.
	Reaches func(netip.Addr) bool
}

// Doctor runs the checks.
type Doctor struct {
	Config
	pool        *pgxpool.Pool // nil: no connection
	unreachable error         // why there is none
	migrated    bool
}

// New makes a Doctor. Close ends its connections.
func New(c Config) *Doctor {
	if c.Timeout == 0 {
		c.Timeout = 10 * time.Second
	}
	if c.Long == 0 {
		c.Long = 5 * time.Minute
	}
	if c.Resolver == nil {
		c.Resolver = net.DefaultResolver
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Reaches == nil {
		c.Reaches = reaches
	}
	return &Doctor{Config: c}
}

// Close ends the connections.
func (d *Doctor) Close() {
	if d.pool != nil {
		d.pool.Close()
	}
}

// Select gives the checks of these names, all where there are none, without the
// skipped ones. A name that is none is an error.
func Select(only, skip []string) ([]Check, error) {
	all := Checks()
	for _, name := range slices.Concat(only, skip) {
		if !slices.ContainsFunc(all, func(c Check) bool { return c.Name == name }) {
			return nil, fmt.Errorf("there is no check %q: there are %s", name, strings.Join(Names(), ", "))
		}
	}
	return slices.DeleteFunc(all, func(c Check) bool {
		return len(only) > 0 && !slices.Contains(only, c.Name) || slices.Contains(skip, c.Name)
	}), nil
}

// Names are those of all checks.
func Names() []string {
	var names []string
	for _, c := range Checks() {
		names = append(names, c.Name)
	}
	return names
}

// Run runs checks one after another, and tells each one's findings as it goes.
func (d *Doctor) Run(ctx context.Context, checks []Check, tell func(Check, []Finding)) {
	d.unreachable = d.open(ctx)
	for _, c := range checks {
		if ctx.Err() != nil {
			return
		}
		found := d.run(ctx, c)
		for i := range found {
			found[i].Check = c.Name
		}
		tell(c, found)
	}
}

func (d *Doctor) run(ctx context.Context, c Check) []Finding {
	switch {
	case c.needs >= database && d.unreachable != nil:
		return []Finding{Skipped.found("See what check connection says.", "", "not looked at without a connection to the database")}
	case c.needs >= schema && !d.migrated:
		return []Finding{Skipped.found("Run: helixd migrate", "", "not looked at before helixd's schema is there")}
	}
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	found, err := c.look(ctx, d)
	if err != nil {
		return append(found, d.couldNotLook(ctx, c, err))
	}
	return found
}

// couldNotLook says why, and what to do so that it can be looked at.
func (d *Doctor) couldNotLook(ctx context.Context, c Check, err error) Finding {
	var pgErr *pgconn.PgError
	switch {
	case errors.As(err, &pgErr) && pgErr.Code == "42501":
		return CouldNotLook.found("Connect as role postgres, or run as an administrator:",
			"grant pg_monitor, pg_read_all_data to "+d.user(ctx)+";", "could not look: %s", pgErr.Message)
	case errors.Is(err, context.DeadlineExceeded), pgErr != nil && pgErr.Code == "57014":
		return CouldNotLook.found("Run: helixd doctor --only "+c.Name+" --timeout 1m", "", "could not look: it took too long")
	case pgErr != nil:
		return CouldNotLook.found("Run: helixd doctor --only "+c.Name, "", "could not look: %s (%s)", pgErr.Message, pgErr.Code)
	}
	return CouldNotLook.found("Run: helixd doctor --only "+c.Name, "", "could not look: %v", err)
}

// open makes the pool, and finds out whether helixd's schema is there.
func (d *Doctor) open(ctx context.Context) error {
	if d.Unusable != nil {
		return d.Unusable
	}
	cfg, err := pgxpool.ParseConfig(d.DatabaseURL)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	cfg.MaxConns, cfg.MinConns, cfg.MinIdleConns = 2, 0, 0
	cfg.ConnConfig.RuntimeParams["application_name"] = "helixd doctor"
	// A pooler takes nothing else, and no prepared statements.
	cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	cfg.ConnConfig.LookupFunc = d.Resolver.LookupHost
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return err
	}
	// to_regclass would ask for a right on the schema, which is a matter of the checks.
	if err := pool.QueryRow(ctx, `select count(*) = 3 from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where n.nspname = 'helix' and c.relname in ('migrations', 'checkpoints', 'leaders')`).Scan(&d.migrated); err != nil {
		pool.Close()
		return err
	}
	d.pool = pool
	return nil
}

// list reads rows of one column.
func list[T any](ctx context.Context, d *Doctor, sql string, args ...any) ([]T, error) {
	rows, err := d.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[T])
}

// rowsOf reads rows into a struct, column by column.
func rowsOf[T any](ctx context.Context, d *Doctor, sql string, args ...any) ([]T, error) {
	rows, err := d.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[T])
}
