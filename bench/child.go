package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/pprof"

	"github.com/helixd/helixd/replication"
)

// childEnv makes this binary drain a slot instead: each drain has a process of
// its own, whose memory nobody else has touched.
const childEnv = "HELIX_BENCH_CHILD"

// drainJob is what a child reads from its stdin.
type drainJob struct {
	Peer        string          `json:"peer"` // a key of drains
	URL         string          `json:"url"`
	Slot        string          `json:"slot"`
	Publication string          `json:"publication"`
	From        replication.LSN `json:"from"`
	Rows        int             `json:"rows"` // that it ends after
	CPUProfile  string          `json:"cpu_profile"`
}

// drained is what it writes to its stdout.
type drained struct {
	Seconds float64 `json:"seconds"` // from the start of the stream to the last commit
	PeakMB  float64 `json:"peak_mb"`
}

// drains are the sides of the drain.
var drains = map[string]func(context.Context, drainJob) (seconds float64, err error){
	"helixd":         drainHelixd,
	"bare pglogrepl": drainBare,
}

func childMain() int {
	var job drainJob
	if err := json.NewDecoder(os.Stdin).Decode(&job); err != nil {
		fmt.Fprintln(os.Stderr, "bench: a child's job:", err)
		return 2
	}
	result, err := runDrain(job)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(result)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: drain with %s: %v\n", job.Peer, err)
		return 1
	}
	return 0
}

func runDrain(job drainJob) (result drained, err error) {
	if job.CPUProfile != "" {
		f, err := os.Create(job.CPUProfile)
		if err != nil {
			return result, err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return result, err
		}
	}
	result.Seconds, err = drains[job.Peer](context.Background(), job)
	pprof.StopCPUProfile()
	result.PeakMB = peakRSS("self")
	return result, err
}

// startDrain runs a job in a child.
func startDrain(ctx context.Context, job drainJob) (result drained, err error) {
	self, err := os.Executable()
	if err != nil {
		return result, err
	}
	in, err := json.Marshal(job)
	if err != nil {
		return result, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), childEnv+"=1")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	var out bytes.Buffer
	cmd.Stdout = &out
	p, err := startProcess(cmd)
	if err != nil {
		return result, err
	}
	<-p.done
	if p.err != nil {
		return result, errors.Join(p.err, ctx.Err())
	}
	return result, json.Unmarshal(out.Bytes(), &result)
}
