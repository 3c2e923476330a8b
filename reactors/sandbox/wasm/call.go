package wasm

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/tetratelabs/wazero/experimental"

	"github.com/helixd/helixd/reactors/sandbox"
)

// call is one run of a module, as the functions that it imports see it. Those
// end the run by a panic with an error, which wazero catches and gives back from
// the call into the module.
type call struct {
	context.Context
	env     *sandbox.Env
	command bool // stdout is the output; else it goes to the logs
	stdin   []byte
	stdout  []byte
	closed  [3]bool // of stdin, stdout and stderr
	random  *rand.ChaCha8
	start   time.Time
	memory  memory
	last    []byte // response of the last call_into
}

type callKey struct{}

func newCall(ctx context.Context, env *sandbox.Env, command bool) *call {
	return &call{
		Context: ctx,
		env:     env,
		command: command,
		stdin:   env.Input,
		random:  rand.NewChaCha8(env.Seed),
		start:   time.Now(),
		memory:  memory{limit: uint64(max(env.Limits.Memory, 0))},
	}
}

// Value makes a call the context that it runs in. It passes on the allocator of
// the context that it was made in, bounded by the call's limit.
func (c *call) Value(key any) any {
	if key == (callKey{}) {
		return c
	}
	v := c.Context.Value(key)
	if inner, ok := v.(experimental.MemoryAllocator); ok {
		return experimental.MemoryAllocatorFunc(func(capacity, max uint64) experimental.LinearMemory {
			return c.memory.allocate(inner, capacity, max)
		})
	}
	return v
}

// logs writes to the logs no more than they could hold anyway.
func (c *call) logs(b []byte) {
	_, _ = c.env.Logs.Write(b[:min(len(b), c.env.Limits.Logs+1)])
}

func (c *call) outputTooLarge() *sandbox.Error {
	return sandbox.Errorf(sandbox.OutputTooLarge, "the output is larger than %d bytes", c.env.Limits.Output)
}
