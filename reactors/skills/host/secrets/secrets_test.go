package secrets_test

import (
	_ "embed"
	"errors"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/reactors/skills/host/secrets"
	"github.com/helixd/helixd/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

//go:embed testdata/vault.sql
var vault string

const value = "sk-live 1234567890 é"

func key(t *testing.T) string {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return identity.String()
}

func store(t *testing.T, conn *pgx.Conn, key string) *secrets.Store {
	t.Helper()
	s, err := secrets.New(conn, key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func database(t *testing.T) (*testenv.Database, *pgx.Conn) {
	t.Helper()
	db := testenv.New(t)
	conn := db.Connect(t, "postgres")
	if err := migrations.Up(t.Context(), conn, func(migrations.Migration) {}); err != nil {
		t.Fatal(err)
	}
	return db, conn
}

func count(t *testing.T, conn *pgx.Conn, sql string, args ...any) (n int) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// check is what a store does wherever its values are.
func check(t *testing.T, s *secrets.Store, one, two uuid.UUID, inVault bool) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.Set(t.Context(), one, "api", "something before", nil))
	must(s.Set(t.Context(), one, "api", value, []string{"API.example.com"}))
	must(s.Set(t.Context(), two, "api", "another's value", nil))
	must(s.Set(t.Context(), one, "other", "another value", nil))
	got, hosts, err := s.Get(t.Context(), one, "api")
	if err != nil || got != value || !slices.Equal(hosts, []string{"api.example.com"}) {
		t.Errorf("got %q for %v, %v", got, hosts, err)
	}
	if got, _, err := s.Get(t.Context(), two, "api"); err != nil || got != "another's value" {
		t.Errorf("another user got %q, %v", got, err)
	}
	if _, _, err := s.Get(t.Context(), two, "other"); !errors.Is(err, secrets.ErrNotFound) {
		t.Errorf("another user got at it: %v", err)
	}
	list, err := s.List(t.Context(), one)
	if err != nil || len(list) != 2 || list[0].Name != "api" || list[0].Vault != inVault || list[1].Name != "other" || len(list[1].Hosts) != 0 {
		t.Errorf("listed %+v, %v", list, err)
	}
	must(s.Remove(t.Context(), one, "api"))
	if _, _, err := s.Get(t.Context(), one, "api"); !errors.Is(err, secrets.ErrNotFound) {
		t.Errorf("after it was removed: %v", err)
	}
	if err := s.Remove(t.Context(), one, "api"); !errors.Is(err, secrets.ErrNotFound) {
		t.Errorf("removed twice: %v", err)
	}
	if got, _, err := s.Get(t.Context(), two, "api"); err != nil || got != "another's value" {
		t.Errorf("another user's is %q, %v", got, err)
	}
}

func TestWithoutVault(t *testing.T) {
	db, conn := database(t)
	one, two := uuid.MustParse(db.NewUser(t).ID), uuid.MustParse(db.NewUser(t).ID)
	k := key(t)
	s := store(t, conn, k)
	t.Run("values are encrypted in helix.secrets", func(t *testing.T) {
		check(t, s, one, two, false)
		if err := s.Set(t.Context(), one, "api", value, nil); err != nil {
			t.Fatal(err)
		}
		if n := count(t, conn, "select count(*) from helix.secrets s where s::text like '%1234567890%' or position('1234567890'::bytea in ciphertext) > 0"); n != 0 {
			t.Error("a value can be read in the table")
		}
	})
	t.Run("another key opens nothing", func(t *testing.T) {
		if got, _, err := store(t, conn, key(t)).Get(t.Context(), one, "api"); err == nil || strings.Contains(err.Error(), "1234567890") {
			t.Errorf("got %q, %v", got, err)
		}
	})
	t.Run("without a key there are no secrets", func(t *testing.T) {
		s := store(t, conn, "")
		if _, _, err := s.Get(t.Context(), one, "api"); !errors.Is(err, secrets.ErrNoKey) {
			t.Errorf("got at one: %v", err)
		}
		if err := s.Set(t.Context(), one, "more", value, nil); !errors.Is(err, secrets.ErrNoKey) {
			t.Errorf("kept one: %v", err)
		}
	})
	t.Run("a ciphertext in another row opens nothing", func(t *testing.T) {
		if _, err := conn.Exec(t.Context(), `insert into helix.secrets (user_id, name, ciphertext)
			select $2, 'stolen', ciphertext from helix.secrets where user_id = $1 and name = 'api'`, one, two); err != nil {
			t.Fatal(err)
		}
		if got, _, err := s.Get(t.Context(), two, "stolen"); err == nil {
			t.Errorf("got %q", got)
		}
	})
	t.Run("what is no secret is not kept, and not quoted", func(t *testing.T) {
		for _, bad := range []struct {
			name, value string
			hosts       []string
		}{
			{"API", value, nil}, {"", value, nil}, {"a/../b", value, nil}, {strings.Repeat("a", 65), value, nil},
			{"a", "short", nil}, {"a", strings.Repeat("1234567890", 2000), nil}, {"a", value + "\r\nX: y", nil}, {"a", value + "\x00", nil},
			{"a", value, []string{"*.example.com"}}, {"a", value, []string{"10.0.0.1"}}, {"a", value, make([]string, 101)},
		} {
			if err := s.Set(t.Context(), one, bad.name, bad.value, bad.hosts); err == nil || strings.Contains(err.Error(), "1234567890") {
				t.Errorf("%+v: %v", bad, err)
			}
		}
		// A user who is gone.
		if err := s.Set(t.Context(), uuid.New(), "a", value, nil); !errors.Is(err, secrets.ErrNoUser) {
			t.Errorf("of nobody: %v", err)
		}
	})
	t.Run("a key that is none is not quoted", func(t *testing.T) {
		for _, bad := range []string{"AGE-SECRET-KEY-1ABC", "secret", strings.ToLower(k) + "x"} {
			if _, err := secrets.New(conn, bad); err == nil || strings.Contains(err.Error(), bad) {
				t.Errorf("%q: %v", bad, err)
			}
		}
	})
}

func TestVault(t *testing.T) {
	db, conn := database(t)
	s := store(t, conn, key(t))
	one, two := uuid.MustParse(db.NewUser(t).ID), uuid.MustParse(db.NewUser(t).ID)
	early := uuid.MustParse(db.NewUser(t).ID)
	if err := s.Set(t.Context(), early, "early", value, nil); err != nil {
		t.Fatal(err)
	}
	db.Exec(t, "supabase_admin", vault)
	// The project's own, and what looks like another's.
	db.Exec(t, "supabase_admin", "select vault.create_secret('of the project', 'api'), vault.create_secret('of nobody', 'helix/' || $1 || '/lost')", two.String())

	t.Run("values are in it", func(t *testing.T) {
		check(t, store(t, conn, ""), one, two, true)
	})
	t.Run("what was kept before it came is still there", func(t *testing.T) {
		if got, _, err := s.Get(t.Context(), early, "early"); err != nil || got != value {
			t.Errorf("got %q, %v", got, err)
		}
		if err := s.Set(t.Context(), early, "early", "changed since", nil); err != nil {
			t.Fatal(err)
		}
		if got, _, err := s.Get(t.Context(), early, "early"); err != nil || got != "changed since" {
			t.Errorf("changed to %q, %v", got, err)
		}
	})
	t.Run("what helixd did not put there is out of reach", func(t *testing.T) {
		if got, _, err := s.Get(t.Context(), two, "lost"); !errors.Is(err, secrets.ErrNotFound) {
			t.Errorf("got %q, %v", got, err)
		}
	})
	t.Run("one that was deleted there is not found", func(t *testing.T) {
		if err := s.Set(t.Context(), two, "fleeting", value, nil); err != nil {
			t.Fatal(err)
		}
		db.Exec(t, "supabase_admin", "delete from vault.secrets where name like '%/fleeting'")
		if _, _, err := s.Get(t.Context(), two, "fleeting"); !errors.Is(err, secrets.ErrNotFound) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("it forgets an account's with the account", func(t *testing.T) {
		of := func(user uuid.UUID) int {
			return count(t, conn, "select count(*) from vault.secrets where name like 'helix/' || $1 || '/%'", user.String())
		}
		if before := of(one); before != 1 {
			t.Fatalf("%d secrets are there", before)
		}
		left := count(t, conn, "select count(*) from vault.secrets") - 1
		db.Exec(t, "supabase_auth_admin", "delete from auth.users where id = $1", one)
		if of(one) != 0 || count(t, conn, "select count(*) from vault.secrets") != left {
			t.Errorf("%d are left of the account, %d of all", of(one), count(t, conn, "select count(*) from vault.secrets"))
		}
	})
	t.Run("an account goes even where the vault is closed", func(t *testing.T) {
		db.Exec(t, "supabase_admin", "revoke delete on vault.secrets from postgres")
		db.Exec(t, "supabase_auth_admin", "delete from auth.users where id = $1", two)
		if n := count(t, conn, "select count(*) from helix.secrets where user_id = $1", two); n != 0 {
			t.Errorf("%d rows are left", n)
		}
	})
}
