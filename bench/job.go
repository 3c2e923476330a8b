package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"syscall"

	"github.com/helixd/helixd/testenv/child"
)

// runChild runs this binary with a variable of the environment set, a job on its
// stdin and its result on its stdout.
func runChild(ctx context.Context, env string, job, result any) (*child.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), env+"=1")
	return runJob(ctx, cmd, job, result)
}

// runJob runs a program that reads a job and writes its result, both JSON.
func runJob(ctx context.Context, cmd *exec.Cmd, job, result any) (*child.Process, error) {
	in, err := json.Marshal(job)
	if err != nil {
		return nil, err
	}
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	var out bytes.Buffer
	cmd.Stdout = &out
	p, err := child.Start(cmd, syscall.SIGKILL)
	if err != nil {
		return nil, err
	}
	<-p.Done
	if p.Err != nil {
		return nil, errors.Join(p.Err, ctx.Err())
	}
	return p, json.Unmarshal(out.Bytes(), result)
}
