package decay

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
)

// Tolerance is how far decay_rate may be from the exact retention.
const Tolerance = 0.01

const (
	chunkPages = 1024 // some 30,000 rows
	// tickLock is held by who ticks; "decays" in ASCII.
	tickLock = 0x646563617973
	// maxTold is how many rows of a chunk are broadcast: of more clients hear by
	// postgres_changes only. Realtime takes 100 messages a second on the smallest plan.
	maxTold = 100
	// maxRefused is after how many rows the fault is not theirs.
	maxRefused = 500

	lockRetry = time.Second // for another tick
	rowLock   = "500ms"     // lock_timeout of a chunk: less than what finds a deadlock, so that no client is its victim
	chunkIdle = "10s"       // and of one whose process is frozen
)

// Ticker updates the decay_rate of all layers.
type Ticker struct {
	pool    *pgxpool.Pool
	results *reactors.Results
	chunk   place
	holder  string // this process's name among all that work jobs
}

// NewTicker makes a Ticker.
func NewTicker(ctx context.Context, pool *pgxpool.Pool) (*Ticker, error) {
	results, err := reactors.NewResults(ctx, pool, name, layersTable)
	if err != nil {
		return nil, err
	}
	return &Ticker{pool, results, chunkPages * page, "helixd"}, nil
}

// Progress is what a tick has done so far.
type Progress struct {
	Chunks  int
	Rows    int64 // looked at
	Written int64
	Refused int64 // rows that an app's trigger or constraint refuses, or a client keeps locked
	Waited  bool  // for another tick
	Took    time.Duration
}

// Tick writes the retention as of a time into the decay_rate of those layers that
// would be more than Tolerance off before another tick comes, ahead from then. It
// goes through the table in the order of its pages, each chunk in a transaction of
// its own, and tells progress after each: by users it would read and write a page as
// often as it has users. One tick runs at a time, whoever ticks; what another has
// just written it does not write again.
func (t *Ticker) Tick(ctx context.Context, at time.Time, ahead time.Duration, progress func(Progress)) (p Progress, err error) {
	began := time.Now()
	conn, err := t.pool.Acquire(ctx)
	if err != nil {
		return p, fmt.Errorf("lock the tick: %w", err)
	}
	defer conn.Release()
	if p.Waited, err = t.lock(ctx, conn, func() { progress(Progress{Waited: true}) }); err != nil {
		return p, err
	}
	defer t.unlock(ctx, conn)
	var end place
	var since string // the oldest transaction that runs
	if err := conn.QueryRow(ctx, tableNow).Scan(&end, &since); err != nil {
		return p, fmt.Errorf("look for layers: %w", err)
	}
	end *= page
	for from, most := place(0), t.chunk; from < end; {
		to := min(from+most, end)
		rows, written, err := t.tickRows(ctx, conn, at, ahead, rowsBetween, from.tid(), to.tid())
		if refused(err) && most > 1 {
			most = max(most/10, 1) // until the one row is found
			continue
		}
		if refused(err) && p.Refused < maxRefused {
			p.Refused++
		} else if err != nil {
			return p, err
		}
		p.Chunks++
		p.Rows += rows
		p.Written += written
		p.Took = time.Since(began)
		progress(p)
		from, most = to, min(most*10, t.chunk)
	}
	// A row that somebody has written since it began may stand where it had been.
	_, written, err := t.tickRows(ctx, conn, at, ahead, rowsMoved, since, at.UTC())
	if refused(err) {
		p.Refused++
	} else if err != nil {
		return p, err
	}
	p.Written += written
	p.Took = time.Since(began)
	_, err = conn.Exec(ctx, `insert into helix.decay as d (ticked_at, rows, written, seconds) values ($1, $2, $3, $4)
		on conflict (one) do update set ticked_at = excluded.ticked_at, rows = excluded.rows, written = excluded.written, seconds = excluded.seconds
		where d.ticked_at <= excluded.ticked_at or d.ticked_at > now()`, at, p.Rows, p.Written, p.Took.Seconds())
	if err != nil {
		return p, fmt.Errorf("note the tick: %w", err)
	}
	return p, nil
}

// lock waits until nobody else ticks. All of the tick goes through the session that
// has the lock: one that has lost it writes nothing.
func (t *Ticker) lock(ctx context.Context, conn *pgxpool.Conn, onWait func()) (waited bool, err error) {
	for mine := false; ; waited = true {
		err = conn.QueryRow(ctx, "select pg_try_advisory_lock($1), set_config('application_name', $2, false)", tickLock, t.holder).Scan(&mine, nil)
		if err == nil && mine {
			return waited, nil
		}
		if err == nil && !waited {
			onWait()
		}
		if err == nil {
			err = reactors.EndDead(ctx, conn, tickLock)
		}
		if err == nil {
			select {
			case <-ctx.Done():
				err = ctx.Err()
			case <-time.After(lockRetry):
			}
		}
		if err != nil {
			_ = conn.Conn().Close(context.WithoutCancel(ctx)) // it has this process's name
			return waited, fmt.Errorf("lock the tick: %w", err)
		}
	}
}

func (t *Ticker) unlock(ctx context.Context, conn *pgxpool.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if _, err := conn.Exec(ctx, "select pg_advisory_unlock($1), set_config('application_name', 'helixd', false)", tickLock); err != nil {
		_ = conn.Conn().Close(ctx) // the lock ends with it
	}
}

// refused reports whether it is a row's fault: its data is refused, or a client has
// kept it locked for longer than rowLock.
func refused(err error) bool {
	return reactors.Poison(err) || reactors.Locked(err)
}

