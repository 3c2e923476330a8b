package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/testenv"
)

// account is a user of the project.
type account struct{ id, email string }

// newAccount makes one as the Auth service would.
func newAccount(ctx context.Context, admin *pgx.Conn, name string) (account, error) {
	a := account{email: name + "@example.com"}
	err := admin.QueryRow(ctx, `
		insert into auth.users (instance_id, id, aud, role, email, raw_app_meta_data, raw_user_meta_data,
			email_confirmed_at, created_at, updated_at)
		values ('00000000-0000-0000-0000-000000000000', gen_random_uuid(), 'authenticated', 'authenticated', $1,
			'{"provider": "email", "providers": ["email"]}', '{}', now(), now(), now())
		returning id::text`, a.email).Scan(&a.id)
	if err != nil {
		return a, fmt.Errorf("make user %s: %w", a.email, err)
	}
	return a, nil
}

// session is a connection to the project as PostgREST has one for supabase-js: it logs in as authenticator, and
// becomes, for one request at a time, whom the request's JWT names.
type session struct {
	conn   *pgx.Conn
	role   string
	claims string // JSON
}

// signIn opens a session of an account.
func signIn(ctx context.Context, db *testenv.Database, a account) (*session, error) {
	return newSession(ctx, db, map[string]any{
		"sub": a.id, "role": "authenticated", "aud": "authenticated", "email": a.email,
		"exp": time.Now().Add(time.Hour).Unix(),
	})
}

// signedOut opens a session of somebody who has the project's publishable key only.
func signedOut(ctx context.Context, db *testenv.Database) (*session, error) {
	return newSession(ctx, db, map[string]any{"role": "anon", "iss": "supabase"})
}

func newSession(ctx context.Context, db *testenv.Database, claims map[string]any) (*session, error) {
	encoded, err := json.Marshal(claims)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(ctx, db.URL("authenticator"))
	if err != nil {
		return nil, fmt.Errorf("connect as authenticator: %w", err)
	}
	return &session{conn: conn, role: claims["role"].(string), claims: string(encoded)}, nil
}

// become says who a session or a transaction acts for.
const become = `select set_config('search_path', 'public, extensions', $1), set_config('role', $2, $1),
	set_config('request.jwt.claims', $3, $1)`

// request runs one request, in a transaction of its own.
func (s *session) request(ctx context.Context, do func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, s.conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, become, true, s.role, s.claims); err != nil {
			return fmt.Errorf("become %s: %w", s.role, err)
		}
		return do(tx)
	})
}

// stay makes the whole session act for its user, so that a read is one round trip.
func (s *session) stay(ctx context.Context) error {
	if _, err := s.conn.Exec(ctx, become, false, s.role, s.claims); err != nil {
		return fmt.Errorf("become %s: %w", s.role, err)
	}
	return nil
}

func (s *session) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return s.conn.Close(ctx)
}

// received counts the broadcasts that the session's user gets on the topic of an account, of an event whose payload
// contains match. Realtime lets a client join by the policies of realtime.messages, with the topic set like this.
func (s *session) received(ctx context.Context, topicOf account, event string, match map[string]any) (count int, err error) {
	topic := "helix:" + topicOf.id
	err = s.request(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "select set_config('realtime.topic', $1, true)", topic); err != nil {
			return err
		}
		return tx.QueryRow(ctx, `select count(*) from realtime.messages where topic = $1 and event = $2
			and extension = 'broadcast' and private and payload @> $3::jsonb`, topic, event, match).Scan(&count)
	})
	if err != nil {
		err = fmt.Errorf("read broadcasts: %w", err)
	}
	return count, err
}

// closeAll closes sessions, some of which may not have been opened.
func closeAll(sessions ...*session) error {
	var err error
	for _, s := range sessions {
		if s != nil {
			err = errors.Join(err, s.close())
		}
	}
	return err
}
