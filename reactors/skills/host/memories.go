package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills/rights"
)

// Bounds of what is read of a user's memories, and written.
const (
	memoriesAtOnce = 10 // unless a limit is given
	maxMemories    = 100
	maxRead        = 512 << 10 // bytes of content in one answer: what is more is left out
	maxWritten     = 64 << 10  // bytes of a memory's content
	maxQuery       = 1000      // bytes
	maxDimensions  = 2000      // of an embedding
)

// memory is one as a skill sees it.
type memory struct {
	ID         uuid.UUID  `json:"id"`
	Type       *string    `json:"type"`
	Content    *string    `json:"content"`
	CreatedAt  *time.Time `json:"created_at"`
	Similarity *float64   `json:"similarity,omitempty"`
}

// readMemories gives memories of the run's user. The condition, the order and
// the similarity begin with $3.
func (c *call) readMemories(ctx context.Context, similarity, condition, order string, limit int, args ...any) ([]byte, error) {
	found := []memory{}
	err := c.services.query(ctx, func(tx pgx.Tx) error {
		// The sum bounds what leaves the server, but for a first memory that is too long.
		rows, err := tx.Query(ctx, fmt.Sprintf(`select id, type, content, created_at, similarity from (
				select *, sum(octet_length(content)) over (order by place) as size from (
					select id, type::text, content::text, helix.utc(created_at) as created_at, (%s)::float8 as similarity,
						row_number() over (order by %s) as place
					from public.memories where user_id = $1 and (%s) order by %[2]s limit $2) m) m
			where coalesce(size, 0) <= %[4]d order by place`, similarity, order, condition, maxRead), append([]any{c.subject.User, limit}, args...)...)
		if err != nil {
			return err
		}
		all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[memory])
		found = append(found, all...)
		return err
	})
	if err != nil {
		return nil, c.rowError(err)
	}
	return json.Marshal(found)
}

func memoriesSearch(ctx context.Context, c *call) ([]byte, error) {
	if err := c.require(rights.Capability{Kind: rights.MemoriesRead}); err != nil {
		return nil, err
	}
	var r struct {
		Query     string
		Embedding []float32
		Limit     *int
		Types     []string
	}
	if err := c.read(&r); err != nil {
		return nil, err
	}
	limit, err := bounded(r.Limit, memoriesAtOnce, maxMemories)
	switch {
	case err != nil:
		return nil, err
	case (r.Query == "") == (r.Embedding == nil):
		return nil, sandbox.Errorf(InvalidRequest, "memories.search takes a query or an embedding")
	case len(r.Query) > maxQuery:
		return nil, sandbox.Errorf(InvalidRequest, "a query has %d bytes at the most", maxQuery)
	case len(r.Embedding) > maxDimensions || len(r.Types) > 10:
		return nil, sandbox.Errorf(InvalidRequest, "the embedding or the list of types is too long")
	}
	if err := noNUL(r.Query + strings.Join(r.Types, "")); err != nil {
		return nil, err
	}
	const ofTypes = "($3::text[] is null or type::text = any ($3))"
	if r.Embedding != nil {
		return c.nearest(ctx, r.Embedding, ofTypes, limit, r.Types)
	}
	// All its words as they are spelled, in any language: without an index, but of
	// one user's memories. A tsvector has its bound, and so the text.
	const text, query = "to_tsvector('simple', left(content::text, 100000))", "plainto_tsquery('simple', $4)"
	rank := fmt.Sprintf("ts_rank(%s, %s)", text, query)
	return c.readMemories(ctx, rank, ofTypes+" and "+text+" @@ "+query, rank+" desc, id", limit, r.Types, r.Query)
}

// nearest searches by embedding, as match_memories does for a signed-in user.
func (c *call) nearest(ctx context.Context, embedding []float32, ofTypes string, limit int, types []string) ([]byte, error) {
	var schema string
	err := c.services.query(ctx, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, `select quote_ident(n.nspname) from pg_attribute a
			join pg_type t on t.oid = a.atttypid and t.typname = 'vector' join pg_namespace n on n.oid = t.typnamespace
			where a.attrelid = 'public.memories'::regclass and a.attname = 'embedding' and not a.attisdropped`).Scan(&schema)
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, sandbox.Errorf(InvalidRequest, "this project's memories have no embeddings")
	case err != nil:
		return nil, c.rowError(err)
	}
	var b strings.Builder
	for i, x := range embedding {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatFloat(float64(x), 'g', -1, 32))
	}
	distance := fmt.Sprintf("embedding operator(%s.<=>) $4::text::%[1]s.vector", schema)
	// A zero vector's distance is NaN, which is above all.
	return c.readMemories(ctx, "1 - ("+distance+")", ofTypes+" and embedding is not null and "+distance+" <= 2.000001", distance+", id", limit,
		types, "["+b.String()+"]")
}

func memoriesList(ctx context.Context, c *call) ([]byte, error) {
	if err := c.require(rights.Capability{Kind: rights.MemoriesRead}); err != nil {
		return nil, err
	}
	var r struct {
		Limit  *int
		Before *time.Time
	}
	if err := c.read(&r); err != nil {
		return nil, err
	}
	limit, err := bounded(r.Limit, memoriesAtOnce, maxMemories)
	if err != nil {
		return nil, err
	}
	return c.readMemories(ctx, "null", "$3::timestamptz is null or helix.utc(created_at) < $3", "created_at desc nulls last, id", limit, r.Before)
}

func memoriesWrite(ctx context.Context, c *call) ([]byte, error) {
	if err := c.require(rights.Capability{Kind: rights.MemoriesWrite}); err != nil {
		return nil, err
	}
	var r struct {
		Type    string
		Content string
		Valence *float64 `json:"emotional_valence"`
	}
	if err := c.read(&r); err != nil {
		return nil, err
	}
	if r.Content == "" || len(r.Content) > maxWritten || len(r.Type) > 100 {
		return nil, sandbox.Errorf(InvalidRequest, "a memory has a type and a content of 1 to %d bytes", maxWritten)
	}
	if err := noNUL(r.Type + r.Content); err != nil {
		return nil, err
	}
	// A run that is tried again writes the same memory once.
	id := c.once(c.event.Call, c.request)
	err := c.services.write(ctx, "public.memories", func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `insert into public.memories (id, user_id, type, content, emotional_valence) values ($1, $2, $3, $4, $5)
			on conflict (id) do nothing`, id, c.subject.User, r.Type, r.Content, r.Valence)
		return err
	})
	if err != nil {
		return nil, c.rowError(err)
	}
	return json.Marshal(map[string]uuid.UUID{"id": id})
}

// rowError tells a skill what it sent that a row cannot have: class 22 is of
// data, 23 of constraints. The database's own words may quote rows.
func (c *call) rowError(err error) error {
	what := c.event.Call
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) {
		return fmt.Errorf("%s: %w", what, err)
	}
	switch {
	case strings.HasPrefix(pgErr.Code, "22"):
		return sandbox.Errorf(InvalidRequest, "%s: the database cannot hold this value (SQLSTATE %s)", what, pgErr.Code)
	case strings.HasPrefix(pgErr.Code, "23"):
		return sandbox.Errorf(InvalidRequest, "%s: the row breaks the rule %s", what, strings.Join(strings.Fields(pgErr.ConstraintName+" "+pgErr.ColumnName), " "))
	case pgErr.Code == "57014":
		return sandbox.Errorf(StatementTimeout, "%s took longer than %s", what, statementTimeout)
	}
	return fmt.Errorf("%s: SQLSTATE %s", what, pgErr.Code)
}
