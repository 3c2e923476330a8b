package reactors

import (
	"fmt"
	"slices"

	"github.com/helixd/helixd/replication"
)

// route leads a relation's changes to one Watch of one reactor.
type route struct {
	reactor int
	watch   int
	ops     []replication.Op
	columns []int
}

type routes struct {
	routes []route
	table  string
	inbox  bool
	// Of the inbox: positions of its columns.
	id, tableName, op, key, userID int
}

// route sorts a batch's changes by reactor.
func (d *Dispatcher) route(b *replication.Batch) ([][]Row, error) {
	rows := make([][]Row, len(d.reactors))
	for i := range b.Transactions {
		tx := &b.Transactions[i]
		if tx.Ordinal == 0 {
			d.open.marker = readMarker(tx, d.secret)
		}
		for j := range tx.Changes {
			c := &tx.Changes[j]
			if c.Relation == nil {
				if c.Op == replication.Message && c.Prefix == markerPrefix && (tx.Ordinal+j > 0 || d.open.marker == nil) {
					d.done.ignored++
				}
				continue
			}
			d.open.changes++
			to, err := d.routesOf(c.Relation)
			if err != nil {
				return nil, err
			}
			row := Row{Op: c.Op, CommitLSN: tx.CommitLSN, Ordinal: tx.Ordinal + j, Committed: tx.CommitTime,
				table: to.table, relation: c.Relation, values: c.New}
			if to.inbox {
				if c.Op == replication.Insert {
					d.open.sawInbox = true
					if string(row.values[to.tableName].Data) == replayTable {
						row.inboxID, row.key = string(row.values[to.id].Data), row.values[to.key].Data
						d.open.replays = append(d.open.replays, row)
						continue
					}
					d.routeInbox(rows, to, row)
				}
				continue
			}
			for _, r := range to.routes {
				if slices.Contains(r.ops, c.Op) && !d.withheld(r.reactor, to.table) {
					row.Watch, row.columns = r.watch, r.columns
					rows[r.reactor] = append(rows[r.reactor], row)
				}
			}
		}
		if tx.EndLSN != 0 {
			d.open.transactions++
			d.open.committed = &tx.CommitTime
			d.done.commits = append(d.done.commits, tx.CommitTime)
			d.open.marker = nil
		}
	}
	return rows, nil
}

// routeInbox turns an inbox row into the change that it tells of.
func (d *Dispatcher) routeInbox(rows [][]Row, to *routes, row Row) {
	row.Op = opOf(string(row.values[to.op].Data))
	row.inboxID, row.key = string(row.values[to.id].Data), row.values[to.key].Data
	row.userID = string(row.values[to.userID].Data)
	row.table = "public." + string(row.values[to.tableName].Data)
	row.values = nil
	for _, r := range d.inbox[row.table] {
		if slices.Contains(r.ops, row.Op) && !d.withheld(r.reactor, row.table) {
			row.Watch = r.watch
			rows[r.reactor] = append(rows[r.reactor], row)
		}
	}
}

// withheld reports whether a table's changes are the reactor's own writes.
func (d *Dispatcher) withheld(reactor int, table string) bool {
	m := d.open.marker
	if m == nil || !slices.Contains(m.Writes[d.reactors[reactor].Name()], table) {
		return false
	}
	d.done.withheld[reactor]++
	return true
}

// routesOf finds who watches a relation, once for each description of it.
func (d *Dispatcher) routesOf(rel *replication.Relation) (*routes, error) {
	if to, ok := d.relations[rel]; ok {
		return to, nil
	}
	to := &routes{table: rel.String()}
	if to.table == inboxTable {
		to.inbox = true
		to.id, to.tableName, to.op, to.key, to.userID = rel.Index("id"), rel.Index("table_name"), rel.Index("op"), rel.Index("key"), rel.Index("user_id")
		if min(to.id, to.tableName, to.op, to.key, to.userID) < 0 {
			return nil, missingColumn(to.table, "id, table_name, op, key or user_id")
		}
	}
	for i, r := range d.reactors {
		for j, w := range r.Watches() {
			if w.Table != to.table || len(w.Columns) == 0 {
				continue
			}
			at := route{reactor: i, watch: j, ops: w.Ops}
			for _, name := range w.Columns {
				index := rel.Index(name)
				if index < 0 {
					return nil, missingColumn(to.table, name)
				}
				at.columns = append(at.columns, index)
			}
			to.routes = append(to.routes, at)
		}
	}
	if !to.inbox && len(to.routes) == 0 && d.Tables()[to.table] == nil {
		return nil, fmt.Errorf("%s is streamed, which no reactor watches: a watched table had this name for a while, "+
			"or the publication was altered: %w", to.table, ErrRelation)
	}
	for old, its := range d.relations {
		if its.table == to.table { // the server has described it anew
			delete(d.relations, old)
		}
	}
	d.relations[rel] = to
	return to, nil
}

func missingColumn(table, column string) error {
	return fmt.Errorf("%s is streamed without column %s, which helixd needs: "+
		"it was dropped or renamed, or the publication was altered: %w", table, column, ErrRelation)
}
