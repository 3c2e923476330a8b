package child_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/helixd/helixd/testenv"
	"github.com/helixd/helixd/testenv/child"
)

// parentEnv makes this test binary a parent that waits to be killed.
const parentEnv = "HELIX_CHILD_TEST_PARENT"

const patience = 20 * time.Second

func TestMain(m *testing.M) {
	if os.Getenv(parentEnv) == "" {
		os.Exit(m.Run())
	}
	p, err := child.Start(exec.Command("sleep", "1000"), syscall.SIGKILL)
	if err != nil {
		panic(err)
	}
	fmt.Println(p.Pid())
	select {}
}

// shell runs a script, and gives it back once it has said that it is ready.
func shell(t *testing.T, script string) (*child.Process, *child.Output) {
	t.Helper()
	p, said := child.Run(t, "sh", exec.Command("sh", "-c", script))
	testenv.Until(t, patience, "the script", func() bool { return strings.HasPrefix(said.String(), "ready") })
	return p, said
}

func TestStop(t *testing.T) {
	t.Run("Heeded", func(t *testing.T) {
		p, said := shell(t, `trap 'echo bye >&2; exit 3' TERM; echo ready; while :; do sleep 0.01; done`)
		if p.Ended() {
			t.Error("it has ended before")
		}
		err := p.Stop(syscall.SIGTERM, patience)
		var exit *exec.ExitError
		if err != nil || !errors.As(p.Err, &exit) || exit.ExitCode() != 3 || said.String() != "ready\nbye\n" || !p.Ended() {
			t.Errorf("stopped with %v, ended with %v, said %q", err, p.Err, said)
		}
		if err := p.Stop(syscall.SIGTERM, patience); err != nil {
			t.Errorf("again: %v", err)
		}
	})
	t.Run("NotHeeded", func(t *testing.T) {
		p, _ := shell(t, `trap '' TERM; echo ready; while :; do sleep 0.01; done`)
		if err := p.Stop(syscall.SIGTERM, 50*time.Millisecond); !errors.Is(err, child.ErrKilled) || !p.Ended() {
			t.Errorf("stopped with %v, ended %t", err, p.Ended())
		}
	})
}

func TestParentKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends a child when its parent is killed")
	}
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), parentEnv+"=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	_, err = fmt.Fscanln(bufio.NewReader(out), &pid)
	_ = parent.Process.Kill()
	_ = parent.Wait() // killed
	if err != nil {
		t.Fatal(err)
	}
	// A zombie, where nobody takes orphans in, has ended too.
	testenv.Until(t, patience, "the child to end", func() bool {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		return err != nil || strings.Contains(string(status), "State:\tZ")
	})
}

func TestOutput(t *testing.T) {
	for most, want := range map[int]string{0: "one two three", 5: "three", 100: "one two three"} {
		o := &child.Output{Most: most}
		for _, part := range []string{"one ", "two ", "three"} {
			if n, err := o.Write([]byte(part)); n != len(part) || err != nil {
				t.Errorf("wrote %d: %v", n, err)
			}
		}
		if o.String() != want {
			t.Errorf("of at most %d is kept %q", most, o)
		}
	}
}
