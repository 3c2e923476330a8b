package testenv

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// errNoBinaries says that this machine has no server that the tests could use.
var errNoBinaries = errors.New("no local Postgres server binaries with pgvector")

// binaries are one installation of a Postgres server.
type binaries struct {
	dir   string
	major int
}

func (b binaries) path(name string) string { return filepath.Join(b.dir, name) }

// binaryDirs are the patterns under which packages install servers; setup.sh looks in the same places.
var binaryDirs = []string{
	"/usr/lib/postgresql/*/bin", // Debian, Ubuntu
	"/usr/pgsql-*/bin",          // Fedora, RHEL
	"/opt/homebrew/opt/postgresql@*/bin",
	"/usr/local/opt/postgresql@*/bin",
}

// findBinaries returns the newest installed server that has pgvector; major, unless zero, asks for that version.
func findBinaries(major int) (binaries, error) {
	var best binaries
	for _, dir := range candidateDirs() {
		b, ok := inspectBinaries(dir)
		if !ok || major != 0 && b.major != major {
			continue
		}
		if dir == os.Getenv("HELIX_TESTENV_BINDIR") {
			return b, nil
		}
		if b.major > best.major {
			best = b
		}
	}
	if best.dir == "" {
		if major != 0 {
			return best, fmt.Errorf("%w of major version %d", errNoBinaries, major)
		}
		return best, errNoBinaries
	}
	return best, nil
}

func candidateDirs() []string {
	var dirs []string
	if dir := os.Getenv("HELIX_TESTENV_BINDIR"); dir != "" {
		dirs = append(dirs, dir)
	}
	for _, pattern := range binaryDirs {
		found, _ := filepath.Glob(pattern) // the patterns are well-formed
		dirs = append(dirs, found...)
	}
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		dirs = append(dirs, filepath.Dir(path))
	}
	return dirs
}

// inspectBinaries reports which server dir holds, if it is complete and has pgvector.
func inspectBinaries(dir string) (binaries, bool) {
	b := binaries{dir: dir}
	if _, err := os.Stat(b.path("initdb")); err != nil {
		return b, false
	}
	version, err := exec.Command(b.path("postgres"), "--version").Output()
	if err != nil {
		return b, false
	}
	m := majorVersion.FindSubmatch(version)
	if m == nil {
		return b, false
	}
	b.major, _ = strconv.Atoi(string(m[1]))
	share, err := exec.Command(b.path("pg_config"), "--sharedir").Output()
	if err != nil {
		return b, false
	}
	_, err = os.Stat(filepath.Join(strings.TrimSpace(string(share)), "extension", "vector.control"))
	return b, err == nil
}

var majorVersion = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)