// place is where in the table a row stands, its ctid as one number.
type place int64

// page is more places than any has: 1,163 where pages are of 32 KB.
const page place = 2048

func (p place) tid() pgtype.TID {
	return pgtype.TID{BlockNumber: uint32(p / page), OffsetNumber: uint16(p % page), Valid: true}
}

// tableNow gives the pages of the table.
const tableNow = `select pg_relation_size('public.psychology_layers') / current_setting('block_size')::int,
	pg_snapshot_xmin(pg_current_snapshot())::xid::text`

// Which rows a chunk is of: those between two places, or those that were written
// since a transaction began, but for this tick's own.
const (
	rowsBetween = "ctid >= $1 and ctid < $2"
	rowsMoved   = "age(xmin) <= age($1::text::xid) and last_updated is distinct from $2::timestamptz"
)

// startChunk counts its rows. The transaction is not waited for on disk: what ends
// the tick is, and it comes after. Nor does it wait long for a row that a client has,
// or keep those of others from their clients.
const startChunk = `select count(*), set_config('synchronous_commit', 'off', true), set_config('lock_timeout', '` + rowLock + `', true),
	set_config('idle_in_transaction_session_timeout', '` + chunkIdle + `', true) from only public.psychology_layers where `

// hoursAt is how long ago a layer's anchor was at some seconds since 1970. It may be
// infinite, and a time could not be taken from it.
func hoursAt(seconds string) string {
	return "((" + seconds + " - date_part('epoch', helix.utc(last_reinforced))) / 3600)"
}

// retentionAt is the exact value.
func retentionAt(seconds string) string {
	return "helix.layer_retention(layer_number, decay_model, decay_params, coalesce(initial_strength, 1)::float8, " + hoursAt(seconds) + ")"
}

// nearlyAt is retentionAt for finding out what has moved. Postgres calls the SQL
// functions one by one, some ten microseconds a row; a layer with the curve of its
// number, as nearly all are, takes a twentieth of that. It differs by 1e-9 at most.
func nearlyAt(seconds string) string {
	var exponent string
	var rates strings.Builder
	for _, n := range slices.Sorted(maps.Keys(layerCurves)) {
		switch c := layerCurves[n]; c.Model {
		case ModelPower:
			exponent = fmt.Sprintf("case layer_number when %d then %g * ln(1 + hours / %g) else hours * rate end", n, c.Exponent, c.Hours)
		case ModelHalfLife:
			fmt.Fprintf(&rates, " when %d then %.17g", n, math.Ln2/c.Hours)
		default:
			fmt.Fprintf(&rates, " when %d then %.17g", n, 1/c.Hours)
		}
	}
	exponent = strings.NewReplacer("hours", "least(greatest("+hoursAt(seconds)+", 0), 1e9)",
		"rate", fmt.Sprintf("case layer_number%s else %.17g end", rates.String(), 1/LayerCurve(0, "", nil).Hours)).Replace(exponent)
	return "case when decay_model is null and decay_params is null then least(greatest(coalesce(initial_strength, 1)::float8, 1e-40), 1) * exp(-least(" +
		exponent + ", 600)) else " + retentionAt(seconds) + " end"
}

// updateChunk writes the retentions at $4, the seconds of $3 since 1970, of its rows
// where what is there is more than $6 off, or will be at $5. A row whose layer has no
// number is the app's own matter, and rows that stood twice under one key stay as
// they were found, in a table that inherits. Nine places suffice, and a column of
// type real has room for them.
var updateChunk = `update only public.psychology_layers
	set decay_rate = round(` + retentionAt("$4::float8") + `::numeric, 9), last_updated = $3
	where layer_number is not null and last_reinforced is not null
		and (decay_rate is null or decay_rate::float8 > ` + nearlyAt("$5::float8") + ` + $6::float8 or decay_rate::float8 < ` + nearlyAt("$4::float8") + ` - $6::float8)
		and %s returning ` + layerColumns

// tickRows updates those rows that which says of its two arguments, in a transaction,
// and gives how many there are and were written.
func (t *Ticker) tickRows(ctx context.Context, conn *pgxpool.Conn, at time.Time, ahead time.Duration, which string, a, b any) (all, written int64, err error) {
	tx, err := t.results.BeginOn(ctx, conn)
	if err != nil {
		return 0, 0, fmt.Errorf("tick: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // committed, or nothing is written
	if err := tx.QueryRow(ctx, startChunk+which, a, b).Scan(&all, nil, nil, nil); err != nil {
		return 0, 0, fmt.Errorf("look for layers: %w", err)
	}
	seconds := float64(at.UnixMicro()) / 1e6
	var told []reactors.Broadcast
	rows, err := tx.Query(ctx, fmt.Sprintf(updateChunk, which), a, b, at.UTC(), seconds, seconds+ahead.Seconds(), Tolerance)
	if err == nil {
		written, err = broadcastLayers(rows, replication.Update, func(b reactors.Broadcast) {
			if len(told) <= maxTold {
				told = append(told, b)
			}
		})
	}
	if err != nil {
		return 0, 0, fmt.Errorf("update layers: %w", err)
	}
	if len(told) <= maxTold {
		if err := t.results.Tell(ctx, tx, told...); err != nil {
			return 0, 0, err
		}
	}
	if err := tx.Commit(ctx); err != nil {
		return 0, 0, fmt.Errorf("update layers: %w", err)
	}
	return all, written, nil
}
