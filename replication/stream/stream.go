package stream

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/replication"
)

// Config says what to stream from where.
type Config struct {
	ConnString  string // of a direct connection
	Slot        string
	Publication string
	Log         zerolog.Logger
	// Name is the application_name of every session of this process as a leader;
	// no other process has the same. Only Lock needs it.
	Name string

	// BatchBytes and BatchRows close a batch that the sink is too busy to take;
	// twice as much is held at the most. Zero means the defaults.
	BatchBytes int
	BatchRows  int
	// IdleWAL is how much WAL without changes for helixd passes before the
	// checkpoint moves on nevertheless. Zero means the default.
	IdleWAL replication.LSN
	// OnStreaming is called when the server has begun to stream.
	OnStreaming func()
	// OnSign is called with the time at which a heartbeat was sent, once it is known to
	// be written: until StaleAfter has passed since, no standby takes the lead for its age.
	OnSign func(time.Time)
}

// Defaults of Config.
const (
	DefaultBatchBytes = 2 << 20
	DefaultBatchRows  = 5000
	DefaultIdleWAL    = 16 << 20
)

const (
	// minVersion is the first with column lists and row filters in publications.
	minVersion = 150000

	// readBuffer lets one read take what the server has sent meanwhile; with the
	// driver's 8 KB, each would be followed by a look at the sink and an answer.
	readBuffer = 256 << 10

	connectTimeout = 15 * time.Second
	// senderTimeout is how long the server waits for an answer of ours before
	// it lets go of the slot. Ours come three times as often.
	senderTimeout = 10 * time.Second
	statusEvery   = senderTimeout / 3
	// acknowledgeEvery is how often the server hears that more is durable: each
	// answer costs both sides a wake-up, and all it may do with one is drop WAL.
	acknowledgeEvery = 100 * time.Millisecond
)

// Stream is one walsender connection. It is for one goroutine, but for Hold and Held.
type Stream struct {
	cfg    Config
	conn   *pgconn.PgConn
	reader *bufio.Reader  // what conn reads through
	look   *pgconn.Config // of an SQL connection to the same server
	system pglogrepl.IdentifySystemResult
	hold   *hold
}

// Open connects and checks that the server can replicate to helixd. What an
// operator must mend is a *SetupError.
func Open(ctx context.Context, cfg Config) (*Stream, error) {
	if cfg.BatchBytes == 0 {
		cfg.BatchBytes = DefaultBatchBytes
	}
	if cfg.BatchRows == 0 {
		cfg.BatchRows = DefaultBatchRows
	}
	if cfg.IdleWAL == 0 {
		cfg.IdleWAL = DefaultIdleWAL
	}
	pg, err := pgconn.ParseConfig(cfg.ConnString)
	if err != nil {
		return nil, &SetupError{"SUPABASE_DB_URL is no connection string",
			"It looks like postgresql://postgres:<password>@db.<ref>.supabase.co:5432/postgres", hidePassword(err)}
	}
	if pg.Port == 6543 || strings.Contains(pg.Host, ".pooler.") {
		return nil, &SetupError{fmt.Sprintf("%s:%d is a connection pooler", pg.Host, pg.Port), directHint, nil}
	}
	for name := range pg.RuntimeParams {
		if strings.HasPrefix(name, "pool_") { // the pool's, not the server's
			delete(pg.RuntimeParams, name)
		}
	}
	// Values arrive in the text form that helixd reads, whatever the server's settings.
	for name, value := range map[string]string{
		"replication": "database", "application_name": cmp.Or(cfg.Name, "helixd "+cfg.Slot),
		"datestyle": "ISO, YMD", "timezone": "UTC", "intervalstyle": "postgres",
		"extra_float_digits": "3", "bytea_output": "hex", "client_encoding": "UTF8",
		"wal_sender_timeout": strconv.Itoa(int(senderTimeout / time.Millisecond)),
		"statement_timeout":  "0", "idle_session_timeout": "0", "idle_in_transaction_session_timeout": "0",
	} {
		pg.RuntimeParams[name] = value
	}
	var reader *bufio.Reader
	pg.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		reader = bufio.NewReaderSize(r, readBuffer)
		return pgproto3.NewFrontend(reader, w)
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := pgconn.ConnectConfig(ctx, pg)
	if err != nil {
		return nil, connectError(err)
	}
	s := &Stream{cfg: cfg, conn: conn, reader: reader, look: pg.Copy(), hold: newHold()}
	s.look.BuildFrontend = pgproto3.NewFrontend
	for _, name := range []string{"replication", "wal_sender_timeout"} {
		delete(s.look.RuntimeParams, name)
	}
	if err := s.preflight(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// hidePassword keeps only the kind of a parse error, whose text may quote the URL.
func hidePassword(err error) error {
	var parse *pgconn.ParseConfigError
	if errors.As(err, &parse) {
		return errors.New("cannot be parsed")
	}
	return err
}

// noTransactionTimeout lifts a limit that a role may have from Postgres 17 on: a
// backfill is one transaction.
const noTransactionTimeout = "select set_config(name, '0', false) from pg_settings where name = 'transaction_timeout'"

// NoTransactionTimeout lifts a role's transaction_timeout from a session.
func NoTransactionTimeout(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, noTransactionTimeout)
	return err
}

func (s *Stream) preflight(ctx context.Context) error {
	if _, err := s.query(ctx, noTransactionTimeout); err != nil {
		return fmt.Errorf("set transaction_timeout: %w", err)
	}
	system, err := pglogrepl.IdentifySystem(ctx, s.conn)
	if err != nil {
		return &SetupError{"this host refuses replication", directHint, err}
	}
	s.system = system
	rows, err := s.query(ctx, "select current_setting('server_version_num'), current_setting('wal_level')")
	if err != nil {
		return fmt.Errorf("read the server's settings: %w", err)
	}
	if version, _ := strconv.Atoi(rows[0][0]); version < minVersion {
		return &SetupError{"the server is Postgres " + strconv.Itoa(version/10000), "helixd needs Postgres 15 or later.", nil}
	}
	if level := rows[0][1]; level != "logical" {
		return &SetupError{"wal_level is " + level,
			"Run: alter system set wal_level = logical; and restart Postgres. Supabase projects have it from the start.", nil}
	}
	return nil
}

// System identifies the cluster: another one has another history.
func (s *Stream) System() string { return s.system.SystemID }

// query runs SQL on the walsender connection.
func (s *Stream) query(ctx context.Context, sql string) ([][]string, error) {
	return query(ctx, s.conn, sql)
}

// query runs SQL by the simple protocol, the only one that a walsender speaks,
// and gives the rows as text; NULL is "".
func query(ctx context.Context, conn *pgconn.PgConn, sql string) ([][]string, error) {
	results, err := conn.Exec(ctx, sql).ReadAll()
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for _, r := range results {
		for _, raw := range r.Rows {
			row := make([]string, len(raw))
			for i, v := range raw {
				row[i] = string(v)
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// Close ends the connection; the server then lets go of slot and lock.
func (s *Stream) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = s.conn.Close(ctx)
}

func quoteLiteral(v string) string { return "'" + strings.ReplaceAll(v, "'", "''") + "'" }
