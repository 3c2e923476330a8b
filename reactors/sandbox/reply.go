package sandbox

import "context"

// afterReply is what a Host wants done when the reply to a host call is out of
// the daemon's memory. One goroutine at a time uses it.
type afterReply struct {
	host Host
	todo []func()
}

type afterReplyKey struct{}

// AfterReply calls f once the program has the reply to the host call that ctx is
// of, or the call has ended; until then the daemon holds it. It does so only for
// what this host, a pointer, serves to a program itself, and false says that it never will: a
// host call may be made on behalf of another one, of another program.
func AfterReply(ctx context.Context, host Host, f func()) bool {
	a, _ := ctx.Value(afterReplyKey{}).(*afterReply)
	if a == nil || a.host != host {
		return false
	}
	a.todo = append(a.todo, f)
	return true
}

func (a *afterReply) run() {
	for _, f := range a.todo {
		f()
	}
}
