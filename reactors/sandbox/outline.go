package sandbox

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tetratelabs/wazero"
)

// An outline is a module whose functions have no bodies. A worker gets it in
// place of the module that was checked, beside the native code of the latter:
// wazero decodes and validates all of a module each time that it loads one, which
// took longer than all else in a worker's start, though a compile child had done
// it already.

// emptyBody has no locals, and traps: no outline is ever compiled to be run.
var emptyBody = []byte{3, 0, 0x00, 0x0b} // its size, locals, unreachable, end

const codeSection = 10

// outlineOf gives the outline of a module that was validated.
func outlineOf(code []byte) ([]byte, error) {
	const header = 8 // magic and version
	if len(code) < header {
		return nil, errOutline
	}
	out := append([]byte(nil), code[:header]...)
	for rest := code[header:]; len(rest) > 0; {
		size, n := binary.Uvarint(rest[1:])
		if n <= 0 || size > uint64(len(rest)-1-n) {
			return nil, errOutline
		}
		content := rest[1+n : 1+n+int(size)]
		if rest[0] != codeSection {
			out = append(out, rest[:1+n+int(size)]...)
		} else {
			functions, n := binary.Uvarint(content)
			if n <= 0 || functions > size {
				return nil, errOutline
			}
			bodies := binary.AppendUvarint(nil, functions)
			for range functions {
				bodies = append(bodies, emptyBody...)
			}
			out = append(binary.AppendUvarint(append(out, codeSection), uint64(len(bodies))), bodies...)
		}
		rest = rest[1+n+int(size):]
	}
	return out, nil
}

var errOutline = errors.New("outline: this is no module")

func outlineFile(dir string, p program) string {
	return filepath.Join(programDir(dir, p), "outline.wasm")
}

// outlineDir is the compile cache of an outline.
func outlineDir(dir string, p program) string { return filepath.Join(programDir(dir, p), "outline") }

// outline makes the outline of a module that was checked and compiled, and puts
// the native code where wazero looks for that of the outline.
func (c *child) outline(ctx context.Context, p program, code []byte) error {
	out, err := outlineOf(code)
	if err != nil {
		return err
	}
	to := outlineDir(c.start.Dir, p)
	if err := os.RemoveAll(to); err != nil {
		return fmt.Errorf("outline: %w", err)
	}
	cache, err := wazero.NewCompilationCacheWithDir(to)
	if err != nil {
		return fmt.Errorf("outline: %w", err)
	}
	defer cache.Close(ctx) //nolint:errcheck // nothing is compiled after it
	rt := wazero.NewRuntimeWithConfig(ctx, RuntimeConfig.WithCompilationCache(cache))
	defer rt.Close(ctx) //nolint:errcheck // nothing is compiled after it
	if _, err := rt.CompileModule(ctx, out); err != nil {
		return fmt.Errorf("compile outline: %w", err)
	}
	own, err := compiledFile(compileDir(c.start.Dir, p))
	if err != nil {
		return err
	}
	theirs, err := compiledFile(to)
	if err != nil {
		return err
	}
	native, err := os.ReadFile(own)
	if err != nil {
		return fmt.Errorf("outline: %w", err)
	}
	if err := os.WriteFile(theirs, native, 0o600); err != nil {
		return fmt.Errorf("outline: %w", err)
	}
	if err := os.Remove(own); err != nil {
		return fmt.Errorf("outline: %w", err)
	}
	if err := os.WriteFile(outlineFile(c.start.Dir, p), out, 0o644); err != nil {
		return fmt.Errorf("outline: %w", err)
	}
	return nil
}

// outlined gives a program's outline. Without the native code beside it wazero
// would compile the outline itself, which does nothing.
func (c *child) outlined(p program) (file, dir string, err error) {
	dir = outlineDir(c.start.Dir, p)
	_, err = compiledFile(dir)
	return outlineFile(c.start.Dir, p), dir, err
}

// compiledFile is the one file in a compile cache.
func compiledFile(dir string) (string, error) {
	found, err := filepath.Glob(filepath.Join(dir, "wazero-*", "*"))
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("outline: %d files in the compile cache, want 1", len(found))
	}
	return found[0], nil
}
