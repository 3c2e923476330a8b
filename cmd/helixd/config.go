package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/joho/godotenv"
	"github.com/rs/zerolog"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/helixd/helixd/internal/trace"
	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication/stream"
)

// config is all that helixd is told. Flags and environment are read here and
// nowhere else.
type config struct {
	databaseURL string
	slot        string
	publication string
	role        string
	driftEvery  time.Duration
	logLevel    string
	logFormat   string
	output      string
	json        bool // --json
	ageKey      string

	skills skillSettings
	voice  voiceSettings
	decay  decaySettings
	recall recallSettings

	synthesis synthesisSettings
	analysis  analysisSettings
	embedding embeddingSettings
	budget    budgetSettings
	http      httpSettings
	doctor    doctorSettings
	pause     pauseSettings

	drift string // driftEvery as it was given
}

// setting is a flag with its variable. A key has no flag: every user of the
// machine can read the arguments of a process.
type setting struct {
	flag, env, fallback, help string
	value                     *string
}

// settingGroup is the settings of one reactor.
type settingGroup interface {
	settings() []setting
	parse() error
}

func (c *config) groups() []settingGroup {
	return []settingGroup{&c.skills, &c.voice, &c.synthesis, &c.decay, &c.recall, &c.analysis, &c.embedding, &c.budget, &c.http, &c.doctor, &c.pause}
}

func (c *config) settings() []setting {
	all := []setting{
		{"db-url", "SUPABASE_DB_URL", "", "connection string of the project's direct connection", &c.databaseURL},
		{"slot", "HELIX_SLOT", "helix", "name of the replication slot", &c.slot},
		{"publication", "HELIX_PUBLICATION", "helix", "name of the publication", &c.publication},
		{"role", "HELIX_ROLE", roleAll, "of helixd run: all, stream (no jobs) or worker (only jobs)", &c.role},
		{"drift-interval", "HELIX_DRIFT_INTERVAL", "2s", "how often to look whether the publication was altered", &c.drift},
		{"log-level", "HELIX_LOG_LEVEL", "info", "trace, debug, info, warn or error", &c.logLevel},
		{"log-format", "HELIX_LOG_FORMAT", "", "json or console; console on a terminal", &c.logFormat},
		{"output", "HELIX_OUTPUT", outputText, "of what a command prints, and of its errors: text or json", &c.output},
		{"", "HELIX_AGE_KEY", "", "age key of users' secrets, where the project has no Vault", &c.ageKey},
	}
	for _, g := range c.groups() {
		all = append(all, g.settings()...)
	}
	return all
}

// Roles of a process.
const (
	roleAll    = "all"
	roleStream = "stream"
	roleWorker = "worker"
)

// usageError is a mistake in how the program was called.
type usageError struct{ error }

func (c *config) register(flags *pflag.FlagSet) {
	for _, s := range c.settings() {
		if s.flag == "" {
			continue
		}
		flags.StringVar(s.value, s.flag, "", fmt.Sprintf("%s (%s)%s", s.help, s.env, byDefault(s.fallback)))
	}
	flags.BoolVar(&c.json, "json", false, "the same as --output json")
}

// readOutput finds out how a mistake in the flags is to be told: they are read no
// further than to it.
func (c *config) readOutput(args []string) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	c.register(flags)
	_ = flags.Parse(args)
	_ = c.load(flags)
}

func byDefault(v string) string {
	if v == "" {
		return ""
	}
	return fmt.Sprintf(" (default %q)", v)
}

// load fills what no flag has set from the environment, .env and the defaults.
func (c *config) load(flags *pflag.FlagSet) error {
	if err := godotenv.Load(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		// Not the error itself: it quotes the file, passwords included.
		return &usageError{errors.New("read .env: a line is not NAME='value'")}
	}
	for _, s := range c.settings() {
		if flags.Changed(s.flag) {
			continue
		}
		*s.value = os.Getenv(s.env)
		if *s.value == "" {
			*s.value = s.fallback
		}
	}
	if c.json {
		c.output = outputJSON
	}
	if _, err := zerolog.ParseLevel(c.logLevel); err != nil {
		return &usageError{fmt.Errorf("--log-level %q: it takes trace, debug, info, warn or error", c.logLevel)}
	}
	if !slices.Contains([]string{"", "json", "console"}, c.logFormat) {
		return &usageError{fmt.Errorf("--log-format %q: it takes json or console", c.logFormat)}
	}
	if !slices.Contains([]string{outputText, outputJSON}, c.output) {
		return &usageError{fmt.Errorf("--output %q: it takes text or json", c.output)}
	}
	if !slices.Contains([]string{roleAll, roleStream, roleWorker}, c.role) {
		return &usageError{fmt.Errorf("--role %q: it takes all, stream or worker", c.role)}
	}
	var err error
	if c.driftEvery, err = time.ParseDuration(c.drift); err != nil || c.driftEvery <= 0 {
		return &usageError{fmt.Errorf("--drift-interval %q: it takes a time, such as 10s", c.drift)}
	}
	for _, name := range []string{c.slot, c.publication} {
		if !regexp.MustCompile("^[a-z0-9_]{1,63}$").MatchString(name) {
			return &usageError{fmt.Errorf("%q is no name for a slot or publication: it takes a-z, 0-9 and _, at most 63", name)}
		}
	}
	for _, g := range c.groups() {
		if err := g.parse(); err != nil {
			return err
		}
	}
	return nil
}

