package testenv

import (
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5"
)

// User is an account of the project.
type User struct {
	ID    string // a uuid
	Email string
}

// NewUser makes an account, as the Auth service would.
func (db *Database) NewUser(t testing.TB) User {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), db.URL("supabase_admin"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var u User
	err = conn.QueryRow(t.Context(), `
		insert into auth.users (instance_id, id, aud, role, email, raw_app_meta_data, raw_user_meta_data,
			email_confirmed_at, created_at, updated_at)
		select '00000000-0000-0000-0000-000000000000', id, 'authenticated', 'authenticated', id || '@example.com',
			'{"provider": "email", "providers": ["email"]}', '{}', now(), now(), now()
		from (select gen_random_uuid() as id) as new
		returning id::text, email`).Scan(&u.ID, &u.Email)
	if err != nil {
		t.Fatalf("make a user: %v", err)
	}
	return u
}

// AsUser opens a session that sees what supabase-js sees when this user is signed in: PostgREST's role, with the
// claims of the user's JWT.
func (db *Database) AsUser(t testing.TB, userID string) *pgx.Conn {
	t.Helper()
	return db.asRole(t, "authenticated", map[string]any{
		"sub": userID, "role": "authenticated", "aud": "authenticated", "email": userID + "@example.com",
	})
}

// AsAnon opens a session with the rights of the project's publishable (anon) key.
func (db *Database) AsAnon(t testing.TB) *pgx.Conn {
	t.Helper()
	return db.asRole(t, "anon", map[string]any{"role": "anon", "iss": "supabase"})
}

// AsService opens a session with the rights of the project's secret (service_role) key.
func (db *Database) AsService(t testing.TB) *pgx.Conn {
	t.Helper()
	return db.asRole(t, "service_role", map[string]any{"role": "service_role", "iss": "supabase"})
}

// asRole does for a whole session what PostgREST does for a request.
func (db *Database) asRole(t testing.TB, role string, claims map[string]any) *pgx.Conn {
	t.Helper()
	conn := db.Connect(t, "authenticator")
	encoded, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(t.Context(), `
		select set_config('role', $1, false),
			set_config('request.jwt.claims', $2, false),
			set_config('search_path', 'public, extensions', false)`, role, string(encoded))
	if err != nil {
		t.Fatalf("become %s: %v", role, err)
	}
	return conn
}
