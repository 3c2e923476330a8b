package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/testenv"
)

func main() {
	if sandbox.IsChild() {
		os.Exit(sandbox.RunChild(guests))
	}
	if os.Getenv(drainEnv) != "" {
		os.Exit(drainMain())
	}
	if os.Getenv(clusterEnv) != "" {
		os.Exit(clusterMain())
	}
	os.Exit(run())
}

// options are the flags.
type options struct {
	rows       int
	runs       int
	quick      bool
	given      struct{ rows, runs int } // before quick makes them fewer
	only       string
	results    string
	page       string
	rebuild    bool
	helixd     string
	cpuProfile string // for who makes helixd faster; not in the usage text
}

func (o *options) parse(args []string) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.BoolVar(&o.quick, "quick", false, "a tenth of the rows, 3 runs, and no clusters of 20,000 rows")
	flags.IntVar(&o.rows, "rows", 1_000_000, "rows of the large transaction; 3/10 of it are the one-row transactions, 2/10 the wide changes and the sync deltas, 1/10 the durable drain, all the layers")
	flags.IntVar(&o.runs, "runs", 5, "runs of each side, of which the median counts")
	flags.StringVar(&o.only, "only", "", "sections, with commas: "+strings.Join(sectionNames(), ","))
	flags.StringVar(&o.page, "report", "", "keep what each section measured, and write the page of all that is kept to this file, its plots beside it")
	flags.StringVar(&o.results, "results", "", "folder where that is kept; with --report `results`, where a quick run may not be")
	flags.BoolVar(&o.rebuild, "rebuild", false, "measure nothing: write --report again")
	flags.StringVar(&o.helixd, "helixd", "", "measure this helixd binary instead of one built now")
	flags.StringVar(&o.cpuProfile, "cpuprofile", "", "")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: go run . [flags]")
		flags.VisitAll(func(f *flag.Flag) {
			if f.Usage != "" {
				fmt.Fprintf(flags.Output(), "  --%-8s %s\n", f.Name, f.Usage)
			}
		})
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	o.given.rows, o.given.runs = o.rows, o.runs
	if o.quick {
		o.rows, o.runs = o.rows/10, min(o.runs, 3)
	}
	if o.page != "" && o.results == "" {
		o.results = "results"
		if o.quick && !o.rebuild {
			return errors.New("--quick is for trying out: name another folder for what it measures with --results")
		}
	}
	if o.rebuild && o.page == "" {
		return errors.New("--rebuild writes a page: name it with --report")
	}
	if o.rows < 100 || o.runs < 1 || flags.NArg() > 0 {
		flags.Usage()
		return errors.New("--rows is at least 100, --runs at least 1, and there are no arguments")
	}
	return nil
}

// section is one part of the benchmark.
type section struct {
	name string
	run  func(context.Context, *bench) error
}

var sections = []section{
	{"decode", decodeMessages}, {"drain", drain}, {"apply", apply}, {"sync", syncBacklog}, {"trigger", syncTrigger}, {"memory", syncLarge}, {"latency", latency}, {"takeover", takeover}, {"idle", idle},
	{"calls", sandboxCalls}, {"skills", skills}, {"decodes", decodes}, {"voice", voice},
	{"clusters", clusters}, {"decay", decayTicks},
	{"curve-drain", drainCurve}, {"curve-sync", syncCurve}, {"curve-workers", workersCurve},
	{"curve-decay", decayCurve}, {"curve-synthesis", synthesisCurve}, {"curve-recall", recallCurve},
}

func sectionNames() (names []string) {
	for _, s := range sections {
		names = append(names, s.name)
	}
	return names
}

func (o *options) sections() ([]section, error) {
	if o.only == "" {
		return sections, nil
	}
	names := strings.Split(o.only, ",")
	for _, name := range names {
		if !slices.ContainsFunc(sections, func(s section) bool { return s.name == name }) {
			return nil, fmt.Errorf("--only: there is no section %q", name)
		}
	}
	return slices.DeleteFunc(slices.Clone(sections), func(s section) bool { return !slices.Contains(names, s.name) }), nil
}

