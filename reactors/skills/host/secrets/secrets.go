// Package secrets keeps users' secrets, which skills use and never see: in
// Supabase Vault as helix/<user_id>/<name> where the project has it, else in
// helix.secrets, encrypted with age (https://age-encryption.org/v1). No error of
// this package quotes a value.
package secrets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"filippo.io/age"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/net/http/httpguts"

	"github.com/helixd/helixd/reactors/skills/rights"
)

// Bounds of a value, in bytes. A shorter one could not be told from other text
// where a server repeats it.
const (
	MinValue = 8
	MaxValue = 16 << 10
)

// maxHosts bounds the list of one secret.
const maxHosts = 100

// Errors of this package that a caller may want to tell apart.
var (
	ErrNotFound = errors.New("there is no secret of this name")
	ErrNoUser   = errors.New("there is no user of this id")
	ErrNoKey    = errors.New("the project has no Supabase Vault, and HELIX_AGE_KEY is not set (age-keygen makes one)")
)

// DB is a pool or a connection.
type DB interface {
	Begin(ctx context.Context) (pgx.Tx, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Store is where secrets are.
type Store struct {
	db  DB
	key *age.X25519Identity // nil: none is set
}

// New makes a Store. The key is an age identity, AGE-SECRET-KEY-1…, or "".
func New(db DB, key string) (*Store, error) {
	if key == "" {
		return WithoutKey(db), nil
	}
	identity, err := age.ParseX25519Identity(key)
	if err != nil {
		return nil, errors.New("HELIX_AGE_KEY is no age identity: it looks like AGE-SECRET-KEY-1…, and age-keygen makes one")
	}
	return &Store{db, identity}, nil
}

// WithoutKey makes a Store that keeps and reads secrets in Supabase Vault only.
func WithoutKey(db DB) *Store { return &Store{db: db} }

// Secret is a secret without its value.
type Secret struct {
	Name      string
	Hosts     []string // that it may be sent to; none: any that the skill may reach
	Vault     bool     // its value is in Supabase Vault
	UpdatedAt time.Time
}

// name is the secret's in the vault, and what age's ciphertext says it is of.
func name(user uuid.UUID, of string) string { return fmt.Sprintf("helix/%s/%s", user, of) }

// Set makes a secret or changes it.
func (s *Store) Set(ctx context.Context, user uuid.UUID, of, value string, hosts []string) error {
	switch {
	case !rights.IsSecretName(of):
		return errors.New("a secret's name has 1 to 64 of a-z, 0-9, _ and -")
	case len(value) < MinValue || len(value) > MaxValue:
		return fmt.Errorf("a secret has %d to %d bytes", MinValue, MaxValue)
	case !httpguts.ValidHeaderFieldValue(value):
		return errors.New("a secret is part of a header: it has no line breaks and control characters")
	case len(hosts) > maxHosts:
		return fmt.Errorf("a secret has %d hosts at the most", maxHosts)
	}
	kept := []string{}
	for _, h := range hosts {
		host, err := rights.Host(h)
		if err != nil {
			return err
		}
		kept = append(kept, host)
	}
	return pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		vault, err := hasVault(ctx, tx)
		if err != nil {
			return err
		}
		var sealed []byte
		if !vault {
			if sealed, err = s.seal(user, of, value); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, `insert into helix.secrets (user_id, name, hosts, ciphertext) values ($1, $2, $3, $4)
			on conflict (user_id, name) do update set hosts = excluded.hosts, ciphertext = excluded.ciphertext, updated_at = now()`,
			user, of, kept, sealed)
		var pgErr *pgconn.PgError
		switch {
		case errors.As(err, &pgErr) && pgErr.Code == "23503": // foreign_key_violation
			return ErrNoUser
		case err != nil:
			return quiet("write helix.secrets", err)
		}
		if !vault {
			return nil
		}
		return putIntoVault(ctx, tx, name(user, of), value)
	})
}

