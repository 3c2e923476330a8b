package main

import (
	"context"
	"fmt"
	"net/url"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/testenv"
)

const (
	// users is how many people the deltas are of. All but a few broadcasts of a
	// user and transaction are coalesced, so it matters how many there are.
	users   = 100
	writers = 4
)

// userID is the SQL of the i-th user's id; i is SQL too.
func userID(i string) string {
	return fmt.Sprintf("('00000000-0000-4000-8000-' || lpad((%s)::text, 12, '0'))::uuid", i)
}

// project makes a database with helixd's schema and users in it.
func (b *bench) project(ctx context.Context, name string) (*testenv.Database, *pgx.Conn, func(), error) {
	db, conn, drop, err := b.database(ctx, name)
	if err != nil {
		return nil, nil, nil, err
	}
	err = b.migrate(ctx, db.URL("postgres"))
	if err == nil {
		err = makeUsers(ctx, db, 0, users)
	}
	if err != nil {
		drop()
		return nil, nil, nil, err
	}
	return db, conn, drop, nil
}

// makeUsers makes those before the end as the Auth service would.
func makeUsers(ctx context.Context, db *testenv.Database, from, end int) error {
	conn, err := pgx.Connect(ctx, db.URL("supabase_admin"))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is pending
	_, err = conn.Exec(ctx, `insert into auth.users (instance_id, id, aud, role, email, raw_app_meta_data,
			raw_user_meta_data, email_confirmed_at, created_at, updated_at)
		select '00000000-0000-0000-0000-000000000000', `+userID("i")+`, 'authenticated', 'authenticated',
			i || '@example.com', '{}', '{}', now(), now(), now()
		from generate_series($1, $2 - 1) i`, from, end)
	return err
}

// signedIn opens a session with the rights that PostgREST gives a signed-in
// user. setUser says which one; a session may change.
func signedIn(ctx context.Context, db *testenv.Database, settings url.Values) (*pgx.Conn, error) {
	u, err := url.Parse(db.URL("authenticator"))
	if err != nil {
		return nil, err
	}
	q := u.Query()
	for name, values := range settings {
		q[name] = values
	}
	u.RawQuery = q.Encode()
	conn, err := pgx.Connect(ctx, u.String())
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, "set role authenticated"); err != nil {
		_ = conn.Close(ctx)
		return nil, err
	}
	return conn, nil
}

// setUser is the SQL by which a session becomes the i-th user's; i is SQL too.
func setUser(i string) string {
	return `set_config('request.jwt.claims', json_build_object('role', 'authenticated', 'sub', ` + userID(i) + `)::text, false)`
}
