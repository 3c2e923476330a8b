package embedding

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// column is memories.embedding.
type column struct {
	typ        string // with its schema, as SQL has it
	dimensions int
}

// mismatch is a model and a column that do not fit.
type mismatch struct {
	column column
	fault  *fault
}

// look finds the column. A fault says why it takes no embeddings.
func (s *Service) look(ctx context.Context) (column, *fault, error) {
	var c column
	var schema string
	err := s.pool.QueryRow(ctx, `select format_type(a.atttypid, a.atttypmod), greatest(a.atttypmod, 0), n.nspname
		from pg_catalog.pg_attribute a join pg_catalog.pg_type t on t.oid = a.atttypid join pg_catalog.pg_namespace n on n.oid = t.typnamespace
		join pg_catalog.pg_extension e on e.extname = 'vector' and e.extnamespace = n.oid
		where a.attrelid = 'public.memories'::regclass and a.attname = 'embedding' and not a.attisdropped and t.typname in ('vector', 'halfvec')`).
		Scan(&c.typ, &c.dimensions, &schema)
	var f *fault
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		f = &fault{CodeColumn, "memories has no column embedding of pgvector's types vector or halfvec: add one, and memories get their embeddings.", true}
	case err == nil && c.dimensions == 0: // as many as others have
		err = s.pool.QueryRow(ctx, fmt.Sprintf("select coalesce((select %s.vector_dims(embedding) from public.memories where embedding is not null limit 1), 0)",
			pgx.Identifier{schema}.Sanitize())).Scan(&c.dimensions)
		if c.dimensions == 0 {
			f = &fault{CodeColumn, "memories.embedding has no number of dimensions: alter its type to one that has, such as vector(1536), and memories get their embeddings.", true}
		}
	}
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return c, nil, fmt.Errorf("look for memories.embedding: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.column = f; f == nil && s.mismatch != nil {
		if s.mismatch.column == c {
			f = s.mismatch.fault
		} else {
			s.mismatch = nil // it was changed
		}
	}
	return c, f, nil
}

// misfit stops everything until the column or, with a restart, the model is another.
func (s *Service) misfit(c column, message string) *fault {
	f := &fault{CodeDimensions, message, true}
	s.mu.Lock()
	known := s.mismatch != nil
	s.mismatch = &mismatch{c, f}
	s.mu.Unlock()
	if !known {
		s.log.Error().Str("provider", s.embedder.Name()).Int("column", c.dimensions).Str("reason", message).
			Msg("the embeddings do not fit memories.embedding: nothing is asked until the model or the column is another")
	}
	return f
}
