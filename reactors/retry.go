package reactors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/replication"
)

// letter is a dead letter as it is stored.
type letter struct {
	id                 int64
	reactor, table, op string
	key, user          string
	lsn                replication.LSN
	ordinal            int
	committed          time.Time
}

// retry gives dead letters to their reactors again, each alone. One that succeeds
// goes with the apply that it succeeded in; so does one whose row is gone.
func (d *Dispatcher) retry(ctx context.Context, snap pgx.Tx, r *Replay, o *outcome, enough func(*snapshot) bool) error {
	if len(r.Letters) == 0 {
		return nil
	}
	tx := d.open.tx
	ids, versions := make([]int64, len(r.Letters)), map[int64]string{}
	for i, l := range r.Letters {
		ids[i], versions[l.ID] = l.ID, l.Version
	}
	rows, err := tx.Query(ctx, `select id, reactor, table_name, op, key::text, coalesce(user_id::text, ''), lsn, ordinal, committed_at
		from helix.dead_letters where id = any ($1) and slot = $2 order by id for update`, ids, d.slot)
	if err != nil {
		return fmt.Errorf("read the dead letters: %w", err)
	}
	letters, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (l letter, err error) {
		return l, row.Scan(&l.id, &l.reactor, &l.table, &l.op, &l.key, &l.user, &l.lsn, &l.ordinal, &l.committed)
	})
	if err != nil {
		return fmt.Errorf("read the dead letters: %w", err)
	}
	o.gone += len(r.Letters) - len(letters)
	var done []int64
	for _, l := range letters {
		i := slices.IndexFunc(d.reactors, func(r Reactor) bool { return r.Name() == l.reactor })
		if i < 0 {
			o.gone++
			continue
		}
		seen, there, err := d.letterRows(ctx, snap, i, &l, versions[l.id])
		switch {
		case err != nil:
			return err
		case !there:
			o.gone++
			done = append(done, l.id)
		case len(seen) == 0:
			o.changed++
		default:
			rejected := len(tx.rejected)
			if err := d.react(ctx, d.reactors[i], seen, enough); err != nil {
				return err
			}
			o.given++
			if len(tx.rejected) > rejected {
				o.rejected++
			} else {
				done = append(done, l.id)
			}
		}
	}
	if len(done) > 0 {
		if _, err := tx.Exec(ctx, "delete from helix.dead_letters where id = any ($1)", done); err != nil {
			return fmt.Errorf("remove the letters that are done with: %w", err)
		}
	}
	return nil
}

// letterRows gives a letter's change as its reactor's Watches see it: none where the
// row was written since. Of a delete, and of a table that is not streamed, it is
// what the inbox said.
func (d *Dispatcher) letterRows(ctx context.Context, snap pgx.Tx, reactor int, l *letter, version string) (seen []Row, there bool, err error) {
	row := Row{CommitLSN: l.lsn, Ordinal: l.ordinal, Committed: l.committed, table: l.table, letter: l.id}
	op := opOf(l.op)
	if op == replication.Delete || len(d.Tables()[l.table]) == 0 {
		row.Op, row.key, row.userID = op, []byte(l.key), l.user
		for i, w := range d.reactors[reactor].Watches() {
			if w.Table == l.table && slices.Contains(w.Ops, op) && w.throughInbox(op) {
				row.Watch = i
				seen = append(seen, row)
			}
		}
		return seen, true, nil
	}
	var key struct{ ID string }
	if err := json.Unmarshal([]byte(l.key), &key); err != nil || key.ID == "" {
		return nil, true, nil // there is no way to find it
	}
	v, err := d.view(ctx, snap, l.table)
	if err != nil {
		return nil, false, err
	}
	rows, err := snap.Query(ctx, fmt.Sprintf("select %s, t.xmin::text from %s t where id = $1::text::uuid and %s", v.columns, v.name, OfTable(v.name)),
		pgx.QueryResultFormats{pgx.TextFormatCode}, key.ID)
	if err != nil {
		return nil, false, fmt.Errorf("read a row of %s: %w", l.table, err)
	}
	tuple, err := pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (replication.Tuple, error) {
		tuple, _ := readTuple(row.RawValues())
		return tuple, nil
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("read a row of %s: %w", l.table, err)
	}
	last := len(tuple) - 1
	if string(tuple[last].Data) != version {
		return nil, true, nil
	}
	return v.rows(reactor, row, tuple[:last], op), true, nil
}

func opOf(name string) replication.Op {
	switch name {
	case "INSERT":
		return replication.Insert
	case "UPDATE":
		return replication.Update
	}
	return replication.Delete
}
