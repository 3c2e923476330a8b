package reactors

import (
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/replication"
)

// queueDeadLetters adds the statement that records rows which could not be
// applied. Those of users who are gone are dropped with them.
func queueDeadLetters(batch *pgx.Batch, slot string, rejected []rejection) {
	n := len(rejected)
	reactors, tables, ops := make([]string, n), make([]string, n), make([]string, n)
	keys, users := make([]string, n), make([]*string, n)
	lsns, ordinals := make([]string, n), make([]int32, n)
	errs, states, times := make([]string, n), make([]*string, n), make([]time.Time, n)
	for i, r := range rejected {
		reactors[i], tables[i], ops[i] = r.reactor, r.row.table, r.row.Op.String()
		keys[i], users[i] = r.row.identify()
		lsns[i], ordinals[i] = r.row.CommitLSN.String(), int32(r.row.Ordinal)
		errs[i], states[i], times[i] = r.err.Error(), sqlState(r.err), r.row.Committed
	}
	batch.Queue(`insert into helix.dead_letters
			(slot, reactor, table_name, op, key, user_id, lsn, ordinal, error, sqlstate, committed_at)
		select $1, r.reactor, r.table_name, r.op, r.key::jsonb, r.user_id::uuid, r.lsn::pg_lsn, r.ordinal,
			r.error, r.sqlstate, r.committed_at
		from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int[],
			$9::text[], $10::text[], $11::timestamptz[])
			as r (reactor, table_name, op, key, user_id, lsn, ordinal, error, sqlstate, committed_at)
		where r.user_id is null or exists (select from auth.users u where u.id = r.user_id::uuid)
		on conflict (slot, reactor, lsn, ordinal) do nothing`,
		slot, reactors, tables, ops, keys, users, lsns, ordinals, errs, states, times)
}

// identify gives a row's key as a JSON object, and its user where it has one.
func (r *Row) identify() (key string, userID *string) {
	if r.key != nil { // through the inbox
		if r.userID != "" {
			userID = &r.userID
		}
		return string(r.key), userID
	}
	columns := map[string]string{}
	for i, c := range r.relation.Columns {
		if i >= len(r.values) || r.values[i].Kind != replication.Text {
			continue
		}
		// Under REPLICA IDENTITY FULL all columns are the key, and content.
		if c.Key && (c.Name == "id" || r.relation.Identity != replication.IdentityFull) {
			columns[c.Name] = string(r.values[i].Data)
		}
		if c.Name == "user_id" {
			user := string(r.values[i].Data)
			userID = &user
		}
	}
	b, _ := json.Marshal(columns) // strings always marshal
	return string(b), userID
}
