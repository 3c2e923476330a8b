package testenv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/testenv/child"
)

// localServer is a postmaster that is a child of this process.
//
// Its folder holds data/ (the cluster), sock/ (the unix socket), postgres.log, password, and owner.pid, which this
// process keeps locked as long as it lives (see sweep.go).
type localServer struct {
	bin        binaries
	dir        string
	keep       bool // dir outlives the server
	secret     string
	args       []string // settings, without the port
	env        []string // of the postmaster, beside this process's
	tcpPort    int
	fixedPort  bool // the caller chose the port
	credential *syscall.Credential
	lock       *os.File
	logf       func(format string, args ...any)

	mu         sync.Mutex     // one of restart and stop at a time
	postmaster *child.Process // nil once stopped
}

// portAttempts bounds how often a port is chosen anew because somebody else took it first.
const portAttempts = 5

// stopTimeout bounds how long a server may take until it has ended.
const stopTimeout = 20 * time.Second

// errOrphans says that children of a postmaster that was killed have not ended yet.
var errOrphans = errors.New("the last postmaster's children hold its memory")

// errPortTaken says that another process listens on the port.
var errPortTaken = errors.New("the port is taken")

func startLocal(ctx context.Context, opts Options) (server, error) {
	bin, err := findBinaries(keptMajor(opts.Dir))
	if err != nil {
		return nil, err
	}
	s := &localServer{bin: bin, keep: opts.Dir != "", tcpPort: opts.Port, fixedPort: opts.Port != 0, logf: opts.Logf}
	if s.credential, err = unprivileged(); err != nil {
		return nil, err
	}
	if err := s.openDir(opts.Dir); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	if err := s.initialize(ctx); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	s.env = opts.Env
	s.args = settingArgs(opts, "unix_socket_directories="+s.socketDir())
	begun := time.Now()
	for attempt := 1; ; attempt++ {
		err = s.start(ctx)
		if err == nil {
			break
		}
		if !errors.Is(err, errPortTaken) || s.fixedPort || attempt == portAttempts {
			return nil, errors.Join(err, s.stop())
		}
		s.tcpPort = 0
	}
	s.logf("Postgres %d of %s answers on port %d after %v", bin.major, bin.dir, s.tcpPort, time.Since(begun).Round(time.Millisecond))
	return s, nil
}

// unprivileged returns the user to run Postgres as, which refuses to run as root; nil is the current one.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		if uid, gid, err := userIDs(name); err == nil {
			return &syscall.Credential{Uid: uid, Gid: gid}, nil
		}
	}
	return nil, errors.New("Postgres refuses to run as root, and there is neither a user postgres nor nobody: run the tests as another user")
}

// userIDs looks up a user by name.
func userIDs(name string) (uid, gid uint32, err error) {
	u, err := user.Lookup(name)
	if err != nil {
		return 0, 0, err
	}
	uid64, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return 0, 0, err
	}
	gid64, err := strconv.ParseUint(u.Gid, 10, 32)
	return uint32(uid64), uint32(gid64), err
}

// openDir makes or reopens the server's folder, and locks it.
func (s *localServer) openDir(dir string) (err error) {
	if dir == "" {
		sweep()
		if s.dir, err = os.MkdirTemp("", dirPrefix); err != nil {
			return err
		}
	} else {
		if s.dir, err = filepath.Abs(dir); err != nil {
			return err
		}
		if err := os.MkdirAll(s.dir, 0o700); err != nil {
			return err
		}
	}
	if s.lock, err = lockDir(s.dir); err != nil {
		return err
	}
	endOrphan(s.dir)
	if err := os.MkdirAll(filepath.Join(s.dir, "sock"), 0o700); err != nil {
		return err
	}
	if s.secret, err = keptPassword(s.dir); err != nil {
		return err
	}
	if s.credential == nil {
		return nil
	}
	for _, path := range []string{s.dir, filepath.Join(s.dir, "sock"), filepath.Join(s.dir, "password")} {
		if err := os.Chown(path, int(s.credential.Uid), int(s.credential.Gid)); err != nil {
			return err
		}
	}
	return nil
}

// initialize makes the data directory, unless it is kept from an earlier run.
func (s *localServer) initialize(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(s.dataDir(), "PG_VERSION")); err == nil {
		return nil
	}
	begun := time.Now()
	locale := "C.UTF-8" // like a hosted project: UTF-8 case rules without a collation that differs between machines
	if runtime.GOOS == "darwin" {
		locale = "en_US.UTF-8"
	}
	cmd := exec.CommandContext(ctx, s.bin.path("initdb"), "--pgdata="+s.dataDir(), "--username=supabase_admin",
		"--pwfile="+filepath.Join(s.dir, "password"), "--auth=scram-sha-256", "--encoding=UTF8", "--locale="+locale,
		"--no-sync", "--no-instructions")
	s.sandbox(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s (is %s a folder that other users may enter? if not, set TMPDIR)", err, bytes.TrimSpace(out), filepath.Dir(s.dir))
	}
	s.logf("made a cluster in %v", time.Since(begun).Round(time.Millisecond))
	return nil
}

