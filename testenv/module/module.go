// Package module finds the folder of the module that tests and tools run in.
package module

import (
	"errors"
	"os"
	"path/filepath"
)

// Root is the folder with go.mod that the current one is, or is in.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod here or above: run it inside the repository")
		}
		dir = parent
	}
}
