package attack_test

import (
	"context"
	"crypto/sha256"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/sandbox"
)

// neighbours are two users who run good programs all the time: what others do
// must not be seen in their runs.
type neighbours struct {
	end   context.CancelFunc
	ended sync.WaitGroup
	count [2]atomic.Int64
	worst atomic.Int64
}

// patience is what a neighbour waits for an answer at most. The attacks leave
// them one core of two, and a machine that tests in parallel less.
const patience = 15 * time.Second

func meet(t *testing.T, pool *sandbox.Pool) *neighbours {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	n := &neighbours{end: end}
	t.Cleanup(end)
	n.live(ctx, t, pool, 0, "adder", sandbox.KindJavaScript, []byte(`export default ({ n }) => n + 1`), `{"n":41}`, "42")
	n.live(ctx, t, pool, 1, "counter", sandbox.KindWASM, execute(c32(40), c32(2), add32), `{}`, "42")
	return n
}

func (n *neighbours) live(ctx context.Context, t *testing.T, pool *sandbox.Pool, at int, name, kind string, code []byte, input, want string) {
	program := sandbox.Program{Kind: kind, SHA256: sha256.Sum256(code), Code: writes(string(code))}
	n.ended.Go(func() {
		pace := time.NewTicker(100 * time.Millisecond)
		defer pace.Stop()
		for ctx.Err() == nil {
			start := time.Now()
			limits := sandbox.DefaultLimits
			result, err := pool.Run(context.Background(), sandbox.Call{
				Tenant: name, Program: program, Input: []byte(input), Limits: limits, Now: start,
			})
			took := time.Since(start)
			if err != nil || string(result.Output) != want || took > patience {
				t.Errorf("%s, who did nothing wrong, got %q and %v after %v", name, result.Output, err, took)
				return
			}
			n.worst.Store(max(n.worst.Load(), int64(took)))
			n.count[at].Add(1)
			select {
			case <-pace.C:
			case <-ctx.Done():
			}
		}
	})
}

// leave ends the neighbours' runs, of which there must have been some.
func (n *neighbours) leave(t *testing.T) {
	t.Helper()
	n.end()
	n.ended.Wait()
	for at := range n.count {
		if n.count[at].Load() < 10 {
			t.Errorf("neighbour %d ran %d times", at, n.count[at].Load())
		}
	}
	t.Logf("the slowest run of a neighbour took %v", time.Duration(n.worst.Load()))
}

func (n *neighbours) runs() int64 { return n.count[0].Load() + n.count[1].Load() }

// writes gives a small code.
func writes(code string) func(context.Context, func([]byte) error) error {
	return func(_ context.Context, write func([]byte) error) error { return write([]byte(code)) }
}
