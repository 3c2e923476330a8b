package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors/llm"
	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/sandbox/wasm"
	"github.com/helixd/helixd/reactors/skills"
	"github.com/helixd/helixd/reactors/skills/host"
	"github.com/helixd/helixd/reactors/skills/host/broker"
	"github.com/helixd/helixd/reactors/skills/host/secrets"
	"github.com/helixd/helixd/reactors/skills/javascript"
	"github.com/helixd/helixd/reactors/skills/model"
	"github.com/helixd/helixd/reactors/skills/rights"
	"github.com/helixd/helixd/reactors/skills/tools"
	"github.com/helixd/helixd/reactors/voice/decode"
	"github.com/helixd/helixd/replication/stream"
)

// guests are what worker children run.
var guests = map[string]sandbox.Guest{sandbox.KindWASM: wasm.Guest{}, sandbox.KindJavaScript: javascript.Guest{}, decode.Kind: decode.Guest{}}

// skillSettings are those of the reactor skills: as they were given, and read.
type skillSettings struct {
	workers, concurrency, rate, limits, sandbox, policy, hosts, mcp, cacheDir string

	config skills.Config
	unsafe bool
	rules  *rights.Policy
	broker *broker.Broker
	tools  *tools.MCP
}

func (s *skillSettings) settings() []setting {
	byDefault := skills.DefaultConfig
	return []setting{
		{"skills-workers", "HELIX_SKILLS_WORKERS", strconv.Itoa(byDefault.Workers), "runs of skills at a time, in this process", &s.workers},
		{"skills-concurrency", "HELIX_SKILLS_CONCURRENCY", strconv.Itoa(byDefault.Concurrency), "runs of one user at a time, in all processes", &s.concurrency},
		{"skills-rate", "HELIX_SKILLS_RATE", "0", "runs of one user that begin in a minute, 0 for no limit; others wait", &s.rate},
		{"skills-limits", "HELIX_SKILLS_LIMITS", "", `limits of a run, "wall=30s,cpu=10s,memory=128MB,input=1MB,output=1MB,logs=64KB,host_calls=50"`, &s.limits},
		{"sandbox", "HELIX_SANDBOX", "required", "required, or unsafe: run untrusted code where the kernel lacks a required layer", &s.sandbox},
		{"skills-policy", "HELIX_SKILLS_POLICY", "", "file with the Cedar policy of what skills may do", &s.policy},
		{"skills-hosts", "HELIX_SKILLS_HOSTS", "", "hosts[:port] that the capability network:https stands for, with commas", &s.hosts},
		{"skills-mcp", "HELIX_SKILLS_MCP", "", "MCP servers whose tools steps may call, name=https://..., with commas", &s.mcp},
		{"cache-dir", "HELIX_CACHE_DIR", "", "directory for compiled skills; helixd-<uid> in the system's temporary files", &s.cacheDir},
	}
}

func (s *skillSettings) parse() error {
	s.config = skills.DefaultConfig
	s.config.Version = version()
	if err := cmp.Or(
		readNumber("skills-workers", s.workers, 1, math.MaxInt16, &s.config.Workers),
		readNumber("skills-concurrency", s.concurrency, 1, math.MaxInt16, &s.config.Concurrency),
		readNumber("skills-rate", s.rate, 0, math.MaxInt16, &s.config.Rate),
	); err != nil {
		return err
	}
	var err error
	if s.config.Limits, err = skills.ParseLimits(s.limits); err != nil {
		return &usageError{fmt.Errorf("--skills-limits: %w", err)}
	}
	switch s.sandbox {
	case "required", "unsafe":
		s.unsafe = s.sandbox == "unsafe"
	default:
		return &usageError{fmt.Errorf("--sandbox %q: it takes required or unsafe", s.sandbox)}
	}
	policy := rights.DefaultPolicy
	if s.policy != "" {
		if policy, err = os.ReadFile(s.policy); err != nil {
			return &usageError{fmt.Errorf("--skills-policy: %w", err)}
		}
	}
	var hosts []string
	for h := range strings.SplitSeq(s.hosts, ",") {
		if h = strings.TrimSpace(h); h != "" {
			hosts = append(hosts, h)
		}
	}
	if s.rules, err = rights.NewPolicy(policy, hosts); err != nil {
		return &usageError{fmt.Errorf("--skills-policy, --skills-hosts: %w", err)}
	}
	return s.parseMCP()
}

// parseMCP reads the MCP servers, which are reached through the broker, and it
// reaches no others for them.
func (s *skillSettings) parseMCP() error {
	type address struct {
		host string
		port uint16
	}
	servers, allowed := map[string]string{}, map[address]bool{}
	for part := range strings.SplitSeq(s.mcp, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, text, _ := strings.Cut(part, "=")
		u, err := url.Parse(text)
		if err != nil {
			return &usageError{fmt.Errorf("--skills-mcp: the address of %q is no URL", name)}
		}
		host, port, err := rights.ParseHost(u.Host)
		if err != nil {
			return &usageError{fmt.Errorf("--skills-mcp: the address of %q: %w", name, err)}
		}
		servers[name], allowed[address{host, port}] = text, true
	}
	s.broker = broker.New(broker.Options{})
	var err error
	s.tools, err = tools.NewMCP(servers, s.broker.RoundTripper(func(host string, port uint16) bool { return allowed[address{host, port}] }))
	if err != nil {
		return &usageError{fmt.Errorf("--skills-mcp: %w", err)}
	}
	return nil
}

// newSkills makes what does the jobs of skills, with its worker children, which stop
// ends. The client of a language model may be nil.
func newSkills(ctx context.Context, cfg *config, db *pgxpool.Pool, client *llm.Client, log zerolog.Logger) (service *skills.Service, stop func(), err error) {
	s := &cfg.skills
	options := host.Options{Policy: s.rules, Broker: s.broker}
	if client != nil {
		if options.Model, err = model.New(db, client, newLedger(cfg, db), cfg.analysis.rules); err != nil {
			return nil, nil, err
		}
	}
	if options.Secrets, err = secrets.New(db, cfg.ageKey); err != nil {
		return nil, nil, &usageError{err}
	}
	dir, err := s.childrenDir()
	if err != nil {
		return nil, nil, err
	}
	boxes, err := sandbox.NewPool(ctx, sandbox.Config{Dir: dir, Workers: s.config.Workers + skills.NestedWorkers, Limits: s.config.Limits,
		AllowUnsafe: s.unsafe, Log: log})
	if err != nil {
		return nil, nil, &stream.SetupError{Problem: "worker children for skills cannot be made: " + err.Error(), Hint: cacheDirHint}
	}
	service = skills.NewService(s.config, db, boxes, host.New(db, options), s.tools, log)
	return service, func() {
		if err := boxes.Close(); err != nil && !errors.Is(err, context.Canceled) {
			log.Warn().Err(err).Msg("the sandbox did not close in order")
		}
	}, nil
}

// childrenDir is the directory in which worker children find their programs.
func (s *skillSettings) childrenDir() (dir string, err error) {
	if dir = s.cacheDir; dir == "" {
		if dir, err = defaultCacheDir(); err != nil {
			return "", &stream.SetupError{Problem: "there is no directory for compiled programs: " + err.Error(), Hint: cacheDirHint}
		}
	}
	_ = os.Chmod(dir, 0o711) // children are another user; where that is not enough the sandbox says so
	return dir, nil
}