// unknown gives the names of variables that begin as settings do, such as with
// HELIX_LLM_, and are none: a budget whose name is misspelt bounds nothing.
func (c *config) unknown(environ []string) []string {
	known, families := map[string]bool{}, map[string]bool{}
	for _, s := range c.settings() {
		known[s.env] = true
		if words := strings.SplitAfterN(s.env, "_", 3); len(words) == 3 {
			families[words[0]+words[1]] = true
		}
	}
	var unknown []string
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		words := strings.SplitAfterN(name, "_", 3)
		if !known[name] && len(words) == 3 && words[0] == "HELIX_" && families[words[0]+words[1]] {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return unknown
}

// requireDatabase says what to do where there is no connection string.
func (c *config) requireDatabase() error {
	hint := "Put the project's direct connection string (dashboard → Connect → Direct connection) into the environment or .env."
	switch {
	case c.databaseURL == "":
		return &stream.SetupError{Problem: "SUPABASE_DB_URL is not set", Hint: hint + " helixd init asks for it and writes .env."}
	case strings.Contains(c.databaseURL, "[YOUR-PASSWORD]"): // as the dashboard has it
		return &stream.SetupError{Problem: "SUPABASE_DB_URL still has [YOUR-PASSWORD] in it",
			Hint: "Put the database's password there. A forgotten one is made anew in the dashboard → Database → Settings."}
	case strings.ContainsAny(c.databaseURL, "<>"):
		return &stream.SetupError{Problem: "SUPABASE_DB_URL still has a placeholder in it", Hint: hint}
	case strings.Contains(c.databaseURL, "://") && (strings.Count(c.databaseURL, "@") > 1 || strings.Contains(c.databaseURL, "#")):
		return &stream.SetupError{Problem: "SUPABASE_DB_URL has a password with special characters in it",
			Hint: "Percent-encode them: @ is %40, / is %2F, # is %23."}
	}
	return nil
}

// logger writes to stderr.
func (c *config) logger() zerolog.Logger {
	var out io.Writer = os.Stderr
	if c.logFormat == "console" || c.logFormat == "" && isTerminal(os.Stderr) {
		out = zerolog.ConsoleWriter{Out: os.Stderr, TimeFormat: "15:04:05.000"}
	}
	zerolog.TimeFieldFormat = "2006-01-02T15:04:05.000Z07:00"
	level, _ := zerolog.ParseLevel(c.logLevel) // checked by load
	return zerolog.New(out).Level(level).With().Timestamp().Logger()
}

// riverLogger is for River, whose everyday news is not ours.
func riverLogger(log zerolog.Logger) *slog.Logger {
	return slog.New(zerolog.NewSlogHandler(log.Level(max(log.GetLevel(), zerolog.WarnLevel)).With().Str("from", "river").Logger()))
}

// isTerminal: /dev/null, which is stdin of cron and of services, is none.
func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// Connections of a process, of the 60 in all that small projects have. A leader
// has two more: the stream and the heartbeat.
const (
	jobConns    = 8 // pool_max_conns in the connection string is another number
	minJobConns = 3 // beside one for each synthesis: River keeps one to listen on, a tick of decay has one, and one to spare
	leaderConns = 3 // an apply, a backfill's source, and one to spare
)

// pool makes the pool of SQL connections for jobs.
func (c *config) pool() (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(c.databaseURL)
	if err != nil {
		return nil, &stream.SetupError{Problem: "SUPABASE_DB_URL is no connection string",
			Hint: "It looks like postgresql://postgres:<password>@db.<ref>.supabase.co:5432/postgres"}
	}
	if !strings.Contains(c.databaseURL, "pool_max_conns") {
		cfg.MaxConns = jobConns
	}
	cfg.PingTimeout = 5 * time.Second // of a connection that is half open
	cfg.AfterConnect = stream.NoTransactionTimeout
	cfg.ConnConfig.Tracer = trace.Commits()
	cfg.MaxConns = max(cfg.MaxConns, int32(minJobConns+c.synthesis.config.Concurrency))
	cfg.ConnConfig.OnNotice = reactors.OnNotice
	if cfg.ConnConfig.DefaultQueryExecMode != pgx.QueryExecModeCacheDescribe {
		cfg.ConnConfig.DescriptionCacheCapacity = 0 // not used; each connection would make one of 18 kB
	}
	params := cfg.ConnConfig.RuntimeParams
	params["application_name"] = "helixd"
	params["timezone"] = "UTC"
	params["statement_timeout"] = "0"  // role postgres has two minutes on hosted projects; a backfill may take longer
	params["client_encoding"] = "UTF8" // as the stream has it
	params["jit"] = "off"              // statements are short; compiling them would take longer
	// What is cut off in the middle of a transaction must not keep its locks for
	// ever. Who leads next ends them at once; so this is far more than any work.
	params["idle_in_transaction_session_timeout"] = "5min"
	return cfg, nil
}

// leaderPool makes the pool of all that only the leader may write: its sessions
// have the leader's name, and none can be opened once another one leads.
func (c *config) leaderPool() (*pgxpool.Config, error) {
	cfg, err := c.pool()
	if err != nil {
		return nil, err
	}
	cfg.MaxConns, cfg.MinConns, cfg.MinIdleConns = leaderConns, 0, 0
	cfg.ConnConfig.RuntimeParams["application_name"] = holder()
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if err := stream.NoTransactionTimeout(ctx, conn); err != nil {
			return err
		}
		return stream.Leads(ctx, conn, c.slot, holder())
	}
	return cfg, nil
}

// readNumber reads a setting that is a whole number.
func readNumber[N int | int64](flag, given string, least, most N, value *N) error {
	n, err := strconv.ParseInt(given, 10, 64)
	if err != nil || n < int64(least) || n > int64(most) {
		return &usageError{fmt.Errorf("--%s %q: it takes a number from %d to %d", flag, given, least, most)}
	}
	*value = N(n)
	return nil
}
