package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/helixd/helixd/internal/doctor"
	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/outbound"
	"github.com/helixd/helixd/reactors/sandbox"
)

// doctorSettings are those that no other command has.
type doctorSettings struct{ jwtSecret string }

func (s *doctorSettings) settings() []setting {
	return []setting{{"", "SUPABASE_JWT_SECRET", "", "", &s.jwtSecret}}
}

func (s *doctorSettings) parse() error { return nil }

// doctorReport is what --output json prints.
type doctorReport struct {
	Version  string           `json:"version"`
	Fail     int              `json:"fail"`
	Warn     int              `json:"warn"`
	Findings []doctor.Finding `json:"findings"`
}

func (r *doctorReport) add(found []doctor.Finding) {
	for _, f := range found {
		switch f.Severity {
		case doctor.Fail:
			r.Fail++
		case doctor.Warn:
			r.Warn++
		}
	}
	r.Findings = append(r.Findings, found...)
}

func doctorCommand(cfg *config) *cobra.Command {
	var only, skip []string
	var timeout time.Duration
	var ask bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what is wrong with the project or this machine, and what to do",
		Long: "doctor looks at the project, the way to it and this machine, and prints what it finds with its remedy: a\n" +
			"command, SQL or a setting. It changes nothing in the project but what it takes back, and works before\n" +
			"helixd migrate as well as beside a helixd that runs. docs/doctor.md has all that it can find.\n\n" +
			"With SUPABASE_URL and SUPABASE_SERVICE_ROLE_KEY it also asks Storage, and sends a broadcast through\n" +
			"Realtime and waits until it comes back; with SUPABASE_JWT_SECRET it does so as a user of an app.\n" +
			"Keys of providers are only looked at, unless --ask-providers lets it make a request of each that costs\n" +
			"nothing.\n\n" +
			"Checks: " + wrapped(doctor.Names(), 96) + "\n\n" +
			"Exit status: 0 nothing fails; 1 it could not be done; 2 wrong usage; 3 a finding is fail.",
		Example: "  helixd doctor\n  helixd doctor --only realtime,realtime-policies\n  helixd doctor --skip sandbox --output json | jq '.findings[] | select(.severity == \"fail\")'",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			checks, err := doctor.Select(only, skip)
			if err != nil {
				return &usageError{err}
			}
			if timeout < time.Second {
				return &usageError{fmt.Errorf("--timeout %s: it takes a time from 1s on", timeout)}
			}
			c, err := cfg.doctorConfig()
			if err != nil {
				return err
			}
			c.Timeout, c.Ask = timeout, ask
			return examine(cmd, cfg, c, checks)
		},
	}
	cmd.Flags().StringSliceVar(&only, "only", nil, "run these checks alone, with commas between")
	cmd.Flags().StringSliceVar(&skip, "skip", nil, "leave these checks out")
	cmd.Flags().DurationVar(&timeout, "timeout", 10*time.Second, "how long each check may take")
	cmd.Flags().BoolVar(&ask, "ask-providers", false, "ask each provider whether it takes its key")
	return cmd
}

// wrapped breaks a list of names into lines.
func wrapped(names []string, width int) string {
	var b strings.Builder
	line := len("Checks: ")
	for i, name := range names {
		if i > 0 {
			b.WriteByte(',')
			line++
			if line+len(name) > width {
				b.WriteString("\n  ")
				line = 2
			} else {
				b.WriteByte(' ')
				line++
			}
		}
		b.WriteString(name)
		line += len(name)
	}
	return b.String()
}

// examine runs the checks. As text each is printed as it ends; JSON is one value at
// the end, with a bar on a terminal until then.
func examine(cmd *cobra.Command, cfg *config, c doctor.Config, checks []doctor.Check) error {
	d := doctor.New(c)
	defer d.Close()
	report := doctorReport{Version: version(), Findings: []doctor.Finding{}}
	var bar *progressbar.ProgressBar
	if cfg.output == outputJSON && isTerminal(os.Stderr) {
		bar = progressbar.NewOptions(len(checks), progressbar.OptionSetWriter(os.Stderr), progressbar.OptionClearOnFinish(), progressbar.OptionSetDescription("checks"))
	}
	var failed error
	d.Run(cmd.Context(), checks, func(_ doctor.Check, found []doctor.Finding) {
		report.add(found)
		if bar != nil {
			_ = bar.Add(1)
		}
		if cfg.output != outputJSON && failed == nil {
			failed = writeFindings(cmd.OutOrStdout(), found)
		}
	})
	if err := cmd.Context().Err(); err != nil {
		return fmt.Errorf("doctor: %w", err)
	}
	if failed == nil {
		failed = cfg.print(cmd, report, func(out io.Writer) error {
			said := "Nothing is wrong."
			if report.Fail+report.Warn > 0 {
				said = fmt.Sprintf("%d fail, %d warn. docs/doctor.md says more of each.", report.Fail, report.Warn)
			}
			_, err := fmt.Fprintf(out, "%s\n%s\n", report.skipped(), said)
			return err
		})
	}
	if failed == nil && report.Fail > 0 {
		failed = errFindings
	}
	return failed
}

