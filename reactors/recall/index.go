package recall

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors"
)

// Index names. The former one, of whole precision, is of earlier versions.
const (
	indexName  = "memories_recall_idx"
	formerName = "memories_embedding_idx"
)

// index is what there is of the vector index.
type index struct {
	definition *string // nil: there can be none
	dimensions int64
	valid      bool
	bytes      int64
	indexed    int64 // the server's estimate
	unindexed  int64
}

// querier is a connection or a pool.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func readIndex(ctx context.Context, db querier) (x index, err error) {
	err = db.QueryRow(ctx, `select helix.vector_index(),
			coalesce((select atttypmod from pg_attribute where attrelid = 'public.memories'::regclass and attname = 'embedding' and not attisdropped), -1),
			coalesce(i.indisvalid, false), coalesce(pg_relation_size(c.oid), 0), coalesce(greatest(c.reltuples, 0), 0)::bigint,
			(select count(*) from public.memories where not embedding_indexed)
		from (select to_regclass('public.' || $1) as oid) named
		left join pg_class c on c.oid = named.oid left join pg_index i on i.indexrelid = c.oid`, indexName).
		Scan(&x.definition, &x.dimensions, &x.valid, &x.bytes, &x.indexed, &x.unindexed)
	if err != nil {
		return x, fmt.Errorf("look at the vector index: %w", err)
	}
	return x, nil
}

// dropLeftovers drops what an interrupted build or rebuild has left: an index that
// is written and never read.
func dropLeftovers(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, `select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
		where i.indrelid = 'public.memories'::regclass and not i.indisvalid and c.relname ~ ('^' || $1 || '(_cc(new|old)\d*)?$')`, indexName)
	if err != nil {
		return fmt.Errorf("look for broken indexes: %w", err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("look for broken indexes: %w", err)
	}
	for _, n := range names {
		if _, err := conn.Exec(ctx, "drop index concurrently if exists public."+pgx.Identifier{n}.Sanitize()); err != nil {
			return fmt.Errorf("drop a broken index: %w", err)
		}
	}
	return nil
}

// build makes the index while apps write.
func (s *Service) build(ctx context.Context, conn *pgx.Conn, definition string) error {
	began := time.Now()
	s.setMaking(true)
	defer s.setMaking(false)
	s.log.Info().Msg("recall: making the vector index")
	done := s.watch(ctx, conn.PgConn().PID())
	defer done()
	create := "create index concurrently " + indexName + " on public.memories " + definition
	_, err := conn.Exec(ctx, create)
	if state := reactors.SQLState(err); strings.HasPrefix(state, "53") && ctx.Err() == nil {
		// Parallel workers need shared memory, of which containers may have little.
		s.log.Info().Str("sqlstate", state).Msg("recall: making the vector index again, without parallel workers")
		if err = dropLeftovers(ctx, conn); err == nil {
			if _, err = conn.Exec(ctx, "set max_parallel_maintenance_workers = 0"); err == nil {
				_, err = conn.Exec(ctx, create)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("make the vector index: %w", err)
	}
	s.log.Info().Dur("took_ms", time.Since(began)).Msg("recall: the vector index is made")
	return nil
}

func (s *Service) setMaking(making bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.making = making
}

// watch logs how far the session's build is, until the function it gives is called.
func (s *Service) watch(ctx context.Context, pid uint32) (done func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(15 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			var phase string
			var tuples, lockers, lockersDone int64
			var percent float64
			err := s.pool.QueryRow(ctx, `select phase, tuples_done, lockers_total, lockers_done, 100.0 * blocks_done / greatest(blocks_total, 1)
				from pg_stat_progress_create_index where pid = $1`, pid).Scan(&phase, &tuples, &lockers, &lockersDone, &percent)
			if err == nil {
				s.log.Info().Str("phase", phase).Int64("memories", tuples).Float64("percent", float64(int(percent))).
					Int64("waits_for_transactions", lockers-lockersDone).Msg("recall: making the vector index")
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// dropFormer drops the index that earlier versions of helixd made.
func (s *Service) dropFormer(ctx context.Context, conn *pgx.Conn) error {
	var is bool
	err := conn.QueryRow(ctx, `select exists (select from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
		where i.indrelid = 'public.memories'::regclass and c.relname = $1 and a.amname = 'hnsw' and i.indpred is null)`, formerName).Scan(&is)
	if err != nil {
		return fmt.Errorf("look for the former index: %w", err)
	}
	if !is {
		return nil
	}
	if _, err := conn.Exec(ctx, "drop index concurrently if exists public."+formerName); err != nil {
		return fmt.Errorf("drop the former index: %w", err)
	}
	s.log.Info().Msg("recall: the former index, of whole precision, is dropped")
	return nil
}

// reason is what may be said of an error: its message may quote a row.
func reason(err error) string {
	switch state := reactors.SQLState(err); {
	case err == nil:
		return ""
	case state != "":
		return "SQLSTATE " + state
	}
	return "no answer"
}
