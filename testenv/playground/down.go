package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/helixd/helixd/testenv"
)

// downTimeout is how long the supervisor has to end helixd, which it gives 20 s, and Postgres.
const downTimeout = 45 * time.Second

// down ends what up has left up. It is fine when nothing is.
func down(ctx context.Context, out *printer, r repo) error {
	return r.inTurn(ctx, func(pid int) error {
		if pid == 0 {
			out.line("Nothing is up.")
			return r.removeDev()
		}
		err := out.step("ending it", func() (string, error) {
			if err := r.end(ctx, pid); err != nil {
				return "", err
			}
			return "helixd and Postgres are gone", nil
		})
		if err != nil {
			return err
		}
		return r.removeDev()
	})
}

// end ends the supervisor, by its lock's word still alive, and waits until it has let go of it.
func (r repo) end(ctx context.Context, pid int) error {
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("end process %d: %w", pid, err)
	}
	gone := func() (bool, error) {
		still, err := r.supervisor()
		return err != nil || still == 0, err
	}
	err := testenv.Poll(ctx, downTimeout, 20*time.Millisecond, "wait until it has ended", gone)
	if err == nil || ctx.Err() != nil {
		return err
	}
	_ = syscall.Kill(pid, syscall.SIGKILL) // the kernel ends helixd and Postgres with it
	return errors.Join(fmt.Errorf("process %d did not end on SIGTERM and was killed: %w", pid, err),
		testenv.Poll(ctx, 5*time.Second, 20*time.Millisecond, "wait until it is dead", gone))
}

// removeDev removes what a supervisor leaves, a killed one too. The logs stay, for who wants to know how it ended.
func (r repo) removeDev() error {
	return errors.Join(ignoreMissing(os.Remove(r.devEnv())), ignoreMissing(os.Remove(r.devPid())), os.RemoveAll(r.devDir()))
}
