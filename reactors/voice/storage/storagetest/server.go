// Package storagetest is Supabase Storage on loopback, as far as helixd needs it:
// for tests and demos. Objects are rows of storage.objects, and files.
//
// It answers as the service does behind Supabase's gateway: with status 400 for
// most errors and the status itself in the body, with signed URLs that are checked,
// and to both kinds of keys.
package storagetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Server is a running one.
type Server struct {
	URL            string // for SUPABASE_URL
	ServiceRoleKey string // a JWT
	SecretKey      string // sb_secret_...

	pool     *pgxpool.Pool
	dir      string
	secret   []byte
	http     http.Server
	requests atomic.Int64

	mu    sync.Mutex
	fault Fault
}

// Start makes a Server of the database that pool reaches, as role postgres, with
// its files in dir. The caller closes it.
func Start(pool *pgxpool.Pool, dir string) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start Storage: %w", err)
	}
	s := &Server{URL: "http://" + listener.Addr().String(), SecretKey: "sb_secret_" + rand.Text(), pool: pool, dir: dir, secret: []byte(rand.Text())}
	s.ServiceRoleKey = s.sign(claims{Role: "service_role", Expires: time.Now().AddDate(10, 0, 0).Unix()})
	mux := http.NewServeMux()
	mux.Handle("GET /storage/v1/object/authenticated/{bucket}/{name...}", s.withKey(s.authenticated))
	mux.Handle("POST /storage/v1/object/sign/{bucket}", s.withKey(s.signMany))
	mux.HandleFunc("GET /storage/v1/object/sign/{bucket}/{name...}", s.signed)
	s.http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		mux.ServeHTTP(w, r)
	})
	go func() { _ = s.http.Serve(listener) }() // it ends with Close
	return s, nil
}

// Close ends the server and what it is answering. The files stay.
func (s *Server) Close() error { return s.http.Close() }

// Requests is how many came.
func (s *Server) Requests() int { return int(s.requests.Load()) }

// Fail has a fault answer instead, from now on; nil ends that.
func (s *Server) Fail(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// Put writes an object, and its bucket where there is none. owner is a user's id,
// or empty.
func (s *Server) Put(ctx context.Context, bucket, name, owner, mimeType string, content []byte) error {
	version := uuid.NewString()
	if err := os.WriteFile(filepath.Join(s.dir, version), content, 0o600); err != nil {
		return fmt.Errorf("put object %q: %w", name, err)
	}
	_, err := s.pool.Exec(ctx, `
		with made as (insert into storage.buckets (id, name) values ($1, $1) on conflict do nothing)
		insert into storage.objects (bucket_id, name, owner, owner_id, version, metadata)
		values ($1, $2, nullif($3, '')::uuid, nullif($3, ''), $4, jsonb_build_object('size', $5::bigint, 'mimetype', $6::text))
		on conflict (bucket_id, name) do update set version = excluded.version, metadata = excluded.metadata, updated_at = now()`,
		bucket, name, owner, version, len(content), mimeType)
	if err != nil {
		return fmt.Errorf("put object %q: %w", name, err)
	}
	return nil
}

// Move renames an object.
func (s *Server) Move(ctx context.Context, bucket, from, to string) error {
	return s.one(ctx, "move", "update storage.objects set name = $3 where bucket_id = $1 and name = $2", bucket, from, to)
}

// Remove deletes an object.
func (s *Server) Remove(ctx context.Context, bucket, name string) error {
	return s.one(ctx, "remove", "delete from storage.objects where bucket_id = $1 and name = $2", bucket, name)
}

// one changes one object's row.
func (s *Server) one(ctx context.Context, verb, sql string, args ...any) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "set local storage.allow_delete_query = 'true'"); err != nil {
			return err
		}
		changed, err := tx.Exec(ctx, sql, args...)
		if err == nil && changed.RowsAffected() != 1 {
			err = errNoObject
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%s object %q: %w", verb, args[1], err)
	}
	return nil
}

var errNoObject = errors.New("there is no such object")

// read gives an object's content and type.
func (s *Server) read(ctx context.Context, bucket, name string) (content []byte, mimeType string, err error) {
	var version string
	err = s.pool.QueryRow(ctx, "select version, coalesce(metadata ->> 'mimetype', '') from storage.objects where bucket_id = $1 and name = $2",
		bucket, name).Scan(&version, &mimeType)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, "", errNoObject
	}
	if err != nil {
		return nil, "", err
	}
	content, err = os.ReadFile(filepath.Join(s.dir, version))
	return content, mimeType, err
}
