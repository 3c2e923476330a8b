package recall

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Shares of the budget, so that memories do not go in and out with each insert.
const (
	near     = .90 // above which memories are counted
	trimmed  = .95 // that is left when memories have left
	roomy    = .85 // below which they come back
	refilled = .90
)

const (
	moveMost  = 50_000 // memories that are chosen at a time
	moveChunk = 500    // and of these in a transaction
)

// bytesPerVector is what a memory takes in an HNSW index of halfvec with m = 16:
// its element and its neighbours on level 0 share a page, with as many others as
// go in whole (pgvector 0.8, src/hnsw.h).
func bytesPerVector(dimensions int64) int64 {
	const (
		page       = 8192
		usable     = page - 24 - 8        // header, HnswPageOpaqueData
		element    = 72 + 8               // HnswElementTupleData, halfvec's header
		neighbours = (4+2*16*6+7)/8*8 + 4 // HnswNeighborTupleData, its line pointer
	)
	vector := (element+2*dimensions+7)/8*8 + 4
	if vector+neighbours > usable {
		return page + neighbours
	}
	return page / (usable / (vector + neighbours))
}

// capacity is how many memories go into the budget.
func (s *Service) capacity(dimensions int64) int64 {
	return s.cfg.Budget / bytesPerVector(dimensions)
}

// keepBudget lets memories leave the index where they do not go into its budget,
// and come back where they do. The file does not shrink by it, but what leaves
// makes room for what comes.
func (s *Service) keepBudget(ctx context.Context, x *index) error {
	if x.valid && x.unindexed == 0 && float64(x.bytes) < near*float64(s.cfg.Budget) {
		return nil
	}
	count, err := countIndexed(ctx, s.pool)
	if err != nil {
		return err
	}
	most := float64(s.capacity(x.dimensions))
	switch n := float64(count); {
	case n > most:
		return s.move(ctx, false, count-int64(trimmed*most))
	case x.unindexed > 0 && n < roomy*most:
		return s.move(ctx, true, min(x.unindexed, int64(refilled*most)-count))
	}
	return nil
}

func countIndexed(ctx context.Context, db querier) (n int64, err error) {
	err = db.QueryRow(ctx, "select count(*) from public.memories where embedding_indexed and embedding is not null").Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count memories: %w", err)
	}
	return n, nil
}

// move takes n memories into the index, the best retained, or out of it, the
// least retained; among equals the oldest leave first.
func (s *Service) move(ctx context.Context, in bool, n int64) error {
	order := "r.retention nulls first, r.created_at nulls first, r.id"
	if in {
		order = "r.retention desc nulls last, r.created_at desc nulls last, r.id desc"
	}
	moved := int64(0)
	var errs error
	for moved < n && errs == nil {
		rows, err := s.pool.Query(ctx, `select m.id from public.memories m join public.memories_with_retention r on r.id = m.id
			where m.embedding_indexed <> $1 and m.embedding is not null order by `+order+` limit $2`, in, min(n-moved, moveMost))
		if err != nil {
			return fmt.Errorf("choose memories: %w", err)
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
		if err != nil {
			return fmt.Errorf("choose memories: %w", err)
		}
		before := moved
		for len(ids) > 0 && ctx.Err() == nil {
			chunk := ids[:min(len(ids), moveChunk)]
			ids = ids[len(chunk):]
			done, err := s.mark(ctx, in, chunk)
			moved += done
			errs = errors.Join(errs, err) // an app's trigger may refuse some
		}
		if moved == before {
			break // all are locked or refused: later
		}
	}
	s.log.Info().Bool("into_the_index", in).Int64("memories", moved).Msg("recall: memories moved, for the vector index's budget")
	return errs
}

// mark writes embedding_indexed of memories that nobody else writes just now.
func (s *Service) mark(ctx context.Context, in bool, ids []uuid.UUID) (n int64, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "set local lock_timeout = '5s'"); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `with free as (
				select id from public.memories where id = any ($2) and embedding_indexed <> $1 order by id for no key update skip locked)
			update public.memories m set embedding_indexed = $1 from free where m.id = free.id`, in, ids)
		n = tag.RowsAffected()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("mark memories: %w", err)
	}
	return n, nil
}
