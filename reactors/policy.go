package reactors

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// broadcastPolicies let a user receive on topic helix:<user_id> and nobody send
// on helix:*. The restrictive ones hold whatever other policies the project has.
const broadcastPolicies = `
drop policy if exists helix_receive on realtime.messages;
create policy helix_receive on realtime.messages for select to authenticated
  using ((select realtime.topic()) = 'helix:' || (select auth.uid())::text);
drop policy if exists helix_receive_own_only on realtime.messages;
create policy helix_receive_own_only on realtime.messages as restrictive for select to anon, authenticated
  using ((select realtime.topic()) not like 'helix:%'
    or (select realtime.topic()) = 'helix:' || (select auth.uid())::text);
drop policy if exists helix_no_sending on realtime.messages;
create policy helix_no_sending on realtime.messages as restrictive for insert to anon, authenticated
  with check ((select realtime.topic()) not like 'helix:%');
`

// EnsureBroadcastPolicies makes the policies on realtime.messages where they are
// missing. The table belongs to another role, so the server may refuse: then
// clients see results by postgres_changes only, and the error names the SQL.
func EnsureBroadcastPolicies(ctx context.Context, pool *pgxpool.Pool) error {
	var needed bool
	err := pool.QueryRow(ctx, `select to_regclass('realtime.messages') is not null and (
		select count(*) from pg_policies where schemaname = 'realtime' and tablename = 'messages'
			and policyname in ('helix_receive', 'helix_receive_own_only', 'helix_no_sending')) < 3`).Scan(&needed)
	if err != nil || !needed {
		return err
	}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "set local lock_timeout = '2s';"+broadcastPolicies)
		return err
	})
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		return fmt.Errorf("policies on realtime.messages: %w; until an administrator runs this, "+
			"private broadcasts reach nobody:%s", err, broadcastPolicies)
	}
	return err
}
