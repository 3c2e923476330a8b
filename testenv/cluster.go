package testenv

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// startTimeout bounds how long a server may take until it answers, crash recovery included.
const startTimeout = 60 * time.Second

// Options say how a cluster is started. The zero value suits tests.
type Options struct {
	// Fsync makes commits durable, as in production. Tests of what a crash leaves behind, the demo and benchmarks
	// set it; others are faster without.
	Fsync bool
	// Settings are further server settings, and override testenv's own.
	Settings map[string]string
	// Env are further environment variables of the server. A container has none of them.
	Env []string
	// Dir keeps the cluster in this folder and finds it there again. When empty, the cluster is thrown away.
	Dir string
	// Port is the TCP port. When zero, a free one is taken.
	Port int
	// Logf hears of progress. It may be nil.
	Logf func(format string, args ...any)
}

// RestartMode is how a server goes down before it comes up again.
type RestartMode int

const (
	// Fast ends sessions and writes a checkpoint.
	Fast RestartMode = iota
	// Immediate ends the server as a crash would: it recovers from its write-ahead log.
	Immediate
	// Killed ends the postmaster with SIGKILL: its children find out by themselves.
	Killed
)

func (m RestartMode) String() string { return [...]string{"fast", "immediate", "killed"}[m] }

// server is where a cluster runs: a child process or a container.
type server interface {
	// restart stops the running server and starts it on the same port and data.
	restart(ctx context.Context, mode RestartMode) error
	// stop ends the server, and removes its data unless they are to be kept. It may be called twice.
	stop() error
	host() string
	port() int
	password() string
	// logMark is a point in the server's log; logSince returns what was logged after it.
	logMark() int64
	logSince(mark int64) ([]byte, error)
}

// Cluster is a running Postgres server, shaped like a Supabase project's.
type Cluster struct {
	server  server
	version int
	serial  atomic.Int64 // names databases
}

// Start brings up a cluster. The caller stops it. Should this process die before, the server dies with it.
func Start(ctx context.Context, opts Options) (*Cluster, error) {
	if opts.Logf == nil {
		opts.Logf = func(string, ...any) {}
	}
	srv, err := startServer(ctx, opts)
	if err != nil {
		return nil, fmt.Errorf("start a test cluster: %w", err)
	}
	c := &Cluster{server: srv}
	if err := c.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare the test cluster: %w", err), srv.stop())
	}
	return c, nil
}

// startServer chooses between local binaries and a container.
func startServer(ctx context.Context, opts Options) (server, error) {
	switch choice := os.Getenv("HELIX_TESTENV"); choice {
	case "docker":
		return startContainer(ctx, opts)
	case "local":
		return startLocal(ctx, opts)
	case "":
		srv, err := startLocal(ctx, opts)
		if !errors.Is(err, errNoBinaries) {
			return srv, err
		}
		engineErr := engineAnswers(ctx)
		if engineErr == nil {
			return startContainer(ctx, opts)
		}
		return nil, fmt.Errorf("%w; nor does a container engine answer (%v): run testenv/setup.sh, which installs the binaries, or start Docker", err, engineErr)
	default:
		return nil, fmt.Errorf("HELIX_TESTENV=%q: it can be local, docker, or unset", choice)
	}
}

// prepare makes the template that every database is copied from.
func (c *Cluster) prepare(ctx context.Context) error {
	conn, err := c.connectAdmin(ctx, maintenanceDatabase)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := conn.QueryRow(ctx, "select current_setting('server_version_num')::int / 10000").Scan(&c.version); err != nil {
		return err
	}
	return c.makeTemplate(ctx, conn)
}

// Stop ends the server, and removes its data unless Options.Dir keeps them.
func (c *Cluster) Stop() error {
	if err := c.server.stop(); err != nil {
		return fmt.Errorf("stop the test cluster: %w", err)
	}
	return nil
}

// Restart stops the server and starts it again on the same port with the same data. Every session ends.
func (c *Cluster) Restart(ctx context.Context, mode RestartMode) error {
	if err := c.server.restart(ctx, mode); err != nil {
		return fmt.Errorf("restart the test cluster (%s): %w", mode, err)
	}
	return nil
}

// Log is what the server has logged since it was made.
func (c *Cluster) Log() ([]byte, error) { return c.server.logSince(0) }

// Version is the server's major version, such as 15.
func (c *Cluster) Version() int { return c.version }

// Local reports whether the server sees this machine's files: one in a container does not.
func (c *Cluster) Local() bool {
	_, local := c.server.(*localServer)
	return local
}

// Port is the TCP port that the server listens on.
func (c *Cluster) Port() int { return c.server.port() }

// url is how role reaches database.
func (c *Cluster) url(role, database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(role, c.server.password()),
		Host:     net.JoinHostPort(c.server.host(), strconv.Itoa(c.server.port())),
		Path:     database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// connectAdmin connects as the superuser.
func (c *Cluster) connectAdmin(ctx context.Context, database string) (*pgx.Conn, error) {
	return pgx.Connect(ctx, c.url("supabase_admin", database))
}

// StartCluster starts a cluster for one test alone, such as one that restarts Postgres, and stops it at the end.
func StartCluster(t testing.TB, opts Options) *Cluster {
	t.Helper()
	if opts.Logf == nil {
		opts.Logf = t.Logf
	}
	c, err := Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// shared is the cluster of this test process.
var shared struct {
	sync.Mutex
	cluster *Cluster
	err     error
}

// sharedCluster starts the process's cluster when the first test asks for it. A failure is remembered: every test
// would only wait for the same one.
func sharedCluster() (*Cluster, error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster == nil && shared.err == nil {
		shared.cluster, shared.err = Start(context.Background(), Options{})
	}
	return shared.cluster, shared.err
}

// stopShared stops the process's cluster, if there is one.
func stopShared() {
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster == nil {
		return
	}
	if err := shared.cluster.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "testenv:", err)
	}
	shared.cluster, shared.err = nil, errors.New("the test cluster has been stopped")
}

// keptPassword returns the password that every login role of a cluster shares: the one kept in dir, or a new one,
// which is then kept there. An empty dir keeps nothing.
func keptPassword(dir string) (string, error) {
	path := filepath.Join(dir, "password")
	if dir != "" {
		if kept, err := os.ReadFile(path); err == nil {
			return string(kept), nil
		}
	}
	var b [16]byte
	rand.Read(b[:]) // never fails
	password := hex.EncodeToString(b[:])
	if dir == "" {
		return password, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return password, os.WriteFile(path, []byte(password), 0o600)
}
