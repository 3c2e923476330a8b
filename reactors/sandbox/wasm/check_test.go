package wasm_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/sandbox/wasm"
	. "github.com/helixd/helixd/reactors/sandbox/wasmtest"
)

func check(t *testing.T, code []byte) (sandbox.Report, *sandbox.Error) {
	t.Helper()
	report, err := wasm.Guest{}.Check(t.Context(), newRuntime(t), code, noCache{})
	var known *sandbox.Error
	if err != nil && !errors.As(err, &known) {
		t.Fatalf("no *sandbox.Error: %v", err)
	}
	return report, known
}

func TestCheck(t *testing.T) {
	t.Run("reports a skill", func(t *testing.T) {
		report, err := check(t, echo())
		if err != nil || report.ABI != "run" || !slices.Equal(report.Exports, []string{"memory", "skill_alloc", "skill_run"}) || report.Warnings != nil {
			t.Fatalf("%+v, %v", report, err)
		}
	})
	t.Run("takes a module with _start for a command, and warns of an export of another type", func(t *testing.T) {
		m := &Module{}
		f := m.Func("", nil, nil, nil)
		m.ExportFunc("_start", f)
		m.ExportFunc("execute", f)
		report, err := check(t, m.Bytes())
		if err != nil || report.ABI != "command" || len(report.Warnings) != 1 || !strings.Contains(report.Warnings[0].Message, "execute is ()") {
			t.Fatalf("%+v, %v", report, err)
		}
	})
	t.Run("names the three kinds when a module is none", func(t *testing.T) {
		m := &Module{}
		m.ExportFunc("main", m.Func("", nil, Types{I32}, nil, I32Const(1)))
		m.ExportFunc("skill_run", m.Func("", Types{I32}, Types{I64}, nil, I64Const(1)))
		_, err := check(t, m.Bytes())
		if err == nil || err.Code != sandbox.MissingExport {
			t.Fatal(err)
		}
		for _, want := range []string{"_start", "skill_alloc(i32) i32", "execute()", "skill_run is (i32) i64, and not (i32, i32) i64"} {
			if !strings.Contains(err.Message, want) {
				t.Errorf("%q does not say %q", err.Message, want)
			}
		}
	})
	t.Run("wants a skill's memory exported", func(t *testing.T) {
		m := &Module{}
		m.ExportFunc("skill_alloc", m.Func("", Types{I32}, Types{I32}, nil, I32Const(0)))
		m.ExportFunc("skill_run", m.Func("", Types{I32, I32}, Types{I64}, nil, I64Const(0)))
		if _, err := check(t, m.Bytes()); err == nil || err.Code != sandbox.MissingExport || !strings.Contains(err.Message, "memory is not exported") {
			t.Fatal(err)
		}
	})
	t.Run("lists a bounded number of exports", func(t *testing.T) {
		m := &Module{}
		f := m.Func("", nil, nil, nil)
		m.ExportFunc("_start", f)
		for i := range 1000 {
			m.ExportFunc(strings.Repeat("x", i), f)
		}
		report, err := check(t, m.Bytes())
		if err != nil || len(report.Exports) != 100 {
			t.Fatal(len(report.Exports), err)
		}
	})

	for name, c := range map[string]struct {
		change func(*Module)
		says   string
	}{
		"a function that no host has":   {func(m *Module) { m.Import("env", "system", Types{I32}, Types{I32}) }, "env.system"},
		"a module that no host has":     {func(m *Module) { m.Import("wasi_unstable", "fd_write", nil, nil) }, "wasi_unstable.fd_write"},
		"a function as of another type": {func(m *Module) { m.Import("helix", "call", Types{I32}, nil) }, "helix.call as (i32), but it is (i32, i32, i32, i32) i64"},
	} {
		t.Run("refuses the import of "+name, func(t *testing.T) {
			m := &Module{}
			m.Import("helix", "last_response", Types{I32, I32}, Types{I32})
			c.change(m)
			m.ExportFunc("_start", m.Func("", nil, nil, nil))
			if _, err := check(t, m.Bytes()); err == nil || err.Code != sandbox.UnsupportedImport || !strings.Contains(err.Message, c.says) {
				t.Fatal(err)
			}
		})
	}
	for name, code := range map[string][]byte{
		"no module at all":    []byte("\x7fELF"),
		"a component":         []byte("\x00asm\x0d\x00\x01\x00"),
		"an invalid function": func() []byte { m := &Module{}; m.Func("", nil, Types{I32}, nil); return m.Bytes() }(),
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			if _, err := check(t, code); err == nil || err.Code != sandbox.InvalidModule {
				t.Fatal(err)
			}
		})
	}
}
