package main

import (
	"context"
	"fmt"
	"hash/crc32"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/replication"
)

// rowChange is a change as every library gives it, its values in Postgres's text
// form, nil for NULL. It is for one change at a time.
type rowChange struct {
	op       replication.Op
	old, new [][]byte
}

// content is what a side has seen: how many changes, and a checksum over all
// their values in their order.
type content struct {
	Changes int    `json:"changes"`
	Sum     uint32 `json:"sum"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli) // in hardware: a few ns a value

func (c *content) add(r *rowChange) {
	c.Changes++
	c.Sum ^= uint32(r.op)
	for _, values := range [][][]byte{r.old, r.new} {
		for _, v := range values {
			c.Sum = crc32.Update(c.Sum, castagnoli, v)
		}
	}
}

func (c content) String() string {
	return fmt.Sprintf("%d changes with checksum %08x", c.Changes, c.Sum)
}

// expect reads from the server, by SQL, what every side should see, and the end
// of the last commit.
func expect(ctx context.Context, conn *pgx.Conn) (c content, end replication.LSN, err error) {
	rows, err := conn.Query(ctx, `select data from pg_logical_slot_peek_binary_changes($1, null, null,
		'proto_version', '1', 'publication_names', $2)`, baseSlot, publication)
	if err != nil {
		return c, 0, err
	}
	defer rows.Close()
	var row rowChange
	for rows.Next() {
		m, err := pglogrepl.Parse(rows.RawValues()[0])
		if err != nil {
			return c, 0, err
		}
		if row.parsed(m) {
			c.add(&row)
		} else if m, ok := m.(*pglogrepl.CommitMessage); ok {
			end = replication.LSN(m.TransactionEndLSN)
		}
	}
	return c, end, rows.Err()
}

// parsed takes a message of pglogrepl's, if it is a change.
func (r *rowChange) parsed(m pglogrepl.Message) bool {
	switch m := m.(type) {
	case *pglogrepl.InsertMessage:
		r.op, r.old, r.new = replication.Insert, r.old[:0], tupleValues(r.new, m.Tuple)
	case *pglogrepl.UpdateMessage:
		r.op, r.old, r.new = replication.Update, tupleValues(r.old, m.OldTuple), tupleValues(r.new, m.NewTuple)
	case *pglogrepl.DeleteMessage:
		r.op, r.old, r.new = replication.Delete, tupleValues(r.old, m.OldTuple), r.new[:0]
	default:
		return false
	}
	return true
}

func tupleValues(dst [][]byte, t *pglogrepl.TupleData) [][]byte {
	dst = dst[:0]
	if t != nil {
		for _, c := range t.Columns {
			dst = append(dst, c.Data)
		}
	}
	return dst
}
