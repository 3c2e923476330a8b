package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/helixd/helixd/testenv"
)

// terminal is a pseudo-terminal: a process on it asks, and shows how far it is.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = master.Close() })
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// onTerminal runs helixd on one, types the answer once it is asked, and gives what
// was shown.
func onTerminal(t *testing.T, url, slot, asks, answer string, args ...string) (shown string, err error) {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	master, slave := terminal(t)
	cmd := exec.Command(path, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "SUPABASE_DB_URL="+url, "HELIX_SLOT="+slot)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // of one that has ended it is nothing
	_ = slave.Close()                            // reads end with the process
	var all bytes.Buffer
	answered := false
	for buf := make([]byte, 4096); ; {
		n, err := master.Read(buf)
		all.Write(buf[:n])
		if !answered && strings.Contains(all.String(), asks) {
			answered = true
			if _, err := io.WriteString(master, answer+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		if errors.Is(err, unix.EIO) || errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !answered {
		t.Errorf("it did not ask %q", asks)
	}
	return all.String(), cmd.Wait()
}

// TestOnATerminal: what destroys asks, takes one answer only, and shows its progress.
func TestOnATerminal(t *testing.T) {
	t.Parallel()
	x := streaming(t, testenv.New(t))
	url := x.db.URL("postgres")
	const asks = "Make the slot anew? Type yes to go on: "
	for _, answer := range []string{"y", "", "no", "yes please"} {
		shown, err := onTerminal(t, url, x.slot, asks, answer, "slot", "recreate")
		if err == nil || !strings.Contains(shown, "nothing was done") || x.repairs(t) != 0 {
			t.Errorf("after %q: %v\n%s", answer, err, shown)
		}
	}
	shown, err := onTerminal(t, url, x.slot, asks, "yes", "slot", "recreate")
	if err != nil || !strings.Contains(shown, "rows read") || !strings.Contains(shown, "streaming again, from a new slot") || x.repairs(t) != 1 {
		t.Errorf("%v\n%s", err, shown)
	}
	x.passes(t)
	x.stop(t)
}
