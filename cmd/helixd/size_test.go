package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/helixd/helixd/testenv"
)

// mostBytes is what the released program may have, without cgo, debugging data and the
// paths of this machine. It is promised to have less than 60 MB; far below that this
// notices the day when something calls methods by names that are not constants, as
// text/template does: the linker then keeps every exported method, which is 20 MB.
const mostBytes = 50_000_000

// mostResident is what that program may hold in memory while nobody writes, from
// idleAfter on.
const (
	mostResident = 40_000_000
	idleAfter    = 15 * time.Second
)

func TestSize(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "helixd")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.1f MB", float64(info.Size())/1e6)
	if info.Size() > mostBytes {
		t.Errorf("the program has %d bytes, and is to have %d at most; go build -ldflags=-dumpdep ./cmd/helixd 2>&1 | grep '<ReflectMethod>' may say why", info.Size(), mostBytes)
	}
	t.Run("idle", func(t *testing.T) {
		if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
			t.Skip("the program is for Linux on amd64")
		}
		db := testenv.New(t)
		migrated(t, db)
		p := startOf(t, func() (string, error) { return path, nil }, db.URL("postgres"), []string{"HELIX_HTTP=127.0.0.1:0"}, "run", "--slot", db.SlotName("size"))
		until(t, "it to stream", func() bool { return p.says(`"streaming"`) })
		<-time.After(idleAfter) // what is measured is what it holds then
		resident := memory(t, p.Pid(), "VmRSS")
		t.Logf("%.1f MB resident", float64(resident)/1e6)
		if resident > mostResident {
			t.Errorf("it holds %d bytes, and is to hold %d at most", resident, mostResident)
		}
		p.stop(t)
	})
}
