package wasm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/helixd/helixd/reactors/sandbox"
)

var race bool // whether the race detector is on

// TestSpecification runs the official tests of the WebAssembly core specification
// through the configuration that children run modules with. wazero's module holds
// them, as wast2json made them from
// https://github.com/WebAssembly/spec/tree/main/test/core.
//
// The race detector makes them many times slower and looks at none of the code
// that wazero compiles; under it only the small suite runs.
//
// Those of version 1 hold that features of version 2 are invalid, so they run
// with the features of version 1.
func TestSpecification(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	if err != nil {
		t.Fatalf("find wazero: %v", err)
	}
	root := filepath.Join(strings.TrimSpace(string(out)), "internal/integration_test/spectest")
	for _, suite := range []struct {
		name     string
		config   wazero.RuntimeConfig
		asserted int // how many there are, so that none is lost
	}{
		{"v1", sandbox.RuntimeConfig.WithCoreFeatures(api.CoreFeaturesV1), 18050},
		{"v2", sandbox.RuntimeConfig, 51294 - 2},
		{"extended-const", sandbox.RuntimeConfig, 101},
	} {
		if race && suite.name != "extended-const" {
			t.Logf("%s does not run under the race detector", suite.name)
			continue
		}
		t.Run(suite.name, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(root, suite.name, "testdata", "*.json"))
			if err != nil {
				t.Fatal(err)
			}
			asserted := 0
			for _, file := range files {
				asserted += runScript(t, root, file, suite.config)
			}
			t.Logf("%d files, %d commands asserted", len(files), asserted)
			if asserted != suite.asserted {
				t.Errorf("%d commands asserted, want %d", asserted, suite.asserted)
			}
		})
	}
}

// validHere are assertions that a module of version 2 is invalid, while it is
// valid with extended constant expressions: an offset may be that of a global of
// the module's own.
var validHere = map[string]bool{"elem.json:171": true, "elem.json:175": true}

// specCommand is a command of a script, as of
// https://github.com/WebAssembly/wabt/blob/main/docs/wast2json.md.
type specCommand struct {
	Type, Name, Filename, As, Text string
	Line                           int
	ModuleType                     string `json:"module_type"`
	Action                         struct {
		Type, Field, Module string
		Args                []specValue
	}
	Expected []specValue
}

// script is the state of a script that runs.
type script struct {
	ctx     context.Context
	rt      wazero.Runtime
	dir     string
	last    api.Module
	modules map[string]api.Module
	as      map[string]api.Module // registered
}

func runScript(t *testing.T, root, file string, config wazero.RuntimeConfig) (asserted int) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var content struct{ Commands []specCommand }
	if err := json.Unmarshal(raw, &content); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	s := &script{ctx, wazero.NewRuntimeWithConfig(ctx, config), filepath.Dir(file), nil, map[string]api.Module{}, map[string]api.Module{}}
	defer s.rt.Close(ctx)
	spectest, err := os.ReadFile(filepath.Join(root, "testdata", "spectest.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.rt.Instantiate(ctx, spectest); err != nil {
		t.Fatal(err)
	}
	for i, c := range content.Commands {
		if c.ModuleType == "text" || c.Type == "register" {
			continue // wazero reads no text; what is registered was named as it was made
		}
		if validHere[fmt.Sprintf("%s:%d", filepath.Base(file), c.Line)] && filepath.Dir(file) == filepath.Join(root, "v2", "testdata") {
			continue
		}
		registered := ""
		if next := i + 1; next < len(content.Commands) && content.Commands[next].Type == "register" {
			registered = content.Commands[next].As
		}
		if err := s.do(c, registered); err != nil {
			t.Errorf("%s:%d %s: %v", filepath.Base(file), c.Line, c.Type, err)
		}
		if c.Type != "module" {
			asserted++
		}
	}
	return asserted
}

func (s *script) do(c specCommand, registered string) error {
	switch c.Type {
	case "module":
		mod, err := s.instantiate(c.Filename, registered)
		if err != nil {
			return err
		}
		s.last = mod
		if c.Name != "" {
			s.modules[c.Name] = mod
		}
		return nil
	case "action", "assert_return":
		return s.assertReturn(c)
	case "assert_trap", "assert_exhaustion":
		_, err := s.invoke(c)
		return wantTrap(err, c.Text)
	case "assert_uninstantiable":
		_, err := s.instantiate(c.Filename, "")
		if c.Text == "out of bounds table access" {
			// wazero gives the instance, and has not written the elements: its functions
			// can be in tables of other modules by then.
			return err
		}
		return wantError(err)
	case "assert_invalid", "assert_malformed", "assert_unlinkable":
		_, err := s.instantiate(c.Filename, "")
		return wantError(err)
	}
	return errors.New("unknown command")
}

func (s *script) instantiate(file, name string) (api.Module, error) {
	code, err := os.ReadFile(filepath.Join(s.dir, file))
	if err != nil {
		return nil, err
	}
	return s.rt.InstantiateWithConfig(s.ctx, code, wazero.NewModuleConfig().WithName(name))
}

func (s *script) module(c specCommand) api.Module {
	if c.Action.Module != "" {
		return s.modules[c.Action.Module]
	}
	return s.last
}

func (s *script) invoke(c specCommand) ([]uint64, error) {
	f := s.module(c).ExportedFunction(c.Action.Field)
	if f == nil {
		return nil, fmt.Errorf("no function %q", c.Action.Field)
	}
	var args []uint64
	for _, a := range c.Action.Args {
		args = append(args, a.words()...)
	}
	return f.Call(s.ctx, args...)
}

func (s *script) assertReturn(c specCommand) error {
	var got []uint64
	var err error
	if c.Action.Type == "get" {
		got = []uint64{s.module(c).ExportedGlobal(c.Action.Field).Get()}
	} else if got, err = s.invoke(c); err != nil {
		return err
	}
	if c.Type == "action" {
		return nil
	}
	for _, want := range c.Expected {
		n := want.size()
		if len(got) < n {
			return fmt.Errorf("%s gave too few results", c.Action.Field)
		}
		if !want.matches(got[:n]) {
			return fmt.Errorf("%s(%v) gave %#x, not %v", c.Action.Field, c.Action.Args, got[:n], want)
		}
		got = got[n:]
	}
	if len(got) != 0 {
		return fmt.Errorf("%s gave too many results", c.Action.Field)
	}
	return nil
}

// wantTrap tells whether a call ended by the trap that a script names.
func wantTrap(err error, text string) error {
	if err == nil {
		return fmt.Errorf("no trap, want %q", text)
	}
	want := text
	switch {
	case text == "call stack exhausted":
		want = "stack overflow"
	case text == "indirect call":
		want = "indirect call type mismatch"
	case text == "undefined element", text == "undefined", text == "out of bounds table access", strings.HasPrefix(text, "uninitialized"):
		want = "invalid table access"
	}
	if have, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "wasm error: "), "\n"); have != want {
		return fmt.Errorf("trap %q, want %q", err, want)
	}
	return nil
}

func wantError(err error) error {
	if err == nil {
		return errors.New("no error")
	}
	return nil
}
