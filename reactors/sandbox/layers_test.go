package sandbox_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors/sandbox"
)

func TestLayers(t *testing.T) {
	t.Run("all that are required hold here", func(t *testing.T) {
		p := newPool(t)
		if len(p.Layers()) == 0 {
			t.Fatal("no layers")
		}
		for _, l := range p.Layers() {
			if l.Required && !l.Active {
				t.Errorf("%+v", l)
			}
		}
	})

	// A child that is no sandbox child says nothing of layers.
	broken := func(unsafe bool) *sandbox.Pool {
		return newPool(t, func(c *sandbox.Config) {
			c.Command, c.AllowUnsafe = []string{"/bin/sh", "-c", "echo the kernel is too old >&2"}, unsafe
		})
	}
	t.Run("where no child starts nothing is run, and why is said", func(t *testing.T) {
		for _, unsafe := range []bool{false, true} {
			_, err := broken(unsafe).Run(context.Background(), do(deed{Do: "echo"}))
			e := wantCode(t, err, sandbox.Unavailable)
			if !strings.Contains(e.Message, "the kernel is too old") {
				t.Errorf("%s", e.Message)
			}
		}
	})

	// A child that lies is the only way to lack a layer on a machine that has all.
	lacking := func(unsafe bool) *sandbox.Pool {
		return newPool(t, func(c *sandbox.Config) {
			c.Command, c.AllowUnsafe = []string{"/proc/self/exe", lackingArg}, unsafe
		})
	}
	t.Run("where a required layer lacks nothing is run", func(t *testing.T) {
		p := lacking(false)
		_, err := p.Check(context.Background(), "ada", hostileCode("good"))
		e := wantCode(t, err, sandbox.Unavailable)
		if !strings.Contains(e.Message, "seccomp (no filter)") || !strings.Contains(e.Message, "HELIX_SANDBOX=unsafe") || strings.Contains(e.Message, "landlock") {
			t.Errorf("%s", e.Message)
		}
		if l := p.Layers(); len(l) != 2 || l[0].Active {
			t.Errorf("%+v", l)
		}
	})
	t.Run("unless the operator accepts it", func(t *testing.T) {
		_, err := lacking(true).Check(context.Background(), "ada", hostileCode("good"))
		if e := wantCode(t, err, sandbox.Unavailable); strings.Contains(e.Message, "HELIX_SANDBOX") {
			t.Errorf("%s", e.Message) // it went on to a child, which can do no more than say hello
		}
	})
}

// lackingArg makes this binary a child that says hello without its layers.
const lackingArg = "lacking-child"

func lackingChild() {
	layers, err := json.Marshal([]sandbox.Layer{
		{Name: "seccomp", Required: true, Detail: "no filter"}, {Name: "landlock", Detail: "not in this kernel"},
	})
	if err != nil {
		panic(err)
	}
	socket := os.NewFile(3, "socket")
	buf := make([]byte, 4096)
	if _, err := socket.Read(buf); err != nil {
		panic(err)
	}
	if _, err := socket.Write(append([]byte{32, byte(len(layers)), 0, 0, 0}, layers...)); err != nil {
		panic(err)
	}
}

// parentArg makes this binary a daemon whose pool runs a child until it is killed.
const parentArg = "sandbox-parent"

func parent() {
	p, err := sandbox.NewPool(context.Background(), sandbox.Config{
		Dir: os.Args[2], Workers: 1, Limits: testLimits, Log: zerolog.Nop(),
	})
	if err != nil {
		panic(err)
	}
	r, err := p.Run(context.Background(), do(deed{Do: "pid"}))
	if err != nil {
		panic(err)
	}
	fmt.Println(string(r.Output))
	_, _ = p.Run(context.Background(), do(deed{Do: "loop"}))
}

func TestKilledParentLeavesNoChild(t *testing.T) {
	cmd := exec.Command("/proc/self/exe", parentArg, openDir(t))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(bufio.NewReader(out), &pid); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("the child %d is not there before: %v", pid, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	waitFor(t, func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH })
}