// putIntoVault is called while the row of helix.secrets is locked: nobody else
// makes the same secret meanwhile.
func putIntoVault(ctx context.Context, tx pgx.Tx, name, value string) error {
	var id uuid.UUID
	err := tx.QueryRow(ctx, "select id from vault.secrets where name = $1", name).Scan(&id)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		_, err = tx.Exec(ctx, "select vault.create_secret($1, $2, 'of a user of helixd')", value, name)
	case err == nil:
		_, err = tx.Exec(ctx, "select vault.update_secret($1, $2)", id, value)
	}
	return quiet("write to the vault", err)
}

// Get gives a secret's value, and the hosts that it may be sent to.
func (s *Store) Get(ctx context.Context, user uuid.UUID, of string) (value string, hosts []string, err error) {
	var sealed []byte
	err = s.db.QueryRow(ctx, "select hosts, ciphertext from helix.secrets where user_id = $1 and name = $2", user, of).Scan(&hosts, &sealed)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", nil, ErrNotFound
	case err != nil:
		return "", nil, quiet("read helix.secrets", err)
	case sealed != nil:
		value, err = s.open(user, of, sealed)
		return value, hosts, err
	}
	err = s.db.QueryRow(ctx, "select decrypted_secret from vault.decrypted_secrets where name = $1", name(user, of)).Scan(&value)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil, ErrNotFound // somebody deleted it there
	}
	return value, hosts, quiet("read from the vault", err)
}

// List gives a user's secrets by name.
func (s *Store) List(ctx context.Context, user uuid.UUID) ([]Secret, error) {
	rows, err := s.db.Query(ctx, "select name, hosts, ciphertext is null, updated_at from helix.secrets where user_id = $1 order by name", user)
	if err != nil {
		return nil, quiet("read helix.secrets", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Secret])
	return all, quiet("read helix.secrets", err)
}

// Remove deletes a secret, or gives ErrNotFound. A trigger takes it out of the vault.
func (s *Store) Remove(ctx context.Context, user uuid.UUID, of string) error {
	return pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, "delete from helix.secrets where user_id = $1 and name = $2", user, of)
		if err == nil && tag.RowsAffected() == 0 {
			return ErrNotFound
		}
		return quiet("delete from helix.secrets", err)
	})
}

// MayBeSent reports whether a secret with these hosts goes to the host.
func MayBeSent(hosts []string, host string) bool {
	return len(hosts) == 0 || slices.Contains(hosts, host)
}

func hasVault(ctx context.Context, tx pgx.Tx) (has bool, err error) {
	err = tx.QueryRow(ctx, `select to_regclass('vault.decrypted_secrets') is not null
		and coalesce((select has_schema_privilege(oid, 'usage') from pg_catalog.pg_namespace where nspname = 'vault'), false)`).Scan(&has)
	return has, quiet("look for the vault", err)
}

// seal encrypts a value together with whose it is, so that a ciphertext that was
// copied to another row opens nothing.
func (s *Store) seal(user uuid.UUID, of, value string) ([]byte, error) {
	if s.key == nil {
		return nil, ErrNoKey
	}
	var b bytes.Buffer
	w, err := age.Encrypt(&b, s.key.Recipient())
	if err != nil {
		return nil, fmt.Errorf("encrypt a secret: %w", err)
	}
	if _, err := io.WriteString(w, name(user, of)+"\n"+value); err != nil {
		return nil, fmt.Errorf("encrypt a secret: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("encrypt a secret: %w", err)
	}
	return b.Bytes(), nil
}

func (s *Store) open(user uuid.UUID, of string, sealed []byte) (string, error) {
	if s.key == nil {
		return "", ErrNoKey
	}
	r, err := age.Decrypt(bytes.NewReader(sealed), s.key)
	if err != nil {
		return "", fmt.Errorf("decrypt a secret: it was encrypted to another HELIX_AGE_KEY, or was damaged: %w", err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return "", fmt.Errorf("decrypt a secret: %w", err)
	}
	value, ok := bytes.CutPrefix(text, []byte(name(user, of)+"\n"))
	if !ok {
		return "", errors.New("decrypt a secret: it is another one's, put into this row")
	}
	return string(value), nil
}

// quiet keeps of a database's error what cannot quote a value.
func quiet(what string, err error) error {
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		return fmt.Errorf("%s: SQLSTATE %s %s", what, pgErr.Code, pgErr.ConstraintName)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
