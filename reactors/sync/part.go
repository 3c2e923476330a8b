package sync

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
)

// wideBytes bounds what is read by key at a time, as it is stored: a value that
// compresses well is a hundred times as long in the end. A row of more comes
// alone.
const wideBytes = 128 << 10

// leavesOut reports whether the change of a sync_state row says nothing of a
// wide value, since that stayed as it was.
func leavesOut(row *reactors.Row) bool {
	return row.Watch == watchState &&
		(row.Value(colData).Kind == replication.Unchanged || row.Value(colVectorClock).Kind == replication.Unchanged)
}

// parts cuts rows where what must be read by key for them would be too much at
// a time: a small change can be about a row of 16 MB.
func parts(ctx context.Context, tx pgx.Tx, rows []reactors.Row) ([][]reactors.Row, error) {
	ids := make([]string, len(rows))
	asked := false
	for i := range rows {
		if leavesOut(&rows[i]) {
			ids[i], _ = rows[i].Text(colID)
		} else if rows[i].Watch != watchState {
			ids[i], _ = conflictKey(&rows[i])
		}
		asked = asked || ids[i] != ""
	}
	if !asked {
		return [][]reactors.Row{rows}, nil
	}
	found, err := tx.Query(ctx, `select k.n - 1, coalesce(pg_column_size(s.data), 0) + coalesce(pg_column_size(s.vector_clock), 0)
				+ coalesce(pg_column_size(c.versions), 0) + coalesce(pg_column_size(c.resolution), 0)
		from unnest($1::text[]) with ordinality as k (id, n)
		left join public.sync_state s on s.id = nullif(k.id, '')::uuid
		left join public.sync_conflicts c on c.id = nullif(k.id, '')::uuid
		where k.id <> ''`, ids)
	if err != nil {
		return nil, fmt.Errorf("read sizes: %w", err)
	}
	sizes := make([]int64, len(rows))
	var n, size int64
	if _, err := pgx.ForEachRow(found, []any{&n, &size}, func() error {
		sizes[n] = size
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read sizes: %w", err)
	}
	var cut [][]reactors.Row
	from, sum := 0, int64(0)
	for i, size := range sizes {
		if i > from && sum+size > wideBytes {
			cut = append(cut, rows[from:i])
			from, sum = i, 0
		}
		sum += size
	}
	return append(cut, rows[from:]), nil
}
