package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"
)

var (
	oldServer = Kind{"old", Fail}

	slowTimeout = Kind{"long", Info}

	skewed = Kind{"skewed", Warn}

	openTransaction     = Kind{"open", Warn}
	preparedTransaction = Kind{"prepared", Warn}

	tooFew = Kind{"too-few", Warn}

	noVector      = Kind{"vector-missing", Fail}
	noVectorAtAll = Kind{"vector-not-installed", Fail}
	oldVector     = Kind{"vector-old", Fail}
	plainVector   = Kind{"vector-without-iterative-scans", Info}
	noVault       = Kind{"vault-missing", Info}
)

var serverChecks = []Check{
	{"version", []Kind{oldServer}, database, lookAtVersion},
	{"sender-timeout", []Kind{slowTimeout}, database, lookAtSenderTimeout},
	{"clock", []Kind{skewed}, database, lookAtClock},
	{"transactions", []Kind{openTransaction, preparedTransaction}, database, lookAtTransactions},
	{"connections", []Kind{tooFew}, database, lookAtConnections},
	{"extensions", []Kind{noVector, noVectorAtAll, oldVector, plainVector, noVault}, database, lookAtExtensions},
}

// oldest is the first Postgres with column lists in publications.
const oldest = 15

func lookAtVersion(ctx context.Context, d *Doctor) ([]Finding, error) {
	conn, err := d.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	version := conn.Conn().PgConn().ParameterStatus("server_version") // as the server said it first
	var major int
	if _, err := fmt.Sscanf(version, "%d", &major); err != nil {
		return nil, fmt.Errorf("read the server's version %q: %w", version, err)
	}
	if major < oldest {
		return []Finding{oldServer.found("Upgrade the project (dashboard → Project Settings → Infrastructure), or the server.", "", "the server is Postgres %d, and helixd needs %d or later", major, oldest)}, nil
	}
	return fine("Postgres %s", version), nil
}

func lookAtSenderTimeout(ctx context.Context, d *Doctor) ([]Finding, error) {
	var ms int64
	if err := d.pool.QueryRow(ctx, "select setting::bigint from pg_settings where name = 'wal_sender_timeout'").Scan(&ms); err != nil {
		return nil, err
	}
	if timeout := time.Duration(ms) * time.Millisecond; ms == 0 || timeout > 5*time.Minute {
		return []Finding{slowTimeout.found("Run as an administrator:", "alter system set wal_sender_timeout = '60s'; select pg_reload_conf();",
			"wal_sender_timeout is %s: others that replicate and vanish keep their walsender for so long, or for ever at 0; helixd has 10 s of its own", timeout)}, nil
	}
	return fine("wal_sender_timeout is %s; helixd has 10 s of its own", time.Duration(ms)*time.Millisecond), nil
}

// mostSkew is what a signed URL or a token still bears.
const mostSkew = 5 * time.Second

func lookAtClock(ctx context.Context, d *Doctor) ([]Finding, error) {
	var there time.Time
	before := d.Now()
	if err := d.pool.QueryRow(ctx, "select clock_timestamp()").Scan(&there); err != nil {
		return nil, err
	}
	took := d.Now().Sub(before)
	skew := before.Add(took / 2).Sub(there)
	if skew.Abs() > mostSkew+took {
		way := "ahead of"
		if skew < 0 {
			way = "behind"
		}
		return []Finding{skewed.found("Run on the machine whose clock is wrong: timedatectl set-ntp true", "", "this machine's clock is %s %s the server's", skew.Abs().Round(time.Second), way)}, nil
	}
	return fine("this machine and the server differ by less than %s", (skew.Abs() + took).Round(time.Millisecond)), nil
}

func lookAtTransactions(ctx context.Context, d *Doctor) ([]Finding, error) {
	open, err := rowsOf[struct {
		PID  int32
		Who  string
		Open float64
	}](ctx, d, `select pid, coalesce(nullif(application_name, ''), usename, ''), extract(epoch from now() - xact_start)::float8
		from pg_stat_activity where xact_start < now() - make_interval(secs => $1) and backend_type = 'client backend'
			and pid <> pg_backend_pid() and (backend_xid is not null or state like 'idle in transaction%')
		order by xact_start limit 5`, d.Long.Seconds())
	if err != nil {
		return nil, err
	}
	var found []Finding
	for _, t := range open {
		found = append(found, openTransaction.found("Have the application end it, or run:", fmt.Sprintf("select pg_terminate_backend(%d);", t.PID),
			"a transaction of %q is open for %s: no slot gets past it and none can be made, nor are dead rows cleaned up", t.Who, seconds(t.Open)))
	}
	prepared, err := rowsOf[struct {
		GID  string
		Open float64
	}](ctx, d, `select quote_literal(gid), extract(epoch from now() - prepared)::float8 from pg_prepared_xacts
		where prepared < now() - make_interval(secs => $1) and database = current_database() order by prepared limit 5`, d.Long.Seconds())
	if err != nil {
		return found, err
	}
	for _, t := range prepared {
		found = append(found, preparedTransaction.found("Commit it, or run as its owner or an administrator:", "rollback prepared "+t.GID+";",
			"a prepared transaction is open for %s: no slot gets past it, and it outlives restarts", seconds(t.Open)))
	}
	var sees bool
	if err := d.pool.QueryRow(ctx, "select pg_has_role('pg_read_all_stats', 'usage')").Scan(&sees); err != nil {
		return found, err
	}
	if !sees {
		return append(found, CouldNotLook.found("Connect as role postgres, or run as an administrator:", "grant pg_read_all_stats to "+d.user(ctx)+";",
			"could not look at the transactions of other roles")), nil
	}
	if found == nil {
		return fine("no transaction is open for more than %s", d.Long), nil
	}
	return found, nil
}