// sandbox makes cmd run as the unprivileged user, in its own process group (so that a Ctrl-C in the terminal reaches
// this process alone, which then stops the server), and without this process's PG* settings.
func (s *localServer) sandbox(cmd *exec.Cmd) {
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.credential, Setpgid: true}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "PG") && !strings.HasPrefix(kv, "LC_") && !strings.HasPrefix(kv, "LANG") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
}

// start starts the postmaster and waits until it answers.
func (s *localServer) start(ctx context.Context) error {
	if s.tcpPort == 0 {
		port, err := FreePort()
		if err != nil {
			return err
		}
		s.tcpPort = port
	}
	logFile, err := os.OpenFile(s.logPath(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer logFile.Close()
	mark := s.logMark()

	cmd := exec.Command(s.bin.path("postgres"), append([]string{"-D", s.dataDir(), "-p", strconv.Itoa(s.tcpPort)}, s.args...)...)
	s.sandbox(cmd)
	cmd.Env = append(cmd.Env, s.env...)
	cmd.Stdout, cmd.Stderr = logFile, logFile
	// On SIGQUIT a postmaster takes its own children along at once.
	if s.postmaster, err = child.Start(cmd, syscall.SIGQUIT); err != nil {
		return fmt.Errorf("start %s: %w", s.bin.path("postgres"), err)
	}
	return Poll(ctx, startTimeout, pollEvery, "wait until Postgres answers", func() (bool, error) {
		select {
		case <-s.postmaster.Done:
			s.postmaster = nil
			said, _ := s.logSince(mark)
			if bytes.Contains(said, []byte("could not create any TCP/IP sockets")) {
				return true, fmt.Errorf("port %d: %w: choose another", s.tcpPort, errPortTaken)
			}
			if bytes.Contains(said, []byte("pre-existing shared memory block")) {
				return true, errOrphans
			}
			return true, fmt.Errorf("Postgres did not start; it said:\n%s", said)
		default:
		}
		err := answers(ctx, s)
		return err == nil, err
	})
}

// answers reports whether the server accepts sessions that can write: a restored one takes readers first. The random
// password makes sure that it is ours.
func answers(ctx context.Context, s server) error {
	c := Cluster{server: s}
	config, err := pgx.ParseConfig(c.url("supabase_admin", maintenanceDatabase))
	if err != nil {
		return err
	}
	config.ConnectTimeout = 2 * time.Second
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var recovering bool
	if err := conn.QueryRow(ctx, "select pg_is_in_recovery()").Scan(&recovering); err != nil {
		return err
	}
	if recovering {
		return errors.New("the server is still in recovery")
	}
	return nil
}

func (s *localServer) restart(ctx context.Context, mode RestartMode) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.postmaster == nil {
		return errors.New("the server has been stopped")
	}
	signal := map[RestartMode]syscall.Signal{Fast: syscall.SIGINT, Immediate: syscall.SIGQUIT, Killed: syscall.SIGKILL}[mode]
	if err := s.postmaster.Stop(signal, stopTimeout); err != nil {
		return err
	}
	s.postmaster = nil
	return Poll(ctx, startTimeout, pollEvery, "wait for the children of the postmaster that was killed", func() (bool, error) {
		err := s.start(ctx)
		return !errors.Is(err, errOrphans), err
	})
}

func (s *localServer) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if s.postmaster != nil {
		signal := syscall.SIGINT
		if !s.keep {
			signal = syscall.SIGQUIT // no checkpoint for data that nobody will read
		}
		err = s.postmaster.Stop(signal, stopTimeout)
		s.postmaster = nil
	}
	if !s.keep {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	if s.lock != nil {
		err = errors.Join(err, unlockDir(s.dir, s.lock))
		s.lock = nil
	}
	return err
}

func (s *localServer) host() string     { return "127.0.0.1" }
func (s *localServer) port() int        { return s.tcpPort }
func (s *localServer) password() string { return s.secret }
func (s *localServer) dataDir() string  { return filepath.Join(s.dir, "data") }
func (s *localServer) logPath() string  { return filepath.Join(s.dir, "postgres.log") }

// socketDir is where the unix socket is, or empty for none: its path may have some 100 bytes only.
func (s *localServer) socketDir() string {
	if dir := filepath.Join(s.dir, "sock"); len(dir) < 80 {
		return dir
	}
	return ""
}

// logMark is the log's size.
func (s *localServer) logMark() int64 {
	info, err := os.Stat(s.logPath())
	if err != nil {
		return 0
	}
	return info.Size()
}

func (s *localServer) logSince(mark int64) ([]byte, error) {
	f, err := os.Open(s.logPath())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := f.Seek(mark, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}

// keptMajor is the major version of the cluster in dir, or 0 when there is none.
func keptMajor(dir string) int {
	if dir == "" {
		return 0
	}
	version, _ := os.ReadFile(filepath.Join(dir, "data", "PG_VERSION"))
	major, _ := strconv.Atoi(strings.TrimSpace(string(version)))
	return major
}

// FreePort returns a port that was free a moment ago.
func FreePort() (int, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
