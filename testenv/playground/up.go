package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/testenv"
	"github.com/helixd/helixd/testenv/child"
)

// upTimeout bounds how long up waits, after the build.
const upTimeout = 2 * time.Minute

// up leaves a Postgres with helixd up, and says how to use it.
func up(ctx context.Context, out *printer, r repo) error {
	return r.inTurn(ctx, func(pid int) error {
		if pid != 0 {
			return r.isUp(ctx, out, pid)
		}
		return r.bringUp(ctx, out)
	})
}

// isUp says what is there already.
func (r repo) isUp(ctx context.Context, out *printer, pid int) error {
	env, err := r.wait(ctx, nil)
	if err != nil {
		return fmt.Errorf("an environment is there, of process %d, but does not answer: %w; end it with: make dev-down", pid, err)
	}
	if !streams(ctx, env) {
		out.line("%s", out.bad("Postgres is up, but its helixd has ended or does not stream: see "+r.relative(r.devLog())+"."))
		out.line("To begin anew: make dev-down, then make dev.")
		return guide(out, r, env)
	}
	out.line("%s", out.bold("It is up already."))
	return guide(out, r, env)
}

// bringUp begins anew.
func (r repo) bringUp(ctx context.Context, out *printer) error {
	out.line("%s", out.bold("helixd beside a fresh Postgres, to play with (what an earlier one held is gone)"))
	out.line("")
	if err := errors.Join(ignoreMissing(os.Remove(r.devEnv())), ignoreMissing(os.Remove(r.devLog()))); err != nil {
		return err
	}
	if err := r.build(ctx, out, r.binary()); err != nil {
		return err
	}
	env, err := r.startSupervisor(ctx, out)
	if err != nil {
		return err
	}
	out.line("")
	out.line("%s", out.good("It is up."))
	return guide(out, r, env)
}

// streams reports whether a helixd uses its slot.
func streams(ctx context.Context, env devEnv) bool {
	conn, err := pgx.Connect(ctx, env.url)
	if err != nil {
		return false
	}
	defer conn.Close(ctx) //nolint:errcheck // only read from
	var active bool
	err = conn.QueryRow(ctx, "select exists (select from pg_replication_slots where active and database = current_database())").Scan(&active)
	return err == nil && active
}

// startSupervisor starts `playground supervise` and returns when all is up. When that fails, or ctx ends, nothing is
// left.
func (r repo) startSupervisor(ctx context.Context, out *printer) (env devEnv, err error) {
	self, err := os.Executable()
	if err != nil {
		return env, err
	}
	log, err := os.Create(r.devSupLog())
	if err != nil {
		return env, err
	}
	defer log.Close()
	cmd := exec.Command(self, "supervise")
	cmd.Dir = string(r)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // the terminal's end is not its own
	s, err := child.Start(cmd, 0)                        // it outlives this process
	if err != nil {
		return env, err
	}
	told := &follower{path: r.devSupLog(), w: out.w}
	env, err = r.wait(ctx, func() error {
		ended := s.Ended() // before its last words are read
		if err := told.copy(); err != nil {
			return err
		}
		if ended {
			return fmt.Errorf("playground supervise has ended (%v); what it said is in %s too", s.Err, r.relative(r.devSupLog()))
		}
		return nil
	})
	if err != nil && !s.Ended() {
		if ended := s.Stop(syscall.SIGTERM, downTimeout); ended != nil {
			err = errors.Join(err, fmt.Errorf("%w: playground supervise: %w", errLeft, ended))
		}
	}
	return env, errors.Join(err, told.copy())
}

// wait returns when dev.env is there and the database that it names answers. It gives up when alive, which may be nil,
// fails.
func (r repo) wait(ctx context.Context, alive func() error) (env devEnv, err error) {
	err = testenv.Poll(ctx, upTimeout, 20*time.Millisecond, "wait until it is up", func() (bool, error) {
		if alive != nil {
			if err := alive(); err != nil {
				return true, err
			}
		}
		var err error
		env, err = readDevEnv(r.devEnv())
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return true, err
		}
		conn, err := pgx.Connect(ctx, env.url)
		if err != nil {
			return true, err
		}
		return true, conn.Close(ctx)
	})
	return env, err
}

// follower copies what a file grows by.
type follower struct {
	path string
	w    io.Writer
	at   int64
}

func (f *follower) copy() error {
	file, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Seek(f.at, io.SeekStart); err != nil {
		return err
	}
	n, err := io.Copy(f.w, file)
	f.at += n
	return err
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
