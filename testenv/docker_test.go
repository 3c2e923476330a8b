package testenv_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/helixd/helixd/testenv"
)

// forContainers skips a test where no container can be had at once: an image is not pulled for it.
func forContainers(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a container")
	}
	if out, err := exec.CommandContext(t.Context(), "docker", "version").CombinedOutput(); err != nil {
		t.Skipf("no container engine answers: %s", strings.TrimSpace(string(out)))
	}
	image := os.Getenv("HELIX_TESTENV_IMAGE")
	if image == "" {
		image = "supabase/postgres:15.8.1.060"
	}
	if err := exec.CommandContext(t.Context(), "docker", "image", "inspect", image).Run(); err != nil {
		t.Skipf("image %s is not on this machine: run 'docker pull %s', or testenv/image.sh and set HELIX_TESTENV_IMAGE", image, image)
	}
	t.Setenv("HELIX_TESTENV", "docker")
}

func TestContainer(t *testing.T) {
	forContainers(t)
	begun := time.Now()
	cluster := testenv.StartCluster(t, testenv.Options{Settings: map[string]string{"work_mem": "5MB"}})
	t.Logf("up after %v", time.Since(begun))
	port := cluster.Port()
	db := testenv.NewOn(t, cluster)
	db.Exec(t, "postgres", "create table notes (id uuid default auth.uid())")
	db.Exec(t, "postgres", "select pg_create_logical_replication_slot($1, 'pgoutput')", db.SlotName("x"))
	user := db.NewUser(t)
	for _, mode := range []testenv.RestartMode{testenv.Immediate, testenv.Fast} {
		if _, err := db.AsUser(t, user.ID).Exec(t.Context(), "insert into notes default values"); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if err := cluster.Restart(t.Context(), mode); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s restart: %v", mode, time.Since(begun))
	}
	var rows int
	var workMem string
	err := db.Connect(t, "postgres").QueryRow(t.Context(), "select count(*), current_setting('work_mem') from notes where id = $1", user.ID).Scan(&rows, &workMem)
	if err != nil || rows != 2 || workMem != "5MB" || cluster.Port() != port {
		t.Errorf("%d rows, work_mem %s, port %d, %v; want 2, 5MB, %d", rows, workMem, cluster.Port(), err, port)
	}
}
