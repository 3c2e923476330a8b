// Command playground shows helixd at work on a throwaway Supabase-shaped Postgres (see package testenv).
//
//	playground demo    plays the story of three devices, and checks what helixd makes of it (make demo)
//	playground up      leaves the same environment up, for people and acceptance checks (make dev)
//	playground down    ends it (make dev-down)
//
// demo is one process: it owns Postgres and the helixd that it starts, and ends both. up cannot own them, for it
// returns; so it starts itself again as `playground supervise`, in a session of its own, which does until down ends it:
//
//	up ──starts──▶ supervise ──owns──▶ Postgres, helixd run
//	                   ▲
//	down ──SIGTERM─────┘        what up and down know of it is in .helix: dev.pid, locked as long as it lives, and
//	                            dev.env, which is there once all is up
//
// A killed owner takes Postgres and helixd along (on Linux; elsewhere the next start ends what is left of Postgres).
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/helixd/helixd/testenv/module"
)

const usage = `usage: playground demo | up | down

  demo   three devices of one user edit the same notes; exits with 0 when all is as expected
  up     start Postgres and helixd, and leave them up
  down   end what up has started
`

var commands = map[string]func(context.Context, *printer, repo) error{
	"demo":      demo,
	"up":        up,
	"down":      down,
	"supervise": supervise, // by up alone
}

// errLeft says that not all could be cleaned up.
var errLeft = errors.New("clean up")

func main() { os.Exit(run(os.Args[1:])) }

// run gives the exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
func run(args []string) int {
	if len(args) != 1 || commands[args[0]] == nil {
		fmt.Fprint(os.Stderr, usage)
		return 2
	}
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal does not wait for the cleaning up
	if args[0] != "supervise" {
		var cancel context.CancelFunc
		ctx, cancel = withParent(ctx)
		defer cancel()
	}

	out := newPrinter(os.Stdout)
	root, err := module.Root()
	if err == nil {
		err = commands[args[0]](ctx, out, repo(root))
	}
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && !errors.Is(err, errLeft):
		// What was under way failed, in words of its own, because it was interrupted.
		out.line("")
		out.line("Interrupted.")
		return 130
	}
	out.line("")
	out.line("%s %v", out.bad("playground "+args[0]+":"), err)
	return 1
}

// withParent gives a context that ends when the process's parent does. A SIGTERM for `go run` ends that alone, and what
// it runs hears nothing of it.
func withParent(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	parent := os.Getppid()
	go func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for os.Getppid() == parent {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
		cancel()
	}()
	return ctx, cancel
}
