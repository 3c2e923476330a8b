package sandbox

import (
	"context"
	"io"
	"time"

	"github.com/tetratelabs/wazero"
)

// Guest runs programs of one kind, inside a child. It need not defend the child
// against its program: the layers around the child do that, and the parent kills.
type Guest interface {
	// Check looks at code in a compile child, compiles it into rt's compile cache
	// and puts into cache what Load wants to find there. An *Error says what is
	// wrong with the code.
	Check(ctx context.Context, rt wazero.Runtime, code []byte, cache Cache) (Report, error)
	// Load makes code ready to be run any number of times in this child, from what
	// Check left in the caches. Of a kind whose programs are modules, code is
	// without the functions' bodies; what they were compiled to is in rt's cache.
	Load(ctx context.Context, rt wazero.Runtime, code []byte, cache Cache) (Loaded, error)
}

// Loaded is a program that is ready.
type Loaded interface {
	// Run runs it once, in a fresh instance. The output is JSON; an *Error says why
	// there is none.
	Run(ctx context.Context, env *Env) (output []byte, err error)
	Close(ctx context.Context) error
}

// Cache holds what Check made of one program, by a short name of a-z.
type Cache interface {
	Read(name string) ([]byte, error) // fs.ErrNotExist
	Write(name string, content []byte) error
}

// Env is what a program sees of the world during one Run.
type Env struct {
	Input  []byte
	Limits Limits
	Seed   [32]byte
	Now    time.Time
	Logs   io.Writer // bounded: it never fails, and drops what is too much

	// HostCall sends a host call to the parent; the reply is given to Reply with
	// the same id, in any order. err is an *Error where the call is not made: with
	// HostCallLimit, or for what is too long.
	HostCall func(name string, request []byte) (id uint32, err error)
	// Reply waits for the next reply. err is an *Error, of this host call.
	Reply func() (id uint32, response []byte, err error)
	// Memory tells how large the guest's linear memory is, in bytes, at its end.
	Memory func(bytes int64)
}
