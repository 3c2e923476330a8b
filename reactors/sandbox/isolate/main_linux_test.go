package isolate_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/helixd/helixd/reactors/sandbox/isolate"
)

// A task is what this binary does when a test executes it again.
type task struct {
	Spec    isolate.Spec
	Outside bool // do it without Enter, to see what the layers forbid
	Job     string
	Arg     string
}

var jobs = map[string]func(task) any{}

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "isolate-child" {
		child(os.Args[2])
	}
	os.Exit(m.Run())
}

// child does a task and writes what came of it to descriptor 3, as JSON.
func child(encoded string) {
	var t task
	if err := json.Unmarshal([]byte(encoded), &t); err != nil {
		fail(err)
	}
	if !t.Outside {
		if err := isolate.Enter(t.Spec); err != nil {
			fail(err)
		}
	}
	result, err := json.Marshal(jobs[t.Job](t))
	if err != nil {
		fail(err)
	}
	if _, err := os.NewFile(3, "result").Write(result); err != nil {
		fail(err)
	}
	os.Exit(0)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// command makes the child of a task; the reader gets its result.
func command(t task) (cmd *exec.Cmd, result *os.File, stderr *bytes.Buffer, err error) {
	encoded, err := json.Marshal(t)
	if err != nil {
		return nil, nil, nil, err
	}
	cmd, err = isolate.Command(t.Spec, "/proc/self/exe", "isolate-child", string(encoded))
	if err != nil {
		return nil, nil, nil, err
	}
	result, w, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	stderr = new(bytes.Buffer)
	cmd.Stderr = stderr
	cmd.ExtraFiles = []*os.File{w}
	return cmd, result, stderr, nil
}

// do has a child do a task and gives the result.
func do[T any](t task) (value T, err error) {
	cmd, result, stderr, err := command(t)
	if err != nil {
		return value, err
	}
	defer result.Close()
	err = isolate.Start(cmd)
	cmd.ExtraFiles[0].Close()
	if err != nil {
		return value, err
	}
	decoded := json.NewDecoder(result).Decode(&value)
	if err := cmd.Wait(); err != nil {
		return value, fmt.Errorf("%w: %s", err, stderr)
	}
	return value, decoded
}
