package synthesis

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// version is of what patterns are made by: with another one the same memories are
// synthesised again.
const version = 1

// input is what a synthesis is made of.
type input struct {
	settings  Settings
	memories  []Memory // the newest, by time
	hash      []byte
	unchanged bool   // since the last synthesis
	schema    string // pgvector's; "": memories have no embeddings of its type
}

// load reads the user's settings and newest memories as of one moment.
func (r *run) load(ctx context.Context, o *Overrides) (*input, error) {
	in := &input{}
	err := pgx.BeginTxFunc(ctx, r.conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if err := in.loadSettings(ctx, tx, r.user, o); err != nil {
			return err
		}
		in.settings.MemoryLimit = min(in.settings.MemoryLimit, r.s.cfg.MostMemories)
		if !in.settings.Enabled {
			return in.sum(ctx, tx, r.user, r.s.cfg.Method)
		}
		rows, err := tx.Query(ctx, `select id, coalesce(content_rev, 0), coalesce(extract(epoch from helix.utc(created_at))::float8, 'NaN')
			from public.memories where user_id = $1 order by created_at desc nulls last, id limit $2`, r.user, in.settings.MemoryLimit)
		if err != nil {
			return err
		}
		if in.memories, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (m Memory, err error) {
			err = row.Scan(&m.ID, &m.Rev, &m.Time)
			return m, err
		}); err != nil {
			return err
		}
		slices.Reverse(in.memories)
		if err := in.sum(ctx, tx, r.user, r.s.cfg.Method); err != nil || in.unchanged && o == nil {
			return err
		}
		return in.loadContent(ctx, tx, r.user)
	})
	if err != nil {
		return nil, fmt.Errorf("load memories: %w", err)
	}
	return in, nil
}

func (in *input) loadSettings(ctx context.Context, tx pgx.Tx, user uuid.UUID, o *Overrides) error {
	s := &in.settings
	*s = DefaultSettings
	err := tx.QueryRow(ctx, "select memory_limit, min_confidence, min_cluster_size, enabled from public.synthesis_settings where user_id = $1", user).
		Scan(&s.MemoryLimit, &s.MinConfidence, &s.MinClusterSize, &s.Enabled)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	if o != nil && o.MemoryLimit > 0 {
		s.MemoryLimit = o.MemoryLimit
	}
	if o != nil && o.MinConfidence != nil {
		s.MinConfidence = *o.MinConfidence
	}
	return tx.QueryRow(ctx, `select coalesce((select helix.vector_schema() from pg_catalog.pg_attribute where attrelid = 'public.memories'::regclass
		and attname = 'embedding' and not attisdropped and atttypid = to_regtype(format('%I.vector', helix.vector_schema()))), '')`).Scan(&in.schema)
}

// sum makes the hash of what the patterns will be made of, and compares it with
// that of the last synthesis.
func (in *input) sum(ctx context.Context, tx pgx.Tx, user uuid.UUID, method Method) error {
	h := sha256.New()
	fmt.Fprintln(h, version, method, in.settings)
	var number [8]byte
	for i := range in.memories {
		m := &in.memories[i]
		h.Write(m.ID[:])
		h.Write(binary.LittleEndian.AppendUint64(number[:0], uint64(m.Rev)))
		h.Write(binary.LittleEndian.AppendUint64(number[:0], math.Float64bits(m.Time)))
	}
	in.hash = h.Sum(nil)
	err := tx.QueryRow(ctx, "select coalesce(input = $2, false) from helix.synthesis_work where user_id = $1", user, in.hash).Scan(&in.unchanged)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

// loadContent reads what memories say and how they felt.
func (in *input) loadContent(ctx context.Context, tx pgx.Tx, user uuid.UUID) error {
	at := make(map[uuid.UUID]int, len(in.memories))
	for i := range in.memories {
		at[in.memories[i].ID] = i
		in.memories[i].Valence = math.NaN()
	}
	rows, err := tx.Query(ctx, `select id, left(content, $3), coalesce(emotional_valence, 'NaN') from public.memories where user_id = $1
		order by created_at desc nulls last, id limit $2`, user, in.settings.MemoryLimit, contentOf(len(in.memories)))
	if err != nil {
		return err
	}
	var id uuid.UUID
	var content *string
	var valence float64
	_, err = pgx.ForEachRow(rows, []any{&id, &content, &valence}, func() error {
		m := &in.memories[at[id]]
		m.Valence = valence
		if content != nil {
			m.Content = *content
		}
		return nil
	})
	return err
}
