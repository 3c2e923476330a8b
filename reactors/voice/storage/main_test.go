package storage_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/reactors/voice"
	"github.com/helixd/helixd/reactors/voice/storage"
	"github.com/helixd/helixd/reactors/voice/storage/storagetest"
	"github.com/helixd/helixd/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

var _ voice.Objects = (*storage.Client)(nil)

const most = 1 << 20

// project is a database, Storage, and a client with one connection.
type project struct {
	db     *testenv.Database
	pool   *pgxpool.Pool
	server *storagetest.Server
	client *storage.Client
}

func newProject(t testing.TB) *project {
	t.Helper()
	p := &project{db: testenv.New(t)}
	cfg, err := pgxpool.ParseConfig(p.db.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	cfg.MaxConns = 1 // what one request leaves behind, the next one finds
	p.pool = openPool(t, cfg)
	if p.server, err = storagetest.Start(p.pool, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.server.Close(); err != nil {
			t.Error(err)
		}
	})
	p.client = p.new(t, p.server.ServiceRoleKey, nil)
	return p
}

// new makes a client that waits as long as a test does.
func (p *project) new(t testing.TB, key string, h *http.Client) *storage.Client {
	t.Helper()
	c := storage.New(p.pool, storage.Options{URL: p.server.URL + "/", Key: key, HTTP: h})
	c.SetPatience(time.Minute, time.Minute)
	return c
}

func (p *project) user(t testing.TB) string {
	t.Helper()
	return p.db.NewUser(t).ID
}

func (p *project) put(t testing.TB, bucket, name, owner, content string) {
	t.Helper()
	if err := p.server.Put(t.Context(), bucket, name, owner, "audio/webm", []byte(content)); err != nil {
		t.Fatal(err)
	}
}

// policy makes one that projects have.
func (p *project) policy(t testing.TB, name, using string) {
	t.Helper()
	p.db.Exec(t, "postgres", "create policy "+name+" on storage.objects for select to authenticated using ("+using+")")
}

// read opens an object and reads it whole.
func read(ctx context.Context, c *storage.Client, user, path string) (string, error) {
	body, err := c.Open(ctx, user, path, most)
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(body)
	return string(content), errors.Join(err, body.Close())
}

// is fails the test where err has another code, or says otherwise whether asking
// again may help.
func is(t testing.TB, err error, want storage.Code, retry bool) {
	t.Helper()
	var e *storage.Error
	if !errors.As(err, &e) || e.Code != want || e.Retry != retry || e.Message == "" {
		t.Errorf("got %#v, want %s, retry %v", err, want, retry)
	}
}

func openPool(t testing.TB, cfg *pgxpool.Config) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// detailOf is that of an error of Postgres.
func detailOf(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Detail
	}
	return ""
}
