package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
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

// recvlogical makes a command that reads a slot up to end, text values with
// protocol 1, into a file; "-" is its stdout.
func recvlogical(ctx context.Context, url, slot string, end replication.LSN, file string) *exec.Cmd {
	return exec.CommandContext(ctx, recvlogicalPath(), "--dbname", url, "--slot", slot, "--start", "--no-loop", "--verbose",
		"--endpos", end.String(), "--file", file, "--option", "proto_version=1", "--option", "publication_names="+publication)
}

// drainServer is the floor: pg_recvlogical copies messages, and parses nothing.
// The time is from its own word that it starts until it has ended.
func drainServer(ctx context.Context, url, slot string, end replication.LSN) (result drained, err error) {
	cmd := recvlogical(ctx, url, slot, end, "/dev/null")
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

// dump has pg_recvlogical write what it receives, and reads the rows out of it.
func dump(ctx context.Context, url, slot string, end replication.LSN) (c content, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := recvlogical(ctx, url, slot, end, "-")
	said := &tail{}
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return c, err
	}
	if err := cmd.Start(); err != nil {
		return c, err
	}
	c, err = readDump(bufio.NewReaderSize(out, 1<<20))
	if err != nil {
		cancel()
	}
	if ended := cmd.Wait(); ended != nil || err != nil {
		return c, fmt.Errorf("pg_recvlogical: %w; it said:\n%s", errors.Join(err, ended), said)
	}
	return c, nil
}

// readDump reads pgoutput messages without the length that the protocol gives
// each: pg_recvlogical writes a newline instead.
func readDump(r *bufio.Reader) (c content, err error) {
	for {
		kind, err := r.ReadByte()
		if errors.Is(err, io.EOF) {
			return c, nil
		}
		if err != nil {
			return c, err
		}
		switch kind {
		case 'B':
			_, err = r.Discard(8 + 8 + 4)
		case 'C':
			_, err = r.Discard(1 + 8 + 8 + 8)
		case 'R':
			err = skipRelation(r)
		case 'I':
			err = readInsert(r, &c)
		default:
			err = fmt.Errorf("message %q is not expected", kind)
		}
		if err == nil {
			_, err = r.Discard(1)
		}
		if err != nil {
			return c, err
		}
	}
}

func skipRelation(r *bufio.Reader) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	for range 2 { // namespace and name
		if _, err := r.ReadBytes(0); err != nil {
			return err
		}
	}
	columns, err := readUint16(r, 1)
	for range columns {
		if _, err := r.Discard(1); err != nil {
			return err
		}
		if _, err := r.ReadBytes(0); err != nil {
			return err
		}
		if _, err := r.Discard(4 + 4); err != nil {
			return err
		}
	}
	return err
}

func readInsert(r *bufio.Reader, c *content) error {
	columns, err := readUint16(r, 4+1)
	if err != nil {
		return err
	}
	c.Rows++
	for range columns {
		kind, err := r.ReadByte()
		if err != nil {
			return err
		}
		if kind != 't' {
			return fmt.Errorf("a value of kind %q is not expected", kind)
		}
		var length [4]byte
		if _, err := io.ReadFull(r, length[:]); err != nil {
			return err
		}
		value, err := r.Peek(int(binary.BigEndian.Uint32(length[:])))
		if err != nil {
			return err
		}
		c.add(value)
		if _, err := r.Discard(len(value)); err != nil {
			return err
		}
	}
	return nil
}

// readUint16 reads a number after so many bytes.
func readUint16(r *bufio.Reader, after int) (int, error) {
	if _, err := r.Discard(after); err != nil {
		return 0, err
	}
	var n [2]byte
	_, err := io.ReadFull(r, n[:])
	return int(binary.BigEndian.Uint16(n[:])), err
}
