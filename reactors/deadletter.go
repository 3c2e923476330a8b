package reactors

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/replication"
)

// queueDeadLetters adds the statements that record rows which could not be
// applied. Those of users who are gone are dropped with them. Letters that were
// retried stay, with the new error.
func queueDeadLetters(batch *pgx.Batch, slot string, rejected []rejection) {
	var again []rejection
	rejected = slices.DeleteFunc(slices.Clone(rejected), func(r rejection) bool {
		if r.row.letter != 0 {
			again = append(again, r)
		}
		return r.row.letter != 0
	})
	queueRetried(batch, again)
	n := len(rejected)
	if n == 0 {
		return
	}
	reactors, tables, ops := make([]string, n), make([]string, n), make([]string, n)
	keys, users := make([]string, n), make([]*string, n)
	lsns, ordinals := make([]string, n), make([]int32, n)
	errs, states, times := make([]string, n), make([]string, n), make([]time.Time, n)
	for i, r := range rejected {
		reactors[i], tables[i], ops[i] = r.reactor, r.row.table, r.row.Op.String()
		keys[i], users[i] = r.row.identify()
		lsns[i], ordinals[i] = r.row.CommitLSN.String(), int32(r.row.Ordinal)
		errs[i], states[i], times[i] = r.err.Error(), SQLState(r.err), r.row.Committed
	}
	batch.Queue(`insert into helix.dead_letters
			(slot, reactor, table_name, op, key, user_id, lsn, ordinal, error, sqlstate, committed_at)
		select $1, r.reactor, r.table_name, r.op, r.key::jsonb, r.user_id::uuid, r.lsn::pg_lsn, r.ordinal,
			r.error, nullif(r.sqlstate, ''), r.committed_at
		from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int[],
			$9::text[], $10::text[], $11::timestamptz[])
			as r (reactor, table_name, op, key, user_id, lsn, ordinal, error, sqlstate, committed_at)
		where r.user_id is null or exists (select from auth.users u where u.id = r.user_id::uuid)
		on conflict (slot, reactor, lsn, ordinal) do nothing`,
		slot, reactors, tables, ops, keys, users, lsns, ordinals, errs, states, times)
}

// queueRetried adds the statement that keeps letters which failed again.
func queueRetried(batch *pgx.Batch, again []rejection) {
	if len(again) == 0 {
		return
	}
	ids, errs, states := make([]int64, len(again)), make([]string, len(again)), make([]string, len(again))
	for i, r := range again {
		ids[i], errs[i], states[i] = r.row.letter, r.err.Error(), SQLState(r.err)
	}
	batch.Queue(`update helix.dead_letters d set error = r.error, sqlstate = nullif(r.sqlstate, ''), attempts = d.attempts + 1, retried_at = now()
		from unnest($1::bigint[], $2::text[], $3::text[]) as r (id, error, sqlstate) where d.id = r.id`, ids, errs, states)
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