// bench is what the sections share.
type bench struct {
	options
	cluster *testenv.Cluster
	report  report
	commit  string // of helixd
	dir     string // thrown away
	began   time.Time
	built   string // path of the daemon, once built
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b := &bench{began: time.Now(), commit: commit()}
	if err := b.parse(os.Args[1:]); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 2
	}
	chosen, err := b.sections()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 2
	}
	if !b.rebuild {
		err = b.measure(ctx, chosen)
	}
	if ctx.Err() == nil {
		err = errors.Join(err, b.writePage())
	}
	if err != nil {
		if ctx.Err() != nil {
			fmt.Fprintln(os.Stderr, "bench: interrupted; cleaned up")
			return 130
		}
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	return 0
}

func (b *bench) measure(ctx context.Context, chosen []section) (err error) {
	if b.dir, err = os.MkdirTemp("", "helix-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	b.cluster, err = testenv.Start(ctx, testenv.Options{Fsync: true, Logf: b.say, Settings: map[string]string{
		"track_commit_timestamp": "on", // for latency
		"max_wal_size":           "4GB",
	}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.cluster.Stop()) }()
	if err := b.describe(ctx); err != nil {
		return err
	}
	if load := b.report.Machine.Load; load > busy {
		b.say("the machine is busy (load %.1f): the figures will be noisy", load)
	}
	err = b.each(ctx, chosen)
	b.report.print(os.Stdout)
	return err
}

// each measures the sections in turn. One that fails, for want of a peer perhaps,
// leaves nothing, and the others are measured all the same.
func (b *bench) each(ctx context.Context, chosen []section) error {
	var failed []error
	for _, s := range chosen {
		b.say("%s", s.name)
		began, figures, curves := time.Now(), len(b.report.Figures), len(b.report.Curves)
		own, end := context.WithCancel(ctx)
		err := s.run(own, b)
		end() // of processes that a failed one has left
		if err == nil {
			err = b.keep(s, began, figures, curves)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", s.name, err))
			b.say("%s failed: %v", s.name, err)
			b.report.Figures, b.report.Curves = b.report.Figures[:figures], b.report.Curves[:curves]
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failed...)
}

// describe says where and how the figures come about.
func (b *bench) describe(ctx context.Context) (err error) {
	_, conn, drop, err := b.database(ctx, "machine")
	if err != nil {
		return err
	}
	defer drop()
	b.report.Machine, err = readMachine(ctx, conn)
	b.report.Method = fmt.Sprintf("Medians of %d runs, of %d of go-pq-cdc, the durable drain, sync and the curves; helixd and its peers take turns",
		b.runs, min(b.runs, maxSlowRuns))
	return err
}

// say shows progress.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%6.1fs  %s\n", time.Since(b.began).Seconds(), fmt.Sprintf(format, args...))
}

// profile is where a drain's CPU profile goes, "" when none is wanted.
func (b *bench) profile(name string) string {
	if b.cpuProfile == "" {
		return ""
	}
	return filepath.Join(b.cpuProfile, name+".pprof")
}

// database makes a database that the section drops with the function it gets.
func (b *bench) database(ctx context.Context, name string) (*testenv.Database, *pgx.Conn, func(), error) {
	db, err := b.cluster.NewDatabase(ctx, name)
	if err != nil {
		return nil, nil, nil, err
	}
	drop := func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		if err := db.Drop(ctx); err != nil {
			b.say("%v", err)
		}
	}
	conn, err := pgx.Connect(ctx, db.URL("postgres"))
	if err != nil {
		drop()
		return nil, nil, nil, err
	}
	return db, conn, func() {
		_ = conn.Close(context.WithoutCancel(ctx))
		drop()
	}, nil
}

// settle writes out what a load left dirty, so that it is not written while
// something else is measured.
func settle(ctx context.Context, db *testenv.Database) error {
	conn, err := pgx.Connect(ctx, db.URL("supabase_admin"))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is pending
	_, err = conn.Exec(ctx, "checkpoint")
	return err
}
