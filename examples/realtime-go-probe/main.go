// Command realtime-go-probe shows why helixd does not use
// github.com/supabase-community/realtime-go: it runs the library, unmodified,
// against a server that reads messages as Supabase Realtime does.
//
// It exits with 0 when the library fails as described in the README, with 1 when
// it has changed, and with 2 when the probe itself is at fault.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

const library = "github.com/supabase-community/realtime-go"

func main() { os.Exit(run()) }

func run() int {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s := newServer()
	defer s.close()
	r := &report{}
	r.say("%s %s", library, version())

	r.title("0. The server is sound: a client that speaks the protocol joins and receives")
	if err := control(ctx, s, r); err != nil {
		fmt.Fprintln(os.Stderr, "realtime-go-probe:", err)
		return 2
	}
	p := newProbe(s, r)
	for _, step := range []func(context.Context) error{p.whereItDials, p.howItJoins, p.whatItDispatches} {
		if err := step(ctx); err != nil {
			r.check("the library works far enough to be shown", false)
			r.say("   %v", err)
			break
		}
	}
	if r.changed {
		r.say("\nThe library is not as described any more: look at it again.")
		return 1
	}
	r.say("\nAs described: the library cannot be used.")
	return 0
}

// report prints what was seen, and remembers whether it is as described.
type report struct{ changed bool }

func (r *report) say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

func (r *report) title(title string) { r.say("\n%s", title) }

// wire prints messages verbatim: to the server and from it.
func (r *report) wire(heard []exchange) {
	for _, e := range heard {
		r.say("   sent      %s", e.sent)
		for _, a := range e.answers {
			r.say("   answered  %s", a)
		}
		if e.refused != "" {
			r.say("   refused   %s (nothing is answered)", e.refused)
		}
	}
}

func (r *report) check(described string, holds bool) {
	verdict := "as described"
	if !holds {
		verdict = "CHANGED"
		r.changed = true
	}
	r.say("   %-12s  %s", verdict, described)
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "?"
	}
	for _, m := range info.Deps {
		if strings.EqualFold(m.Path, library) {
			return m.Version
		}
	}
	return "?"
}
