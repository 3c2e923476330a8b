package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/pprof"
	"slices"

	"github.com/helixd/helixd/replication"
)

// drainEnv makes this binary drain a slot instead: each drain has a process of
// its own, whose memory nobody else has touched.
const drainEnv = "HELIX_BENCH_CHILD"

// drainJob is what a child reads from its stdin.
type drainJob struct {
	Peer        string          `json:"peer"` // whom drains knows
	URL         string          `json:"url"`
	Slot        string          `json:"slot"`
	Publication string          `json:"publication"`
	Table       string          `json:"table"`
	From        replication.LSN `json:"from"`
	Changes     int             `json:"changes"` // that it ends after
	End         replication.LSN `json:"end"`     // of the last commit
	Durable     bool            `json:"durable"` // apply them; else a null sink
	CPUProfile  string          `json:"cpu_profile"`
}

// drained is what it writes to its stdout.
type drained struct {
	Seconds   float64 `json:"seconds"` // from the start of the stream until the last commit is received, and applied
	PeakMB    float64 `json:"peak_mb"`
	CPU       float64 `json:"-"`       // seconds of the whole process, as the kernel counts them
	SenderCPU float64 `json:"-"`       // of the server's process for it
	Content   content `json:"content"` // with a null sink
}

// drains are the sides that run in a child; pg_recvlogical is a program of its own.
func drains(peer string) func(context.Context, drainJob) (drained, error) {
	switch peer {
	case nameHelixd:
		return drainHelixd
	case nameBare:
		return drainBare
	}
	for _, form := range slices.Concat(cdcForms, cdcApplied) {
		if form.String() == peer {
			return goPQCDC(form)
		}
	}
	return nil
}

func drainMain() int {
	var job drainJob
	err := json.NewDecoder(os.Stdin).Decode(&job)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: a child's job:", err)
		return 2
	}
	out := os.Stdout
	if os.Stdout, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0); err != nil { // go-pq-cdc prints its configuration
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 2
	}
	result, err := runDrain(job)
	if err == nil {
		err = json.NewEncoder(out).Encode(result)
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
	result, err = drains(job.Peer)(context.Background(), job)
	pprof.StopCPUProfile()
	result.PeakMB = peakRSS(os.Getpid())
	return result, err
}

// startDrain runs a job in a child.
func startDrain(ctx context.Context, job drainJob) (result drained, err error) {
	p, err := runChild(ctx, drainEnv, job, &result)
	if err == nil {
		result.CPU = cpu(p)
	}
	return result, err
}
