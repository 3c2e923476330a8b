package testenv

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	tclog "github.com/testcontainers/testcontainers-go/log"
)

// defaultImage is a real project's Postgres, with its extensions.
const defaultImage = "supabase/postgres:15.8.1.060"

// ownerLabel names the process that a container belongs to, as host/pid.
const ownerLabel = "helixd.testenv.owner"

// firstStartTimeout is startTimeout for a container: a supabase/postgres one makes a whole project first.
const firstStartTimeout = 3 * time.Minute

// containerPort is where Postgres listens inside.
const containerPort = "5432/tcp"

// containerServer is a server in a container.
type containerServer struct {
	container testcontainers.Container
	provider  *testcontainers.DockerProvider
	addresses []string // where it may be reached; one, once it has answered
	tcpPort   int
	secret    string
	keep      bool // its volume outlives it

	mu      sync.Mutex // one of restart and stop at a time
	stopped bool
}

// engineAnswers says why no container engine can be used, or nil.
func engineAnswers(ctx context.Context) error {
	p, err := openProvider()
	if err != nil {
		return err
	}
	defer p.Close()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return p.Health(ctx)
}

// openProvider connects to the engine that DOCKER_HOST, or else the system's configuration, names.
func openProvider() (p *testcontainers.DockerProvider, err error) {
	if os.Getenv("TESTCONTAINERS_RYUK_DISABLED") == "" {
		// The reaper is one more image, and removeOrphans does its work.
		os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true")
	}
	tclog.SetDefault(tclog.NewNoopLogger()) // it greets on stderr
	defer func() {
		if r := recover(); r != nil { // where it looks for an engine and finds none
			err = fmt.Errorf("no container engine: %v", r)
		}
	}()
	return testcontainers.NewDockerProvider(testcontainers.WithLogger(tclog.NewNoopLogger()))
}

func startContainer(ctx context.Context, opts Options) (server, error) {
	if err := engineAnswers(ctx); err != nil {
		return nil, fmt.Errorf("no container engine answers (%w): start Docker, or unset HELIX_TESTENV and run testenv/setup.sh for local binaries", err)
	}
	provider, err := openProvider()
	if err != nil {
		return nil, err
	}
	s := &containerServer{provider: provider, tcpPort: opts.Port, keep: opts.Dir != "", addresses: []string{"127.0.0.1"}}
	// The engine's machine, as testcontainers sees it: another one, or this container's gateway where the tests run in
	// a container themselves; but the engine may be inside of that one as well.
	if host, err := provider.DaemonHost(ctx); err == nil && host != "localhost" && host != "127.0.0.1" {
		s.addresses = append(s.addresses, host)
	}
	removeOrphans(ctx, provider.Client())
	if s.secret, err = keptPassword(opts.Dir); err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		err = s.run(ctx, opts)
		taken := err != nil && (strings.Contains(err.Error(), "port is already allocated") || strings.Contains(err.Error(), "address already in use"))
		if !taken || opts.Port != 0 || attempt == portAttempts {
			break
		}
		s.tcpPort = 0
	}
	if err == nil {
		err = s.waitUntilAnswers(ctx, firstStartTimeout)
	}
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	opts.Logf("Postgres answers on port %d", s.tcpPort)
	return s, nil
}

// run makes and starts the container, on a port of our choice: one that the engine picks changes with each restart.
func (s *containerServer) run(ctx context.Context, opts Options) error {
	if s.tcpPort == 0 {
		port, err := FreePort()
		if err != nil {
			return err
		}
		s.tcpPort = port
	}
	image := os.Getenv("HELIX_TESTENV_IMAGE")
	if image == "" {
		image = defaultImage
	}
	command := []string{"postgres"}
	if strings.Contains(image, "supabase/postgres") {
		command = append(command, "-D", "/etc/postgresql") // its configuration is not in the data directory
	}
	bind := netip.MustParseAddr("127.0.0.1")
	if len(s.addresses) > 1 {
		bind = netip.IPv4Unspecified()
	}
	req := testcontainers.ContainerRequest{
		Image:        image,
		ExposedPorts: []string{containerPort},
		Env:          map[string]string{"POSTGRES_USER": "supabase_admin", "POSTGRES_DB": maintenanceDatabase, "POSTGRES_PASSWORD": s.secret},
		Cmd:          append(command, settingArgs(opts, "listen_addresses=*")...),
		Labels:       map[string]string{ownerLabel: owner(os.Getpid())},
		// An image's own, SIGTERM, would wait for every session to end.
		ConfigModifier: func(c *container.Config) { c.StopSignal = "SIGINT" },
		HostConfigModifier: func(hc *container.HostConfig) {
			hc.ShmSize = 256 << 20 // an engine's own 64 MB are too few for an index that is built in parallel
			hc.PortBindings = network.PortMap{network.MustParsePort(containerPort): {
				{HostIP: bind, HostPort: strconv.Itoa(s.tcpPort)},
			}}
		},
	}
	if opts.Dir != "" {
		dir, err := filepath.Abs(opts.Dir)
		if err != nil {
			return err
		}
		volume := fmt.Sprintf("%s%x", dirPrefix, sha256.Sum256([]byte(dir)))
		req.Mounts = testcontainers.Mounts(testcontainers.VolumeMount(volume[:len(dirPrefix)+16], "/var/lib/postgresql/data"))
	}
	opts.Logf("starting a container of %s", image)
	c, err := s.provider.RunContainer(ctx, req)
	if c != nil {
		s.container = c
	}
	if err != nil {
		err = fmt.Errorf("run %s: %w", image, err)
		if s.container != nil {
			err = errors.Join(err, testcontainers.TerminateContainer(s.container, testcontainers.StopTimeout(0)))
			s.container = nil
		}
		return err
	}
	return nil
}

