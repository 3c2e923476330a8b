package synthesis

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/pgvector/pgvector-go"

	"github.com/helixd/helixd/reactors/synthesis/cluster"
	"github.com/helixd/helixd/reactors/synthesis/vector"
)

// Space is where the memories of one user that have an embedding lie, and their
// clusters when they were last looked for.
type Space struct {
	ids  []uuid.UUID // of the rows
	revs []int64
	row  map[uuid.UUID]int

	without map[uuid.UUID]int64 // memories that have no embedding of use, and their rev then

	index      *vector.Index // nil: no memory has an embedding
	method     Method
	least      int // MinClusterSize that clustering is of
	clustering *cluster.Clustering
	moved      int // rows that came and went since all was clustered
}

// rebuildShare is the share of rows that may come and go until all is clustered
// again.
const rebuildShare = 0.1

// space gives the user's Space as the memories are now, reading only embeddings
// that the one of the last time has not.
func (r *run) space(ctx context.Context, method Method) (*Space, error) {
	s := r.s.cache.take(r.user)
	if s != nil && s.method != method {
		s = nil
	}
	if r.input.schema == "" {
		return &Space{method: method}, nil
	}
	wanted := make(map[uuid.UUID]int64, len(r.input.memories))
	for i := range r.input.memories {
		wanted[r.input.memories[i].ID] = r.input.memories[i].Rev
	}
	var stale []int
	var missing []uuid.UUID
	if s != nil {
		for i, id := range s.ids {
			if rev, ok := wanted[id]; !ok || rev != s.revs[i] {
				stale = append(stale, i)
			}
		}
		for id, rev := range wanted {
			if i, ok := s.row[id]; ok && s.revs[i] == rev {
				continue
			}
			if known, ok := s.without[id]; !ok || known != rev {
				missing = append(missing, id)
			}
		}
		if float64(s.moved+len(stale)+len(missing)) > rebuildShare*float64(len(s.ids)) {
			s = nil
		}
	}
	var err error
	if s != nil {
		err = s.update(ctx, r, stale, missing, wanted)
	} else {
		s, err = newSpace(ctx, r, method, wanted)
	}
	if err != nil {
		return nil, err
	}
	s.without = map[uuid.UUID]int64{}
	for id, rev := range wanted {
		if _, ok := s.row[id]; !ok {
			s.without[id] = rev
		}
	}
	return s, nil
}

// newSpace reads all embeddings.
func newSpace(ctx context.Context, r *run, method Method, wanted map[uuid.UUID]int64) (*Space, error) {
	s := &Space{method: method, row: map[uuid.UUID]int{}}
	ids := make([]uuid.UUID, len(r.input.memories))
	for i := range ids {
		ids[i] = r.input.memories[i].ID
	}
	dim, err := r.dimension(ctx, ids)
	if err != nil || dim == 0 {
		return s, err
	}
	m := vector.NewMatrix(len(ids), dim)
	err = r.embeddings(ctx, ids, func(id uuid.UUID, v []float32) {
		if m.Append(v) {
			s.add(id, wanted[id])
		}
	})
	if err != nil || m.Rows() == 0 {
		return s, err
	}
	if s.index, err = vector.NewIndex(ctx, m, cluster.Neighbours); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Space) add(id uuid.UUID, rev int64) {
	s.row[id] = len(s.ids)
	s.ids = append(s.ids, id)
	s.revs = append(s.revs, rev)
}

// update takes the stale rows out and reads the missing ones.
func (s *Space) update(ctx context.Context, r *run, stale []int, missing []uuid.UUID, wanted map[uuid.UUID]int64) error {
	if s.index == nil || len(stale)+len(missing) == 0 {
		return nil
	}
	s.index.RemoveAll(stale)
	slices.Sort(stale)
	for _, i := range slices.Backward(stale) { // as the Index does: the last row takes the number
		last := len(s.ids) - 1
		delete(s.row, s.ids[i])
		if i != last {
			s.ids[i], s.revs[i] = s.ids[last], s.revs[last]
			s.row[s.ids[i]] = i
		}
		s.ids, s.revs = s.ids[:last], s.revs[:last]
		if c := s.clustering; c != nil {
			c.Labels[i], c.Similarity[i] = c.Labels[last], c.Similarity[last]
			c.Labels, c.Similarity = c.Labels[:last], c.Similarity[:last]
		}
	}
	var ids []uuid.UUID
	var vectors [][]float32
	if err := r.embeddings(ctx, missing, func(id uuid.UUID, v []float32) {
		ids, vectors = append(ids, id), append(vectors, v)
	}); err != nil {
		return err
	}
	for i, added := range s.index.InsertAll(vectors) {
		if !added {
			continue
		}
		s.add(ids[i], wanted[ids[i]])
		if c := s.clustering; c != nil {
			c.Labels, c.Similarity = append(c.Labels, cluster.Noise), append(c.Similarity, 0)
		}
	}
	s.moved += len(stale) + len(vectors)
	return nil
}

// bytes is about what it holds.
func (s *Space) bytes() int64 {
	bytes := 1000 + 100*len(s.ids) + 50*len(s.without)
	if s.index != nil {
		bytes += s.index.Bytes()
	}
	return int64(bytes)
}

// dimension is the number of components that most of the embeddings have, 0 where
// there are none: an adopted column may hold several kinds.
func (r *run) dimension(ctx context.Context, ids []uuid.UUID) (dim int, err error) {
	err = r.conn.QueryRow(ctx, fmt.Sprintf(`select coalesce((select %[1]s.vector_dims(embedding) as dim from public.memories
		where user_id = $1 and id = any ($2) and embedding is not null group by dim order by count(*) desc, dim desc limit 1), 0)`,
		pgx.Identifier{r.input.schema}.Sanitize()), r.user, ids).Scan(&dim)
	if err != nil {
		return 0, fmt.Errorf("load embeddings: %w", err)
	}
	return dim, nil
}

// embeddings reads those that there are, in pgvector's binary form.
func (r *run) embeddings(ctx context.Context, ids []uuid.UUID, each func(id uuid.UUID, v []float32)) error {
	if len(ids) == 0 {
		return nil
	}
	rows, err := r.conn.Query(ctx, fmt.Sprintf(`select id, %s.vector_send(embedding) from public.memories
		where user_id = $1 and id = any ($2) and embedding is not null order by id`, pgx.Identifier{r.input.schema}.Sanitize()), r.user, ids)
	if err != nil {
		return fmt.Errorf("load embeddings: %w", err)
	}
	var id uuid.UUID
	var raw pgtype.DriverBytes
	_, err = pgx.ForEachRow(rows, []any{&id, &raw}, func() error {
		var v pgvector.Vector // a new one, since its Slice may be kept
		if err := v.DecodeBinary(raw); err != nil {
			return fmt.Errorf("decode an embedding: %w", err)
		}
		each(id, v.Slice())
		return nil
	})
	if err != nil {
		return fmt.Errorf("load embeddings: %w", err)
	}
	return nil
}
