package decay

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
)

// skew is how far an app's clock may be ahead of the server's. What is later than
// that happened when it was committed.
const skew = 5 * time.Minute

// sight is what one change says of a memory: times as the app gave them, not valid
// where it gave none, and when it was committed.
type sight struct {
	created, accessed pgtype.Timestamptz
	committed         time.Time
}

// see reads a row of memories.
func see(row *reactors.Row) (id, user uuid.UUID, s sight, err error) {
	if id, err = uuid.ParseBytes(row.Value(colID).Data); err != nil {
		return id, user, s, fmt.Errorf("id is not read: %w", err)
	}
	if user, err = uuid.ParseBytes(row.Value(colUser).Data); err != nil {
		return id, user, s, fmt.Errorf("user_id is not read: %w", err)
	}
	s.committed = row.Committed
	if s.created, err = timestamp(row.Value(colCreated)); err != nil {
		return id, user, s, fmt.Errorf("created_at is not read: %w", err)
	}
	if s.accessed, err = timestamp(row.Value(colAccessed)); err != nil {
		return id, user, s, fmt.Errorf("last_accessed is not read: %w", err)
	}
	return id, user, s, nil
}

// timestamp reads Postgres's text of a time with time zone or, on adopted tables,
// without one, which is UTC.
func timestamp(v replication.Value) (t pgtype.Timestamptz, err error) {
	if v.Kind != replication.Text {
		return t, nil
	}
	zoned := false
	if colon := bytes.IndexByte(v.Data, ':'); colon >= 0 {
		zoned = bytes.ContainsAny(v.Data[colon:], "+-")
	}
	if zoned {
		return t, t.Scan(string(v.Data))
	}
	var local pgtype.Timestamp
	if err := local.Scan(string(v.Data)); err != nil {
		return t, err
	}
	return pgtype.Timestamptz(local), nil
}

// counts gives the time that counts for one that an app gave; ok is false where
// it is none, or before all times.
func (s *sight) counts(given pgtype.Timestamptz) (at time.Time, ok bool) {
	switch {
	case !given.Valid || given.InfinityModifier == pgtype.NegativeInfinity:
		return time.Time{}, false
	case given.InfinityModifier == pgtype.Infinity || given.Time.After(s.committed.Add(skew)):
		return s.committed, true
	}
	return given.Time, true
}

// retention is a row of memory_retention, as it is or is to be.
type retention struct {
	user uuid.UUID
	Memory
	reinforced time.Time
	times      int32
	accessed   pgtype.Timestamptz // of the last reinforcement, as the app gave it

	stored, changed bool
}

// see makes the retention of a memory that has none, and reinforces it where the
// memory was accessed since. Seen again, a change makes no difference: its access is
// no later than the last. One that is ahead of all clocks would be later each time
// that a repair brings it, so it is told by itself.
func (r *retention) see(s sight) {
	if r.times == 0 {
		at, ok := s.counts(s.created)
		if !ok {
			at = s.committed
		}
		r.Memory, r.reinforced, r.times, r.changed = NewMemory(), at, 1, true
	}
	if same(s.accessed, r.accessed) {
		return
	}
	at, ok := s.counts(s.accessed)
	if !ok || !at.After(r.reinforced) {
		return
	}
	r.Memory = r.Recalled(hoursBetween(r.reinforced, at))
	r.reinforced, r.accessed, r.times, r.changed = at, s.accessed, r.times+1, true
}

// hoursBetween is t - since, of which time.Duration holds 292 years.
func hoursBetween(since, t time.Time) float64 {
	return (float64(t.Unix()-since.Unix()) + float64(t.Nanosecond()-since.Nanosecond())/1e9) / 3600
}

// queueRetentions asks for what is kept of memories, those of users who exist. A
// memory that is being deleted is not waited for, as its foreign key would: the
// client may take its time, and all wait for this apply. Where it stays in the end it
// has no retention until its next change, and the view says what it would be.
func queueRetentions(batch *pgx.Batch, users, memories []uuid.UUID, into map[uuid.UUID]*retention) {
	batch.Queue(living+`select m.id, m.user_id, r.memory_id is not null, coalesce(r.stability_hours, 0), coalesce(r.difficulty, 0),
			coalesce(r.last_reinforced, '-infinity'), coalesce(r.reinforcements, 0), r.last_accessed
		from public.memories m join living on living.id = m.user_id left join public.memory_retention r on r.memory_id = m.id
		where m.id = any ($2::uuid[]) order by m.id for key share of m skip locked`, users, memories).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var id uuid.UUID
			var reinforced pgtype.Timestamptz
			r := &retention{}
			if err := rows.Scan(&id, &r.user, &r.stored, &r.Stability, &r.Difficulty, &reinforced, &r.times, &r.accessed); err != nil {
				return err
			}
			r.reinforced = reinforced.Time
			into[id] = r
		}
		return rows.Err()
	})
}

func same(a, b pgtype.Timestamptz) bool {
	return a.Valid == b.Valid && a.InfinityModifier == b.InfinityModifier && a.Time.Equal(b.Time)
}

// storeRetentions writes those that are new or have changed, and tells of them.
func storeRetentions(ctx context.Context, tx *reactors.Tx, kept map[uuid.UUID]*retention) error {
	maps.DeleteFunc(kept, func(_ uuid.UUID, r *retention) bool { return !r.changed })
	if len(kept) == 0 {
		return nil
	}
	ids := slices.SortedFunc(maps.Keys(kept), func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	users := make([]uuid.UUID, len(ids))
	stability, difficulty := make([]float64, len(ids)), make([]float64, len(ids))
	reinforced, accessed := make([]time.Time, len(ids)), make([]pgtype.Timestamptz, len(ids))
	times := make([]int32, len(ids))
	for i, id := range ids {
		r := kept[id]
		users[i], stability[i], difficulty[i] = r.user, r.Stability, r.Difficulty
		reinforced[i], accessed[i], times[i] = r.reinforced, r.accessed, r.times
		op := replication.Insert
		if r.stored {
			op = replication.Update
		}
		tx.Broadcast(reactors.Broadcast{UserID: r.user.String(), Op: op, Table: "memory_retention", ID: id.String(),
			Key: map[string]any{"memory_id": id}, Record: func() any {
				return map[string]any{"stability_hours": r.Stability, "difficulty": r.Difficulty,
					"last_reinforced": pgtype.Timestamptz{Time: r.reinforced, Valid: true}, "reinforcements": r.times}
			}})
	}
	_, err := tx.Exec(ctx, `insert into public.memory_retention as r
			(memory_id, user_id, stability_hours, difficulty, last_reinforced, last_accessed, reinforcements)
		select * from unnest($1::uuid[], $2::uuid[], $3::float8[], $4::float8[], $5::timestamptz[], $6::timestamptz[], $7::int[])
		on conflict (memory_id) do update set user_id = excluded.user_id, stability_hours = excluded.stability_hours,
			difficulty = excluded.difficulty, last_reinforced = excluded.last_reinforced,
			last_accessed = excluded.last_accessed, reinforcements = excluded.reinforcements`,
		ids, users, stability, difficulty, reinforced, accessed, times)
	if err != nil {
		return fmt.Errorf("reinforce memories: %w", err)
	}
	return nil
}
