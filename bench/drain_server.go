package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/helixd/helixd/replication"
	"github.com/helixd/helixd/testenv/child"
)

// recvlogicalPath finds Postgres's own client, "" where it is not installed.
func recvlogicalPath() string {
	if path, err := exec.LookPath("pg_recvlogical"); err == nil {
		return path
	}
	if dir, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		if path, err := exec.LookPath(filepath.Join(strings.TrimSpace(string(dir)), "pg_recvlogical")); err == nil {
			return path
		}
	}
	return ""
}

// drainServer is the floor: pg_recvlogical copies messages, text values with
// protocol 1, and parses nothing.
// The time is from its own word that it starts until it has ended.
func drainServer(ctx context.Context, url, slot string, end replication.LSN) (result drained, err error) {
	cmd := exec.CommandContext(ctx, recvlogicalPath(), "--dbname", url, "--slot", slot, "--start", "--no-loop", "--verbose",
		"--endpos", end.String(), "--file", "/dev/null", "--option", "proto_version=1", "--option", "publication_names="+publication)
	said := &startWatch{&child.Output{Most: logKept}, time.Time{}}
	cmd.Stderr = said
	p, err := child.Start(cmd, syscall.SIGKILL)
	if err != nil {
		return result, err
	}
	// Its memory can be read while it runs only: afterwards the kernel counts the
	// parent's that it was forked from.
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for running := true; running; {
		result.PeakMB = max(result.PeakMB, peakRSS(p.Pid()))
		select {
		case <-p.Done:
			running = false
		case <-tick.C:
		}
	}
	ended := time.Now()
	if p.Err != nil || said.began.IsZero() {
		return result, fmt.Errorf("pg_recvlogical: %w; it said:\n%s", errors.Join(p.Err, ctx.Err()), said.Output)
	}
	result.Seconds, result.CPU = ended.Sub(said.began).Seconds(), cpu(p)
	return result, nil
}

// startWatch notes when pg_recvlogical says that it starts the stream.
type startWatch struct {
	*child.Output
	began time.Time // read once the process has ended
}

func (w *startWatch) Write(p []byte) (int, error) {
	n, err := w.Output.Write(p)
	if w.began.IsZero() && strings.Contains(w.Output.String(), "starting log streaming") {
		w.began = time.Now()
	}
	return n, err
}
