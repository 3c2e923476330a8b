package storage

import (
	"context"
	"errors"
	"strconv"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// become makes the transaction that of a request which the user makes: of Storage
// for a download, in the settings of PostgREST. The claims are those of a token
// that Auth would give for a password (aal1), so what asks for a second factor, or
// for a session, is not there. No row: nobody gets a token for that account now.
//
// A function in a policy could reset the role, as it could in Storage. Functions
// are the project owner's; a user brings nothing but the two values of find.
const become = `
select set_config('request.jwt.claims', jsonb_build_object(
		'sub', id, 'aud', aud, 'role', role, 'email', email, 'phone', phone, 'app_metadata', app, 'user_metadata', own,
		'is_anonymous', is_anonymous, 'aal', 'aal1')::text, true),
	set_config('request.jwt.claim.sub', id::text, true),
	set_config('request.jwt.claim.role', role, true),
	set_config('storage.operation', 'storage.object.get_authenticated', true),
	set_config('search_path', 'storage, public, extensions', true),
	set_config('statement_timeout', $2, true),
	set_config('role', 'authenticated', true)
from (
	select id, coalesce(nullif(aud, ''), 'authenticated') as aud, coalesce(nullif(role, ''), 'authenticated') as role,
		coalesce(email, '') as email, coalesce(phone, '') as phone, coalesce(raw_app_meta_data, '{}') as app,
		coalesce(raw_user_meta_data, '{}') as own, is_anonymous
	from auth.users
	where id = $1 and deleted_at is null and (banned_until is null or banned_until <= now())
) as account`

const find = `select metadata ->> 'size' from storage.objects where bucket_id = $1 and name = $2`

// find gives the object's size in bytes, -1 where its row does not tell, if the
// user may read the object.
func (c *Client) find(ctx context.Context, userID string, o object) (size int64, err error) {
	user, err := uuid.Parse(userID)
	if err != nil {
		return 0, forbidden()
	}
	tx, err := c.pool.BeginTx(ctx, pgx.TxOptions{AccessMode: pgx.ReadOnly})
	if err != nil {
		return 0, databaseAway(ctx)
	}
	// The role ends here, and what policies did to the session. A connection on which
	// this fails is not used again.
	defer func() { _ = tx.Rollback(ctx) }()
	became, err := tx.Exec(ctx, become, user, strconv.FormatInt(c.policies.Milliseconds(), 10)) // ms, as Postgres reads a number
	if err != nil {
		return 0, databaseAway(ctx)
	}
	if became.RowsAffected() == 0 {
		return 0, forbidden()
	}
	var told *string
	err = tx.QueryRow(ctx, find, o.bucket, o.name).Scan(&told)
	var refused *pgconn.PgError
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, forbidden()
	case errors.As(err, &refused) && !passing(refused.Code):
		// A policy that raises shows nothing, whatever it says.
		return 0, forbidden()
	case err != nil:
		return 0, databaseAway(ctx)
	}
	if told == nil {
		return -1, nil
	}
	if size, err = strconv.ParseInt(*told, 10, 64); err != nil || size < 0 {
		return -1, nil
	}
	return size, nil
}

// passing reports whether an error is of the server's state and not of what it was
// asked: a slow policy too (57014) may be faster later.
func passing(sqlState string) bool {
	switch sqlState[:min(len(sqlState), 2)] {
	case "08", "40", "53", "55", "57", "58", "XX":
		return true
	}
	return false
}

func databaseAway(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return unavailable("the database did not say whether the user may read the object: it did not answer, or a policy on storage.objects took too long")
}