// user is who is connected, for SQL.
func (d *Doctor) user(ctx context.Context) string {
	user, err := list[string](ctx, d, "select quote_ident(current_user)")
	if err != nil || len(user) == 0 {
		return "current_user"
	}
	return user[0]
}

func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(time.Second)
}

func lookAtConnections(ctx context.Context, d *Doctor) ([]Finding, error) {
	var most, kept, used, ours int
	err := d.pool.QueryRow(ctx, `select current_setting('max_connections')::int,
			current_setting('superuser_reserved_connections')::int + coalesce(current_setting('reserved_connections', true)::int, 0),
			count(*) filter (where backend_type = 'client backend'),
			count(*) filter (where backend_type = 'client backend' and datname = current_database() and application_name like 'helixd%')
		from pg_stat_activity`).Scan(&most, &kept, &used, &ours)
	if err != nil {
		return nil, err
	}
	free := most - kept - used + ours
	if free < d.Connections {
		return []Finding{tooFew.found("Lower what others take or pool_max_conns in SUPABASE_DB_URL, or run as an administrator, then restart the server:",
			fmt.Sprintf("alter system set max_connections = %d;", most+d.Connections-free),
			"helixd takes up to %d connections a process, and of %d there are %d that others do not use", d.Connections, most, max(0, free))}, nil
	}
	return fine("helixd takes up to %d connections a process; of %d there are %d that others do not use", d.Connections, most, free), nil
}

func lookAtExtensions(ctx context.Context, d *Doctor) ([]Finding, error) {
	rows, err := rowsOf[struct {
		Name                 string
		Available, Installed *string
	}](ctx, d, `select n.name, a.default_version, e.extversion from (values ('vector'), ('supabase_vault')) n (name)
		left join pg_available_extensions a using (name) left join pg_extension e on e.extname = n.name order by n.name desc`)
	if err != nil {
		return nil, err
	}
	var found []Finding
	said := "no vault"
	for _, e := range rows {
		switch {
		case e.Name == "supabase_vault" && e.Installed == nil:
			remedy, sql := "Set HELIX_AGE_KEY: helixd then keeps the secrets itself; see helixd secret --help.", ""
			if e.Available != nil {
				remedy, sql = "Set HELIX_AGE_KEY, or run as an administrator:", "create extension if not exists supabase_vault cascade;"
			}
			found = append(found, noVault.found(remedy, sql, "extension supabase_vault is not there: skills have no secrets from it"))
		case e.Name == "supabase_vault":
			said = "vault " + *e.Installed
		case e.Installed == nil && e.Available == nil:
			found = append(found, noVectorAtAll.found("Install pgvector 0.8 or later on the server (https://github.com/pgvector/pgvector), then run: helixd migrate", "", "the server has no pgvector"))
		case e.Installed == nil:
			found = append(found, noVector.found("Run:", "create schema if not exists extensions; create extension if not exists vector with schema extensions;", "extension vector is not there: memories have no embeddings"))
		case before(*e.Installed, 0, 5):
			found = append(found, oldVector.found("Run as an administrator:", "alter extension vector update;", "pgvector is %s, and an HNSW index needs 0.5 or later", *e.Installed))
		case before(*e.Installed, 0, 8):
			found = append(found, plainVector.found("Run as an administrator:", "alter extension vector update;",
				"pgvector is %s: match_memories may find fewer than asked where many users share the index, which iterative scans of 0.8 mend", *e.Installed))
		}
		if e.Name == "vector" && e.Installed != nil {
			said = "vector " + *e.Installed + ", " + said
		}
	}
	if found == nil {
		return fine("%s", said), nil
	}
	return found, nil
}

// before reports whether a version such as 0.7.4 is older than one.
func before(version string, major, minor int) bool {
	var a, b int
	if _, err := fmt.Sscanf(strings.TrimSpace(version), "%d.%d", &a, &b); err != nil {
		return false
	}
	return a < major || a == major && b < minor
}
