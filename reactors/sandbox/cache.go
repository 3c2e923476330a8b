package sandbox

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// cache is the directory with the code of programs and what was compiled of it,
// and the verdict on each. It belongs to one process: a compiled program is
// native code, which only this process' compile children may have written.
type cache struct {
	dir  string
	most int64    // bytes
	lock *os.File // of dir, while this process lives

	mu      sync.Mutex
	entries map[program]*entry
	bytes   int64
}

// entry is one program. Once ready is closed, the rest but used and runs stays.
type entry struct {
	ready  chan struct{}
	report Report
	err    error // a verdict, or why there is none
	bytes  int64

	used time.Time
	runs int // that need the files
}

// maxEntries bounds the verdicts; those on bad programs have no files.
const maxEntries = 4096

const ownPrefix = "sandbox-" // and a random part

// newCache makes a directory within dir, and removes those of processes that are
// gone: whose locks nobody has. Their pids would say less, since in containers
// each helixd has the same.
func newCache(dir string, most int64) (*cache, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find the sandbox's directory: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the sandbox's directory: %w", err)
	}
	all, err := lock(dir, syscall.LOCK_EX) // nobody sweeps one that is not locked yet
	if err != nil {
		return nil, err
	}
	defer all.Close()
	if err := sweep(dir); err != nil {
		return nil, fmt.Errorf("sweep the sandbox's directory: %w", err)
	}
	own, err := os.MkdirTemp(dir, ownPrefix)
	if err != nil {
		return nil, fmt.Errorf("make the sandbox's directory: %w", err)
	}
	c := &cache{dir: own, most: most, entries: map[program]*entry{}}
	if c.lock, err = lock(own, syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, os.RemoveAll(own))
	}
	for _, d := range []string{own, filepath.Join(own, "code"), filepath.Join(own, "compiled")} {
		if err := makeDir(d); err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	return c, nil
}

// lock holds a directory's lock until the file is closed, at the latest by the
// end of the process.
func lock(dir string, how int) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("lock the sandbox's directory: %w", err)
	}
	for {
		if err = syscall.Flock(int(f.Fd()), how); err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", dir, err), f.Close())
	}
	return f, nil
}

// makeDir makes a directory that children can read, whatever the umask.
func makeDir(dir string) error {
	err := os.Mkdir(dir, 0o755)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make the sandbox's directory: %w", err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return fmt.Errorf("make the sandbox's directory: %w", err)
	}
	return nil
}

func sweep(dir string) error {
	found, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, d := range found {
		if !strings.HasPrefix(d.Name(), ownPrefix) {
			continue
		}
		left := filepath.Join(dir, d.Name())
		abandoned, err := lock(left, syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, fs.ErrNotExist) { // another's, or it goes
			continue
		}
		if err != nil {
			return err
		}
		if err := errors.Join(os.RemoveAll(left), abandoned.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (c *cache) close() error {
	defer c.lock.Close() // which may be closed
	return os.RemoveAll(c.dir)
}

// use finds a program's entry, or makes it: then lead is true, and the caller
// decides it. The files stay until done.
func (c *cache) use(p program) (e *entry, lead bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e = c.entries[p]
	if e == nil {
		e, lead = &entry{ready: make(chan struct{})}, true
		c.entries[p] = e
	}
	e.runs++
	e.used = time.Now()
	return e, lead
}

func (c *cache) done(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.runs--
}

// decide closes an entry that was made by use. One without a verdict is
// forgotten; what is too much is removed.
func (c *cache) decide(p program, e *entry, report Report, err error) {
	var bad *Error
	verdict := err == nil || errors.As(err, &bad) && !bad.Retryable() && bad.Code != Cancelled
	e.report, e.err = report, err
	if err == nil {
		e.bytes = c.size(p)
	} else {
		c.remove(p)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if verdict {
		c.bytes += e.bytes
		c.shrink()
	} else {
		delete(c.entries, p)
	}
	close(e.ready)
}

// forget drops an entry whose files do not serve.
func (c *cache) forget(p program, e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[p] == e {
		delete(c.entries, p)
		c.bytes -= e.bytes
	}
}

// shrink removes the programs that were not used for longest.
func (c *cache) shrink() {
	for c.bytes > c.most || len(c.entries) > maxEntries {
		var oldest program
		var found *entry
		for p, e := range c.entries {
			if e.runs == 0 && (found == nil || e.used.Before(found.used)) {
				oldest, found = p, e
			}
		}
		if found == nil {
			return
		}
		delete(c.entries, oldest)
		c.bytes -= found.bytes
		c.remove(oldest)
	}
}

// remove ignores errors: what is left is removed with the directory.
func (c *cache) remove(p program) {
	_ = os.Remove(codeFile(c.dir, p))
	_ = os.RemoveAll(programDir(c.dir, p))
}

// size is how many bytes a program's files have.
func (c *cache) size(p program) (bytes int64) {
	if info, err := os.Stat(codeFile(c.dir, p)); err == nil {
		bytes = info.Size()
	}
	_ = filepath.WalkDir(programDir(c.dir, p), func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// store writes a program's code and makes the directories of its compile child.
// The code is what it is said to be, and safe to decode.
func (c *cache) store(ctx context.Context, p Program) error {
	own := program{kind: p.Kind, sum: p.SHA256}
	for _, dir := range []string{programDir(c.dir, own), compileDir(c.dir, own)} {
		if err := errors.Join(makeDir(dir), giveToChild(dir)); err != nil {
			return Errorf(Unavailable, "%v", err)
		}
	}
	f, err := os.OpenFile(codeFile(c.dir, own), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return Errorf(Unavailable, "store the code: %v", err)
	}
	defer f.Close()
	if err := f.Chmod(0o644); err != nil {
		return Errorf(Unavailable, "store the code: %v", err)
	}
	sum, size := sha256.New(), int64(0)
	err = p.Code(ctx, func(part []byte) error {
		if size += int64(len(part)); size > MaxModule {
			return Errorf(ModuleTooLarge, "The code has more than %d MB.", MaxModule>>20)
		}
		sum.Write(part)
		_, err := f.Write(part)
		return err
	})
	var bad *Error
	switch {
	case errors.As(err, &bad):
		return bad
	case ctx.Err() != nil:
		return cancelled(ctx)
	case err != nil:
		return &Error{Code: Unavailable, Message: "The code could not be read.", cause: err}
	case [sha256.Size]byte(sum.Sum(nil)) != p.SHA256:
		return Errorf(Unavailable, "The code that was read is not that of its sha256.")
	case p.Kind != KindWASM:
		return nil
	}
	return precheckModule(f, size)
}
