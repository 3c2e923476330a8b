package reactors

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/replication"
)

// source begins a transaction that reads tables while the apply, on another
// connection, is given what it reads: rows of any size pass in flat memory. It sees
// an exported snapshot or, with "", what is there now.
func (d *Dispatcher) source(ctx context.Context, snapshot string) (snap pgx.Tx, end func(), err error) {
	conn, err := d.pool.Acquire(ctx)
	if err != nil {
		return nil, nil, err
	}
	snap, err = conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		conn.Release()
		return nil, nil, err
	}
	end = func() {
		_ = snap.Rollback(context.WithoutCancel(ctx))
		conn.Release()
	}
	sql := asStreamed
	if snapshot != "" { // its name comes from the server; SET TRANSACTION takes no parameters
		sql = "set transaction snapshot " + quoteLiteral(snapshot) + "; " + sql
	}
	if _, err := snap.Exec(ctx, sql); err != nil {
		end()
		return nil, nil, err
	}
	return snap, end, nil
}

// beginAfter begins an apply that sees all that the source does.
func (d *Dispatcher) beginAfter(ctx context.Context, snap pgx.Tx) error {
	then, err := currentSnapshot(ctx, snap)
	if err != nil {
		return err
	}
	if err := d.begin(ctx); err != nil {
		return err
	}
	now, err := currentSnapshot(ctx, d.open.tx)
	if err != nil {
		return err
	}
	return d.await(ctx, now, then.coveredBy)
}

// asStreamed has the server write values as it does in the stream. The source waits
// for no row, and not long for a table: see lockTable.
const asStreamed = "set local lock_timeout = '5s'; set local idle_in_transaction_session_timeout = 0; set local datestyle = 'ISO'; set local timezone = 'UTC'; set local extra_float_digits = 3"

// table is how a table is read, so that it looks as in the stream.
type table struct {
	name     string // quoted
	columns  string // to select from it as t
	relation *replication.Relation
}

func newTable(name string, columns []string) *table {
	schema, bare, _ := strings.Cut(name, ".")
	t := &table{name: pgx.Identifier{schema, bare}.Sanitize(), relation: &replication.Relation{Namespace: schema, Name: bare}}
	selected := make([]string, len(columns))
	for i, c := range columns {
		selected[i] = "t." + pgx.Identifier{c}.Sanitize()
		t.relation.Columns = append(t.relation.Columns, replication.Column{Name: c, Key: c == "id"})
	}
	t.columns = strings.Join(selected, ", ")
	return t
}

// lockTable lets the apply hold a table before its source reads it. Else an ALTER
// TABLE could wait for the source, the apply behind it for the table, and the source
// for the apply, which Postgres cannot see; so they all would wait for ever.
func (d *Dispatcher) lockTable(ctx context.Context, t *table) error {
	if _, err := d.open.tx.Exec(ctx, "lock table "+t.name+" in access share mode"); err != nil {
		return fmt.Errorf("lock %s: %w", t.name, err)
	}
	return nil
}

// OfTable is the condition for the rows t that the stream would carry.
func OfTable(quoted string) string {
	return fmt.Sprintf("t.tableoid = any (array(select %[1]s::regclass::oid union all select relid::oid from pg_partition_tree(%[1]s)))",
		quoteLiteral(quoted))
}

// readTuple copies a row in the text format, and gives its size.
func readTuple(raw [][]byte) (tuple replication.Tuple, size int) {
	tuple = make(replication.Tuple, len(raw))
	for i, v := range raw {
		if v == nil {
			tuple[i].Kind = replication.Null
			continue
		}
		tuple[i] = replication.Value{Kind: replication.Text, Data: slices.Clone(v)}
		size += len(v)
	}
	return tuple, size
}

func quoteLiteral(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
