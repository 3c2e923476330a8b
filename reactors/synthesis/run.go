package synthesis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// errBusy says that somebody synthesises the user's memories now.
var errBusy = errors.New("the user's memories are being synthesised")

// Overrides replace settings of the user for one run; zero values do not.
type Overrides struct {
	MemoryLimit   int
	MinConfidence *float64
	Method        Method
}

// run is one synthesis of one user's memories.
type run struct {
	s        *Service
	user     uuid.UUID
	conn     *pgxpool.Conn // whose session has the user's lock; all of the run goes through it
	began    time.Time
	input    *input
	patterns []Pattern
	same     bool // as the last time: nothing was computed
}

// begin takes the user's lock, and the mark that they are due: what changes from
// here on marks them again. Who writes nothing keeps the mark.
func (s *Service) begin(ctx context.Context, user uuid.UUID, keepMark bool) (*run, error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("synthesise: %w", err)
	}
	r := &run{s: s, user: user, conn: conn, began: time.Now()}
	if err := r.takeLock(ctx); err != nil {
		conn.Release()
		return nil, err
	}
	if keepMark {
		return r, nil
	}
	if _, err := conn.Exec(ctx, "update helix.synthesis_work set due = false where user_id = $1 and due", user); err != nil {
		r.end()
		return nil, fmt.Errorf("begin a synthesis: %w", err)
	}
	return r, nil
}

// lockClass is the first half of the users' advisory locks: "syn" in ASCII.
const lockClass = 0x73796e

// takeLock takes the user's lock in a session that has this process's name. The
// session of one that was taken for dead is ended: it may be frozen, and keep its
// locks for hours. When it wakes it writes nothing, see reactors.Complete.
func (r *run) takeLock(ctx context.Context) error {
	var mine bool
	err := r.conn.QueryRow(ctx, "select pg_try_advisory_lock($1::int, hashtext($2)), set_config('application_name', $3, false)",
		lockClass, r.user.String(), r.s.holder()).Scan(&mine, nil)
	if err != nil {
		return fmt.Errorf("lock a user's synthesis: %w", err)
	}
	if mine {
		return nil
	}
	_, err = r.conn.Exec(ctx, `select pg_terminate_backend(a.pid) from pg_locks l join pg_stat_activity a on a.pid = l.pid
		where l.locktype = 'advisory' and l.database = a.datid and a.datname = current_database() and l.objsubid = 2 and l.granted
			and l.classid::bigint = $1 and l.objid::bigint = hashtext($2)::bigint & 4294967295
			and a.usename = current_user and a.application_name like 'helixd %'
			and not exists (select from helix.workers w where w.holder = a.application_name and w.heartbeat_at > now() - interval '10 seconds')`,
		lockClass, r.user.String())
	if err != nil {
		return fmt.Errorf("end a dead process's session: %w", err)
	}
	return errBusy
}

// end gives the lock back. A session that cannot say so is closed.
func (r *run) end() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if _, err := r.conn.Exec(ctx, "select pg_advisory_unlock($1::int, hashtext($2)), set_config('application_name', 'helixd', false)", lockClass, r.user.String()); err != nil {
		_ = r.conn.Conn().Close(ctx) // the pool drops it
	}
	r.conn.Release()
}

// needPerMemory is about what a synthesis needs for each: two vectors of 1,536
// float32, its text and its words.
const needPerMemory = 16 << 10

// detect loads what has changed and finds the patterns.
func (r *run) detect(ctx context.Context, o *Overrides) error {
	var err error
	if r.input, err = r.load(ctx, o); err != nil {
		return err
	}
	if r.same = o == nil && r.input.unchanged; r.same {
		return nil
	}
	if !r.input.settings.Enabled {
		return nil
	}
	method := r.s.cfg.Method
	if o != nil && o.Method != "" {
		method = o.Method
	}
	r.s.running.Add(1)
	defer r.s.running.Add(-1)
	need := int64(len(r.input.memories)) * needPerMemory
	r.s.need(need)
	defer r.s.need(-need)
	space, err := r.space(ctx, method)
	if err != nil {
		return err
	}
	defer r.s.cache.put(r.user, space) // also after an error of Detect: the vectors are whole
	if r.patterns, err = Detect(ctx, r.input.memories, space, method, r.input.settings); err != nil {
		return fmt.Errorf("find patterns: %w", err)
	}
	return nil
}

// Once synthesises a user's memories by hand, writes what was found unless it is
// to be a dry run, and gives it, the surest first. A user whose memories are being
// synthesised is waited for.
func (s *Service) Once(ctx context.Context, user uuid.UUID, o Overrides, dryRun bool) ([]Pattern, int, error) {
	var r *run
	for {
		var err error
		if r, err = s.begin(ctx, user, dryRun); err == nil {
			break
		} else if !errors.Is(err, errBusy) {
			return nil, 0, err
		}
		select {
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	defer r.end()
	if err := r.detect(ctx, &o); err != nil {
		return nil, 0, err
	}
	if dryRun {
		return r.patterns, len(r.input.memories), nil
	}
	err := s.finish(ctx, r, func(pgx.Tx, bool) error { return nil })
	return r.patterns, len(r.input.memories), err
}