// skipped says in a few lines what was not looked at, and why.
func (r *doctorReport) skipped() string {
	var why []doctor.Finding
	checks := map[doctor.Finding][]string{}
	for _, f := range r.Findings {
		if f.Kind == doctor.Skipped.Name {
			name := f.Check
			f.Check = ""
			if checks[f] == nil {
				why = append(why, f)
			}
			checks[f] = append(checks[f], name)
		}
	}
	var b strings.Builder
	for _, f := range why {
		fmt.Fprintf(&b, "\n%s: %s\n  → %s\n", f.Problem, strings.Join(checks[f], ", "), f.Remedy)
	}
	return b.String()
}

// writeFindings prints findings for people, those of skipped checks apart. Names of
// roles, objects and sessions, and a server's words, are not all of the operator's
// choice.
func writeFindings(out io.Writer, found []doctor.Finding) error {
	var b strings.Builder
	for _, f := range found {
		if f.Kind == doctor.Skipped.Name {
			continue
		}
		fmt.Fprintf(&b, "%-4s  %-20s  %s\n", f.Severity, f.Check, printable(f.Problem))
		if f.Remedy != "" {
			fmt.Fprintf(&b, "      → %s\n", printable(f.Remedy))
		}
		if f.SQL != "" {
			for line := range strings.SplitSeq(f.SQL, "\n") {
				fmt.Fprintf(&b, "          %s\n", printable(line))
			}
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// doctorConfig is what there is to look at, as helixd run would have it.
func (c *config) doctorConfig() (doctor.Config, error) {
	d := doctor.Config{
		DatabaseURL: c.databaseURL, Slot: c.slot, Publication: c.publication, Tables: reactors.Watched(slices.Concat(allReactors(c), offReactors(c))),
		SupabaseURL: c.voice.supabaseURL, ServiceKey: c.voice.serviceKey, JWTSecret: c.doctor.jwtSecret,
		Keys: c.keys(), Sandbox: c.layers, Unsafe: c.skills.unsafe,
	}
	if err := c.requireDatabase(); err != nil && !errors.As(err, &d.Unusable) {
		return d, err
	}
	if pool, err := c.pool(); err == nil {
		d.Connections = int(pool.MaxConns) + leaderConns + 2 // the stream, and the heartbeat
	} else if d.Unusable == nil && !errors.As(err, &d.Unusable) {
		return d, err
	}
	return d, nil
}

// layers starts a worker child, as a run does, and tells which layers hold.
func (c *config) layers(ctx context.Context) ([]sandbox.Layer, error) {
	dir, err := c.skills.childrenDir()
	if err != nil {
		return nil, err
	}
	pool, err := sandbox.NewPool(ctx, sandbox.Config{Dir: dir, Workers: 1, Limits: c.skills.config.Limits, AllowUnsafe: c.skills.unsafe, Log: zerolog.Nop()})
	if err != nil {
		return nil, err
	}
	layers := pool.Layers()
	if len(layers) == 0 {
		err = errors.New(pool.Missing())
	}
	return layers, errors.Join(err, ignoreCanceled(pool.Close()))
}

func ignoreCanceled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// keys are those of the providers that are set, or that helixd does without.
func (c *config) keys() []doctor.Key {
	models := func(base, otherwise string) string {
		if base == "" {
			base = otherwise
		}
		if u, err := outbound.Target(base, "/models"); err == nil {
			return u.String()
		}
		return ""
	}
	var keys []doctor.Key
	switch v := &c.voice; {
	case v.config.Off != "":
	case v.provider == providerOpenAI:
		keys = append(keys, doctor.Key{Name: "the transcriber", Setting: "HELIX_VOICE_KEY", Value: v.key, Local: v.baseURL != "",
			Without: "recordings wait as pending (reactor voice)", Ask: models(v.baseURL, "https://api.openai.com/v1")})
	default:
		base := v.baseURL
		if base == "" {
			base = "https://api.deepgram.com"
		}
		ask := ""
		if u, err := outbound.Target(base, "/projects"); err == nil {
			ask = u.String()
		}
		keys = append(keys, doctor.Key{Name: "deepgram", Setting: "DEEPGRAM_API_KEY", Value: v.deepgramKey,
			Without: "recordings wait as pending (reactor voice)", Ask: ask, Header: "Authorization: Token "})
	}
	if a := &c.analysis; a.provider == llmOpenAI {
		keys = append(keys, doctor.Key{Name: "the language model", Setting: "HELIX_LLM_KEY", Value: a.key, Local: a.baseURL != "",
			Without: "analyses are made locally (reactor analysis), and skills have no tool llm", Ask: models(a.baseURL, "https://api.openai.com/v1")})
	} else {
		keys = append(keys, doctor.Key{Name: "anthropic", Setting: "ANTHROPIC_API_KEY", Value: a.anthropicKey, Prefix: "sk-ant-",
			Without: "analyses are made locally (reactor analysis), and skills have no tool llm", Ask: models(a.anthropicURL, "https://api.anthropic.com"), Header: "x-api-key: "})
	}
	if e := &c.embedding; e.on() {
		keys = append(keys, doctor.Key{Name: "the embedding provider", Setting: "EMBEDDINGS_API_KEY", Value: e.key, Local: e.baseURL != "",
			Without: "memories without an embedding of their own get none (reactor embedding)", Ask: models(e.baseURL, "https://api.openai.com/v1")})
	}
	return keys
}
