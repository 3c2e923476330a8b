package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/replication/stream"
)

// demoEmail is how the users of demos are known. Nothing is ever delivered to
// .invalid, and nobody can have such an account.
const demoEmail = "helixd-demo-%s@example.invalid"

// demoUser is an account that a demo has made.
type demoUser struct {
	pool  *pgxpool.Pool
	id    uuid.UUID
	email string
}

// newDemoUser makes an account without a password. The columns of tokens, where
// the project's Auth has them, must not be null: it cannot read that.
func newDemoUser(ctx context.Context, pool *pgxpool.Pool) (*demoUser, error) {
	u := &demoUser{pool, uuid.New(), fmt.Sprintf(demoEmail, strings.ToLower(rand.Text()[:12]))}
	var tokens []string
	err := pool.QueryRow(ctx, `select coalesce(array_agg(quote_ident(attname)), '{}') from pg_attribute
		where attrelid = 'auth.users'::regclass and attnum > 0 and not attisdropped and attgenerated = '' and
			(attname like '%\_token' or attname in ('email_change', 'email_change_token_new', 'email_change_token_current', 'phone_change'))
			and atttypid in ('text'::regtype, 'varchar'::regtype)`).Scan(&tokens)
	if err != nil {
		return nil, fmt.Errorf("look at auth.users: %w", err)
	}
	columns, values := "", ""
	for _, column := range tokens {
		columns, values = columns+", "+column, values+", ''"
	}
	_, err = pool.Exec(ctx, `insert into auth.users (instance_id, id, aud, role, email, raw_app_meta_data, raw_user_meta_data, created_at, updated_at`+columns+`)
		values ('00000000-0000-0000-0000-000000000000', $1, 'authenticated', 'authenticated', $2, '{"provider": "email", "providers": ["email"]}', '{"helixd": "demo"}', now(), now()`+values+`)`,
		u.id, u.email)
	var pgErr *pgconn.PgError
	switch {
	case errors.As(err, &pgErr) && pgErr.Code == "42501":
		return nil, &stream.SetupError{Problem: "this role may not make a user in auth.users",
			Hint: "Connect as role postgres, as the dashboard's connection string does.", Err: err}
	case errors.As(err, &pgErr) && pgErr.Where != "":
		return nil, &stream.SetupError{Problem: "the project refuses a new user", Hint: "A trigger of the project's on auth.users has failed; it would for an app's user, too.", Err: err}
	case err != nil:
		return nil, fmt.Errorf("make a user: %w", err)
	}
	return u, nil
}

// leftDemoUsers finds the accounts of demos that were killed.
func leftDemoUsers(ctx context.Context, pool *pgxpool.Pool) ([]*demoUser, error) {
	rows, err := pool.Query(ctx, `select id, email from auth.users where email like 'helixd-demo-%@example.invalid' and raw_user_meta_data->>'helixd' = 'demo'`)
	if err != nil {
		return nil, fmt.Errorf("look for users of demos: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (*demoUser, error) {
		u := &demoUser{pool: pool}
		return u, row.Scan(&u.id, &u.email)
	})
}

// do runs statements as the user's app does: as role authenticated, with the
// claims that PostgREST takes from a token.
func (u *demoUser) do(ctx context.Context, f func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, u.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `select set_config('role', 'authenticated', true), set_config('request.jwt.claims',
			jsonb_build_object('sub', $1::text, 'role', 'authenticated', 'aud', 'authenticated', 'email', $2::text)::text, true)`, u.id.String(), u.email)
		if err != nil {
			return fmt.Errorf("become the user: %w", err)
		}
		return f(tx)
	})
}

func (u *demoUser) exec(ctx context.Context, sql string, args ...any) error {
	return u.do(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, sql, args...)
		return err
	})
}

// optOut keeps all that the user writes in the project.
func (u *demoUser) optOut(ctx context.Context) error {
	return u.exec(ctx, `insert into public.privacy_settings (opt_out)
		values (array['memories.content', 'memory_synthesis_jobs.conversations', 'voice_recordings.audio_data', 'skill_runs.llm'])`)
}

// find looks once for a row, and tells whether it is there.
func (u *demoUser) find(ctx context.Context, to []any, sql string, args ...any) (found bool, err error) {
	err = u.do(ctx, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, sql, args...).Scan(to...)
		if found = err == nil; errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return found, err
}

// broadcasts counts what was sent to the user about a table; none where the
// project has no Realtime, or hides it from this role.
func (u *demoUser) broadcasts(ctx context.Context, table string) (n int) {
	_ = u.pool.QueryRow(ctx, "select count(*) from realtime.messages where topic = $1 and event = $2", "helix:"+u.id.String(), table).Scan(&n)
	return n
}

// remove deletes the account and what does not go with it by itself, and names
// the tables that have something of it nevertheless. Jobs that are under way get
// the time to see that their user is gone.
func (u *demoUser) remove(ctx context.Context) (left []string, err error) {
	if _, err := u.pool.Exec(ctx, "delete from auth.users where id = $1", u.id); err != nil {
		return nil, fmt.Errorf("delete user %s: %w; helixd demo --clean tries again", u.email, err)
	}
	_, _ = u.pool.Exec(ctx, "delete from realtime.messages where topic = $1", "helix:"+u.id.String()) // Realtime drops them in three days, where this role may not
	err = demoUntil(ctx, func() (bool, error) {
		for _, sql := range []string{
			"delete from helix.inbox where user_id = $1", // what it says is in the write-ahead log
			"delete from helix.river_job where args->>'user_id' = $1::text and (finalized_at is not null or state in ('available', 'scheduled', 'retryable'))",
		} {
			if _, err := u.pool.Exec(ctx, sql, u.id); err != nil {
				return false, fmt.Errorf("clear what the user leaves: %w", err)
			}
		}
		left, err = u.left(ctx)
		return len(left) == 0, err
	})
	if len(left) > 0 {
		err = nil // it is a finding
	}
	return left, err
}

// left gives the tables that have rows of the user.
func (u *demoUser) left(ctx context.Context) ([]string, error) {
	rows, err := u.pool.Query(ctx, `select format('select %L where exists (select from %1$s where user_id = $1::uuid)', format('%I.%I', n.nspname, c.relname)) from pg_attribute a join pg_class c on c.oid = a.attrelid
		join pg_namespace n on n.oid = c.relnamespace
		where n.nspname in ('public', 'helix') and c.relkind in ('r', 'p') and a.attname = 'user_id' and a.atttypid = 'uuid'::regtype order by 1`)
	if err != nil {
		return nil, err
	}
	looks, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	looks = append(looks, "select 'helix.river_job' where exists (select from helix.river_job where args->>'user_id' = $1::text)")
	rows, err = u.pool.Query(ctx, strings.Join(looks, " union all "), u.id.String())
	if err != nil {
		return nil, fmt.Errorf("look for what is left: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
