package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5"
)

// devDatabase is the database of up.
const devDatabase = "helix_dev"

// supervise owns the environment of up: it starts Postgres and helixd, says so in dev.env, and ends both on SIGTERM. It
// restarts nothing: who kills helixd to see what happens does not want it back.
func supervise(ctx context.Context, out *printer, r repo) (err error) {
	held, err := lock(r.devPid())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.Close()) }() // last of all: then everything is gone
	if err := held.Truncate(0); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(held, os.Getpid()); err != nil {
		return err
	}
	w := &world{}
	defer func() {
		if left := w.close(); left != nil {
			err = errors.Join(err, fmt.Errorf("%w: %w", errLeft, left))
		}
	}()
	env, err := r.startDev(ctx, out, w)
	if ctx.Err() != nil {
		return nil // ended before it was up, as it was told
	}
	if err != nil && w.log != "" {
		return fmt.Errorf("%w\n\n%s", err, lastLines(w.log, r.relative(w.log)))
	}
	if err != nil {
		return err
	}
	if err := env.write(r.devEnv()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(r.devEnv())) }()
	select {
	case <-ctx.Done():
		return nil
	case <-w.helixd.Done:
		out.line("helixd has ended (%v); Postgres stays up", w.helixd.Err)
	}
	<-ctx.Done()
	return nil
}

// startDev starts everything.
func (r repo) startDev(ctx context.Context, out *printer, w *world) (devEnv, error) {
	var env devEnv
	back, err := r.stayInRepo()
	if err != nil {
		return env, err
	}
	err = w.startPostgres(ctx, out, devDatabase)
	if err = errors.Join(err, back()); err != nil {
		return env, err
	}
	env = devEnv{adminURL: w.db.URL("supabase_admin"), url: w.db.URL("postgres"), jwtSecret: newJWTSecret(), log: r.devLog()}
	if err := setJWTSecret(ctx, env); err != nil {
		return env, err
	}
	if err := w.startRecogniser(ctx, out, r); err != nil {
		return env, err
	}
	return env, w.startHelixd(ctx, out, r.binary(), r.devDir(), r.devLog())
}

// setJWTSecret tells the database what its JWTs are signed with, as Supabase does.
func setJWTSecret(ctx context.Context, env devEnv) error {
	conn, err := pgx.Connect(ctx, env.adminURL)
	if err != nil {
		return err
	}
	for name, value := range map[string]string{"app.settings.jwt_secret": env.jwtSecret, "app.settings.jwt_exp": "3600"} {
		_, set := conn.Exec(ctx, fmt.Sprintf(`alter database %s set %q to '%s'`, devDatabase, name, value))
		err = errors.Join(err, set)
	}
	return errors.Join(err, conn.Close(ctx))
}

// stayInRepo has Postgres keep its data under .helix/dev, and gives what undoes that. testenv makes throwaway clusters
// in the temporary folder; when this process is root it runs Postgres as another user, who may not be able to enter
// the repository: then they stay there.
func (r repo) stayInRepo() (back func() error, err error) {
	if err := os.MkdirAll(r.devDir(), 0o755); err != nil {
		return nil, err
	}
	if os.Geteuid() == 0 && !othersMayEnter(r.devDir()) {
		return func() error { return nil }, nil
	}
	old, had := os.LookupEnv("TMPDIR")
	back = func() error {
		if had {
			return os.Setenv("TMPDIR", old)
		}
		return os.Unsetenv("TMPDIR")
	}
	return back, os.Setenv("TMPDIR", r.devDir())
}

// othersMayEnter reports whether dir and all folders above it let everybody through.
func othersMayEnter(dir string) bool {
	for {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return true
		}
		dir = parent
	}
}
