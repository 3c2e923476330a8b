package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

const cacheDirHint = "Name a directory of helixd's own with HELIX_CACHE_DIR; its user must be able to write there."

// defaultCacheDir makes the directory for compiled skills where none is named. It
// is the same at each start, so that what a killed helixd left there is removed by
// the next. Code that another account of this machine could put there would be
// run, so one that somebody else owns or may write is refused.
func defaultCacheDir() (string, error) {
	dir := filepath.Join(os.TempDir(), "helixd-"+strconv.Itoa(os.Geteuid()))
	if err := os.Mkdir(dir, 0o711); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", fmt.Errorf("%s is no directory", dir)
	case !ownedByUs(info):
		return "", fmt.Errorf("%s is somebody else's", dir)
	case info.Mode().Perm()&0o022 != 0:
		return "", fmt.Errorf("others may write to %s", dir)
	}
	return dir, nil
}
