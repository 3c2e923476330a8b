package main

import (
	"os"
	"path/filepath"
)

// repo is the root of the repository.
type repo string

// state is a path in .helix, which git ignores.
func (r repo) state(name string) string { return filepath.Join(string(r), ".helix", name) }

func (r repo) binary() string { return r.state(filepath.Join("bin", "helixd")) }

// The files of up and down.
func (r repo) devEnv() string    { return r.state("dev.env") }            // written when all is up
func (r repo) devPid() string    { return r.state("dev.pid") }            // locked by the supervisor while it lives
func (r repo) devTurn() string   { return r.state("dev.lock") }           // locked by the up or down whose turn it is
func (r repo) devLog() string    { return r.state("dev.log") }            // helixd's
func (r repo) devSupLog() string { return r.state("dev.supervisor.log") } // the supervisor's
func (r repo) devDir() string    { return r.state("dev") }                // Postgres

// makeState makes .helix.
func (r repo) makeState() error { return os.MkdirAll(r.state("bin"), 0o755) }

// relative is path as one may type it at the root, or path itself when it is elsewhere.
func (r repo) relative(path string) string {
	if rel, err := filepath.Rel(string(r), path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
