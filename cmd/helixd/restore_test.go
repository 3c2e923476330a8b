package main_test

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/helixd/helixd/testenv"
)

// TestRestoredToEarlierPoint restores a base backup, as a project's point in
// time recovery does: the system identifier stays, the timeline is a new one,
// what helixd knew goes back with the rows, and slots do not come along.
func TestRestoredToEarlierPoint(t *testing.T) {
	t.Parallel()
	db := testenv.NewOn(t, testenv.StartCluster(t, testenv.Options{}))
	x := streaming(t, db)
	dir := backup(t, db)
	then := x.n
	x.passes(t) // this will not have happened
	x.passes(t)
	x.stop(t)

	cluster := testenv.StartCluster(t, testenv.Options{Dir: dir, Settings: map[string]string{"restore_command": "false"}})
	restored, err := cluster.NewDatabase(t.Context(), db.Name())
	if err != nil {
		t.Fatal(err)
	}
	x.db, x.admin, x.n = restored, restored.Connect(t, "postgres"), then
	resolvedTo(t, x.admin, x.known, x.text())
	if n := get[int](t, x.admin, "select timeline_id from pg_control_checkpoint()"); n != 2 {
		t.Errorf("timeline %d: this was no restore", n)
	}
	x.edit(t, "sync_state")
	x.process = start(t, restored.URL("postgres"), nil, "run", "--slot", x.slot)
	resolvedTo(t, x.admin, x.known, x.text())
	x.says(t, "the slot is gone")
	x.passes(t)
	x.stop(t)
}

// backup copies a running server's data, with what makes it one to restore
// from. It gives a folder that StartCluster starts.
func backup(t *testing.T, db *testenv.Database) string {
	t.Helper()
	admin := db.Connect(t, "supabase_admin")
	data := get[string](t, admin, "show data_directory")
	info, err := os.Stat(filepath.Join(data, "PG_VERSION"))
	if err != nil {
		t.Skip("the server's files are not on this machine: ", err)
	}
	owner := info.Sys().(*syscall.Stat_t) // the server starts with files of its own user only
	dir, err := os.MkdirTemp("", "helix-restored-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	copyTo := filepath.Join(dir, "data")
	do := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil && name != "cp" { // files may go while they are copied
			t.Fatalf("%s: %v: %s", name, err, out)
		}
	}
	exec1(t, admin, "select pg_backup_start('test', true)")
	do("cp", "-a", data, copyTo)
	label := get[string](t, admin, "select labelfile from pg_backup_stop(false)")
	do("cp", "-a", filepath.Join(data, "pg_wal"), copyTo)
	do("sh", "-c", "rm -rf "+copyTo+"/postmaster.* "+copyTo+"/pg_replslot/*")
	u, err := url.Parse(db.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	for name, content := range map[string]string{"data/backup_label": label, "data/recovery.signal": "", "password": password} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(filepath.Join(dir, name), int(owner.Uid), int(owner.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	if strings.TrimSpace(label) == "" {
		t.Fatal("the backup has no label")
	}
	return dir
}
