package reactors

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/replication"
)

// Broadcast tells a user's devices of one result row, on topic helix:<user_id>
// with the table's name as event.
type Broadcast struct {
	UserID string         `json:"-"`
	Op     replication.Op `json:"-"`
	Table  string         `json:"table"` // without schema
	Key    any            `json:"key"`   // the natural key, without user_id
	ID     string         `json:"id"`
	Status *string        `json:"status"` // null where the table has none
	// Record gives the small columns. It is called when the message is sent, which
	// of many rows it is not.
	Record func() any `json:"-"`
}

// maxBroadcasts bounds the messages that one user gets of one table and
// transaction. Past it one message says how many rows changed: Realtime takes
// 100 messages a second on the smallest plan, and a client that is told of many
// rows reads them again anyway.
const maxBroadcasts = 8

type message struct {
	payload, event, topic string
}

// coalesce makes messages of broadcasts, in their order: the last one of each
// row, and one in all for a user and table with more than maxBroadcasts rows.
func coalesce(broadcasts []Broadcast) ([]message, error) {
	type group struct{ userID, table string }
	type row struct {
		group
		id string
	}
	last := map[row]int{}
	rows := map[group]int{}
	for i := range broadcasts {
		b := &broadcasts[i]
		r := row{group{b.UserID, b.Table}, b.ID}
		if _, ok := last[r]; !ok {
			rows[r.group]++
		} else if first := broadcasts[last[r]].Op; first == replication.Insert && b.Op == replication.Update {
			b.Op = first // the client has not seen the row yet
		}
		last[r] = i
	}
	var messages []message
	told := map[group]bool{}
	for i := range broadcasts {
		b := &broadcasts[i]
		g := group{b.UserID, b.Table}
		if last[row{g, b.ID}] != i {
			continue
		}
		var payload []byte
		var err error
		if n := rows[g]; n > maxBroadcasts {
			if told[g] {
				continue
			}
			told[g] = true
			payload, err = json.Marshal(map[string]any{
				"op": replication.Update.String(), "table": b.Table,
				"key": nil, "id": nil, "status": nil, "record": nil, "rows": n})
		} else {
			payload, err = json.Marshal(struct {
				Op string `json:"op"`
				Broadcast
				Record any `json:"record"`
			}{b.Op.String(), *b, b.Record()})
		}
		if err != nil {
			return nil, fmt.Errorf("broadcast of %s: %w", b.Table, err)
		}
		messages = append(messages, message{string(payload), b.Table, "helix:" + b.UserID})
	}
	return messages, nil
}

// queueBroadcasts adds the statement that sends them. realtime.send swallows
// its errors into warnings: a broadcast never fails an apply.
func queueBroadcasts(batch *pgx.Batch, messages []message) {
	payloads := make([]string, len(messages))
	events := make([]string, len(messages))
	topics := make([]string, len(messages))
	for i, m := range messages {
		payloads[i], events[i], topics[i] = m.payload, m.event, m.topic
	}
	batch.Queue(`select realtime.send(m.payload::jsonb, m.event, m.topic, true)
		from unnest($1::text[], $2::text[], $3::text[]) as m (payload, event, topic)`, payloads, events, topics)
}

// canBroadcast reports whether the project has Realtime's function.
func canBroadcast(ctx context.Context, q querier) (bool, error) {
	var can bool
	err := q.QueryRow(ctx, `select coalesce(has_function_privilege(
		to_regprocedure('realtime.send(jsonb, text, text, boolean)'), 'execute'), false)`).Scan(&can)
	return can, err
}
