package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/helixd/helixd/testenv"
	"github.com/helixd/helixd/testenv/asr"
	"github.com/helixd/helixd/testenv/child"
)

// world is a Postgres with a database and the helixd beside it.
type world struct {
	cluster *testenv.Cluster
	db      *testenv.Database
	helixd  *child.Process
	log     string // helixd's log file

	recogniser *asr.Server // nil: there is none
}

// build makes the helixd that anybody would build.
func (r repo) build(ctx context.Context, out *printer, binary string) error {
	return out.step("building helixd", func() (string, error) {
		// An interrupted go build leaves its temporary folder, so it gets one that is removed here.
		tmp := filepath.Join(filepath.Dir(binary), ".build")
		err := os.MkdirAll(tmp, 0o755)
		if err != nil {
			return "", err
		}
		_, err = output(ctx, string(r), append(os.Environ(), "GOTMPDIR="+tmp), "go", "build", "-o", binary, "./cmd/helixd")
		if err != nil {
			err = fmt.Errorf("go build ./cmd/helixd: %w", err)
		}
		// A compiler that is just ending may still put a file there.
		removed := testenv.Poll(context.WithoutCancel(ctx), 5*time.Second, 10*time.Millisecond, "remove "+tmp, func() (bool, error) {
			err := os.RemoveAll(tmp)
			return err == nil, err
		})
		return "go build ./cmd/helixd", errors.Join(err, removed)
	})
}

// startPostgres starts a throwaway server with an empty database of that name.
func (w *world) startPostgres(ctx context.Context, out *printer, database string) error {
	return out.step("starting Postgres", func() (_ string, err error) {
		w.cluster, err = testenv.Start(ctx, testenv.Options{
			Fsync: true, // as in production: a commit without it would look faster than it is
			// What the server itself says about when a transaction committed.
			Settings: map[string]string{"track_commit_timestamp": "on"},
		})
		if err != nil {
			return "", err
		}
		w.db, err = w.cluster.NewDatabase(ctx, database)
		return fmt.Sprintf("Postgres %d on port %d, fsync on", w.cluster.Version(), w.cluster.Port()), err
	})
}

// startHelixd migrates and starts helixd run, and returns when it streams.
func (w *world) startHelixd(ctx context.Context, out *printer, binary, dir, log string) error {
	env := append(cleanEnv("SUPABASE_DB_URL="+w.db.URL("postgres"), "HELIX_LOG_FORMAT=json"), w.voiceEnv()...)
	err := out.step("migrating", func() (string, error) {
		said, err := output(ctx, dir, env, binary, "migrate")
		if err != nil {
			return "", fmt.Errorf("helixd migrate: %w", err)
		}
		return fmt.Sprintf("helixd migrate: %d files", strings.Count(said, "applying ")), nil
	})
	if err != nil {
		return err
	}
	return out.step("starting helixd", func() (string, error) {
		file, err := os.Create(log)
		if err != nil {
			return "", err
		}
		defer file.Close()
		w.log = log
		cmd := exec.Command(binary, "run")
		cmd.Dir, cmd.Env = dir, env // there is no .env of the developer's in dir
		cmd.Stdout, cmd.Stderr = file, file
		if w.helixd, err = own(cmd); err != nil {
			return "", fmt.Errorf("helixd run: %w", err)
		}
		err = testenv.Poll(ctx, time.Minute, 10*time.Millisecond, "wait until helixd streams", func() (bool, error) {
			said, err := os.ReadFile(log)
			if err != nil {
				return true, err
			}
			if strings.Contains(string(said), `"message":"streaming"`) {
				return true, nil
			}
			if w.helixd.Ended() {
				return true, fmt.Errorf("helixd run has ended: %w", cmp.Or(w.helixd.Err, errors.New("exit status 0")))
			}
			return false, nil
		})
		return "helixd run: streaming", err
	})
}

// close ends what was started, helixd first: it acknowledges what it has done.
func (w *world) close() error {
	var err error
	if w.helixd != nil {
		// Killed by hand is fine: up's world is there for it.
		running := !w.helixd.Ended()
		ended := w.helixd.Stop(syscall.SIGTERM, 20*time.Second)
		if ended = cmp.Or(ended, w.helixd.Err); running && ended != nil {
			err = fmt.Errorf("stop helixd: %w", ended)
		}
	}
	if w.recogniser != nil {
		err = errors.Join(err, w.recogniser.Close())
	}
	if w.cluster != nil {
		err = errors.Join(err, w.cluster.Stop())
	}
	return err
}