// waitUntilAnswers waits until one of the addresses leads to the server.
func (s *containerServer) waitUntilAnswers(ctx context.Context, limit time.Duration) error {
	return Poll(ctx, limit, pollEvery, "wait until Postgres answers", func() (bool, error) {
		err := answers(ctx, s)
		if len(s.addresses) > 1 { // once it is found nothing is written: a restart must not race with URL
			if err == nil {
				s.addresses = s.addresses[:1]
			} else {
				s.addresses = append(s.addresses[1:], s.addresses[0])
			}
		}
		if err == nil {
			return true, nil
		}
		if state, stateErr := s.container.State(ctx); stateErr == nil && !state.Running {
			said, _ := s.logSince(0)
			return true, fmt.Errorf("the container ended; it said:\n%s", said)
		}
		return false, err
	})
}

func (s *containerServer) restart(ctx context.Context, mode RestartMode) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return errors.New("the server has been stopped")
	}
	if mode == Fast {
		patience := stopTimeout
		if err := s.container.Stop(ctx, &patience); err != nil {
			return err
		}
	} else {
		// The postmaster is the container's first process.
		signal := "SIGQUIT"
		if mode == Killed {
			signal = "SIGKILL"
		}
		if _, err := s.provider.Client().ContainerKill(ctx, s.container.GetContainerID(), client.ContainerKillOptions{Signal: signal}); err != nil {
			return err
		}
		err := Poll(ctx, stopTimeout, pollEvery, "wait until the container has ended", func() (bool, error) {
			state, err := s.container.State(ctx)
			return err == nil && !state.Running, err
		})
		if err != nil {
			return err
		}
	}
	if err := s.container.Start(ctx); err != nil {
		return err
	}
	return s.waitUntilAnswers(ctx, startTimeout)
}

func (s *containerServer) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil
	}
	s.stopped = true
	var err error
	if s.container != nil {
		patience := stopTimeout
		if !s.keep {
			patience = 0
		}
		err = testcontainers.TerminateContainer(s.container, testcontainers.StopTimeout(patience))
	}
	return errors.Join(err, s.provider.Close())
}

func (s *containerServer) host() string     { return s.addresses[0] }
func (s *containerServer) port() int        { return s.tcpPort }
func (s *containerServer) password() string { return s.secret }

// logMark is the time, in milliseconds: what a line of the log begins with.
func (s *containerServer) logMark() int64 { return time.Now().UnixMilli() }

func (s *containerServer) logSince(mark int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	r, err := s.container.Logs(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	all, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	const layout = "2006-01-02 15:04:05.000 MST"
	rest := all
	for len(rest) > 0 {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		if len(line) >= len(layout) {
			at, err := time.Parse(layout, string(line[:len(layout)]))
			if err == nil && at.UnixMilli() >= mark {
				return rest, nil
			}
		}
		rest = after
	}
	if mark == 0 {
		return all, nil // it ended before Postgres could log anything
	}
	return nil, nil
}

// removeOrphans removes containers whose owner on this machine has died. It is best effort, like sweep.
func removeOrphans(ctx context.Context, engine client.APIClient) {
	found, err := engine.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", ownerLabel)})
	if err != nil {
		return
	}
	for _, c := range found.Items {
		label := c.Labels[ownerLabel]
		pid, err := strconv.Atoi(label[strings.LastIndexByte(label, '/')+1:])
		if err != nil || label != owner(pid) || syscall.Kill(pid, 0) != syscall.ESRCH {
			continue
		}
		_, _ = engine.ContainerRemove(ctx, c.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	}
}

func owner(pid int) string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%s/%d", host, pid)
}
