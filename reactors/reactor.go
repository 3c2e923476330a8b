package reactors

import (
	"context"
	"fmt"
	"time"

	"github.com/helixd/helixd/replication"
)

// Reactor computes what row changes cause.
//
// React runs inside the apply transaction, so it does short, bounded work in a
// few set-based statements, and hands everything long, external or untrusted
// to a job (Tx.Enqueue). It gets the rows of one batch in commit order, never
// an empty slice. Whatever it keeps is in the database: the same rows give the
// same result however they are split into batches, and rows that it has seen
// before, as a repair brings them, change nothing.
//
// A row whose own data makes it impossible goes to Tx.Reject, and the others
// are applied. An error that Poison knows makes the Dispatcher look for the row
// at fault; any other error stops the stream, which then starts again from the
// checkpoint.
type Reactor interface {
	// Name is stable: it is stored with dead letters and logical messages.
	Name() string
	// Watches says which changes React gets.
	Watches() []Watch
	// Writes names the tables that React writes ("public.sync_entities").
	Writes() []string
	React(ctx context.Context, tx *Tx, rows []Row) error
}

// Watch is a table and what of it a Reactor wants to see. Deletes come through
// helix.inbox, and so do all changes of a Watch without Columns, whose table is
// then not streamed: of those a Row has the InboxKey only.
type Watch struct {
	Table   string // qualified, "public.sync_state"
	Ops     []replication.Op
	Columns []string // in the order of Row.Value
}

func (w *Watch) throughInbox(op replication.Op) bool {
	return len(w.Columns) == 0 || op == replication.Delete
}

// Row is one change as one Watch sees it.
type Row struct {
	Watch     int // index into the reactor's Watches
	Op        replication.Op
	CommitLSN replication.LSN
	Ordinal   int       // within its transaction
	Committed time.Time // at the server

	table    string
	relation *replication.Relation
	values   replication.Tuple
	columns  []int // Watch.Columns → values

	// Of what comes through helix.inbox:
	inboxID string
	key     []byte
	userID  string

	letter int64 // the dead letter that it is retried from, 0 for none
}

// Value gives the i-th of the Watch's Columns. It is valid until React returns.
func (r *Row) Value(i int) replication.Value { return r.values[r.columns[i]] }

// Text gives the i-th of the Watch's Columns in Postgres's text form; ok is
// false for NULL and for an unchanged TOASTed value.
func (r *Row) Text(i int) (text string, ok bool) {
	v := r.Value(i)
	return string(v.Data), v.Kind == replication.Text
}

// InboxKey gives the natural key of a row that the inbox tells of, without its
// user_id, as the JSON object that the table's trigger wrote, and its owner.
func (r *Row) InboxKey() (key []byte, userID string) { return r.key, r.userID }

// checkAcyclic refuses reactors that could feed each other for ever: a table
// that one writes and another watches is an edge. A reactor that watches what
// it writes itself is no loop: it never sees its own writes.
func checkAcyclic(reactors []Reactor) error {
	watchers := map[string][]int{}
	for i, r := range reactors {
		for _, w := range r.Watches() {
			watchers[w.Table] = append(watchers[w.Table], i)
		}
	}
	const (
		unvisited = iota
		onPath
		done
	)
	marks := make([]int, len(reactors))
	var visit func(i int) error
	visit = func(i int) error {
		marks[i] = onPath
		for _, table := range reactors[i].Writes() {
			for _, j := range watchers[table] {
				if j == i || marks[j] == done {
					continue
				}
				if marks[j] == onPath {
					return fmt.Errorf("reactors %s and %s feed each other through %s",
						reactors[i].Name(), reactors[j].Name(), table)
				}
				if err := visit(j); err != nil {
					return err
				}
			}
		}
		marks[i] = done
		return nil
	}
	for i := range reactors {
		if marks[i] == unvisited {
			if err := visit(i); err != nil {
				return err
			}
		}
	}
	return nil
}
