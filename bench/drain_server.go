package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/helixd/helixd/replication"
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
	said := &startWatch{tail: &tail{}}
	cmd.Stderr = said
	p, err := startProcess(cmd)
	if err != nil {
		return result, err
	}
	// Its memory can be read while it runs only: afterwards the kernel counts the
	// parent's that it was forked from.
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for running := true; running; {
		result.PeakMB = max(result.PeakMB, peakRSS(strconv.Itoa(cmd.Process.Pid)))
		select {
		case <-p.done:
			running = false
		case <-tick.C:
		}
	}
	ended := time.Now()
	if p.err != nil || said.began.IsZero() {
		return result, fmt.Errorf("pg_recvlogical: %w; it said:\n%s", errors.Join(p.err, ctx.Err()), said.tail)
	}
	result.Seconds, result.CPU = ended.Sub(said.began).Seconds(), p.cpu()
	return result, nil
}

// startWatch notes when pg_recvlogical says that it starts the stream.
type startWatch struct {
	*tail
	began time.Time // read once the process has ended
}

func (w *startWatch) Write(p []byte) (int, error) {
	n, err := w.tail.Write(p)
	if w.began.IsZero() && strings.Contains(w.tail.String(), "starting log streaming") {
		w.began = time.Now()
	}
	return n, err
}
