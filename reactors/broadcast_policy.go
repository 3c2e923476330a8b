package reactors

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// policyVersion is in the policies' comments: another one is replaced.
const policyVersion = "helixd 1"

// PolicyNames are the names of helixd's policies on realtime.messages.
var PolicyNames = []string{"helix_receive", "helix_receive_own_only", "helix_no_sending"}

// BroadcastPolicies is SQL, which may run again: policies that let a user receive
// on topic helix:<user_id> and nobody send on helix:*. The restrictive ones hold
// whatever other policies the project has. Realtime checks them when a client
// joins, with a row of the client's topic; the column holds for whoever reads the
// table otherwise, too.
const BroadcastPolicies = `
drop policy if exists helix_receive on realtime.messages;
create policy helix_receive on realtime.messages for select to authenticated
  using (topic = 'helix:' || (select auth.uid())::text);
comment on policy helix_receive on realtime.messages is '` + policyVersion + `';
drop policy if exists helix_receive_own_only on realtime.messages;
create policy helix_receive_own_only on realtime.messages as restrictive for select to anon, authenticated
  using (topic not like 'helix:%' or topic = 'helix:' || (select auth.uid())::text);
comment on policy helix_receive_own_only on realtime.messages is '` + policyVersion + `';
drop policy if exists helix_no_sending on realtime.messages;
create policy helix_no_sending on realtime.messages as restrictive for insert to anon, authenticated
  with check (topic not like 'helix:%');
comment on policy helix_no_sending on realtime.messages is '` + policyVersion + `';
`

// LacksBroadcastPolicies reports whether the project has Realtime, and one of the
// policies is missing or of another version.
func LacksBroadcastPolicies(ctx context.Context, q querier) (lacks bool, err error) {
	err = q.QueryRow(ctx, `select to_regclass('realtime.messages') is not null and (
		select count(*) from pg_policy where polrelid = to_regclass('realtime.messages')
			and polname = any ($2) and obj_description(oid, 'pg_policy') = $1) < cardinality($2)`, policyVersion, PolicyNames).Scan(&lacks)
	return lacks, err
}

// EnsureBroadcastPolicies makes the policies on realtime.messages where they are
// missing. The table belongs to another role, so the server may refuse: then
// clients see results by postgres_changes only, and the error names the SQL.
func EnsureBroadcastPolicies(ctx context.Context, pool *pgxpool.Pool) error {
	needed, err := LacksBroadcastPolicies(ctx, pool)
	if err != nil || !needed {
		return err
	}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "set local lock_timeout = '2s';"+BroadcastPolicies)
		return err
	})
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		return fmt.Errorf("policies on realtime.messages: %w; until an administrator runs this, "+
			"private broadcasts reach nobody:%s", err, BroadcastPolicies)
	}
	return err
}
