package precheck_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tetratelabs/wazero"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/sandbox/precheck"
)

const header = "\x00asm\x01\x00\x00\x00"

// section is one with its header.
func section(id byte, content string) string {
	return string(binary.AppendUvarint([]byte{id}, uint64(len(content)))) + content
}

// counted is a vector that has so many items.
func counted(n uint64, items string) string {
	return string(binary.AppendUvarint(nil, n)) + items
}

func check(module string) error {
	return precheck.Check(strings.NewReader(module), int64(len(module)))
}

// code is a module of one function without parameters and these instructions,
// with other sections before its code.
func code(before, body string) string {
	return header + section(1, "\x01\x60\x00\x00") + section(3, "\x01\x00") + before + section(10, "\x01"+counted(uint64(len(body)), body))
}

const huge = "\xff\xff\xff\xff\x0f" // 1<<32 - 1

func TestRefuses(t *testing.T) {
	for outcome, test := range map[string]struct{ module, code, message string }{
		"nothing":                        {"", precheck.InvalidModule, "too early"},
		"another file":                   {"\x7fELF\x01\x00\x00\x00", precheck.InvalidModule, "begin"},
		"another version":                {"\x00asm\x02\x00\x00\x00", precheck.InvalidModule, "version"},
		"a component":                    {"\x00asm\x0d\x00\x01\x00", precheck.InvalidModule, "component"},
		"a section longer than the file": {header + "\x01" + huge, precheck.InvalidModule, "claims"},
		"a section with a rest":          {header + section(1, "\x00\x00"), precheck.InvalidModule, "too many"},
		"sections out of order":          {header + section(3, "\x00") + section(1, "\x00"), precheck.InvalidModule, "order"},
		"a section twice":                {header + section(1, "\x00") + section(1, "\x00"), precheck.InvalidModule, "order"},
		"a tag section":                  {header + section(13, "\x00"), precheck.InvalidModule, "exceptions"},
		"a number that is too long":      {header + section(1, "\x80\x80\x80\x80\x80\x00"), precheck.InvalidModule, "too long"},
		"a number of 33 bits":            {header + section(1, "\xff\xff\xff\xff\x1f"), precheck.InvalidModule, "32 bits"},
		"functions without code":         {header + section(1, "\x01\x60\x00\x00") + section(3, "\x01\x00"), precheck.InvalidModule, "have code"},

		// Each of these has wazero 1.12 make a slice of its count before it reads on.
		"parameters that are not there":       {header + section(1, "\x01\x60"+huge), precheck.InvalidModule, "claimed"},
		"results that are not there":          {header + section(1, "\x01\x60\x00"+huge), precheck.InvalidModule, "claimed"},
		"a recursive group of types":          {header + section(1, "\x01\x4e"+huge), precheck.InvalidModule, "form"},
		"imports that are not there":          {header + section(2, huge+"000"), precheck.InvalidModule, "claimed"},
		"an import's name that is not there":  {header + section(2, "\x01"+huge+"000"), precheck.UnsupportedImport, "bytes"},
		"functions that are not there":        {header + section(3, huge), precheck.InvalidModule, "claimed"},
		"tables that are not there":           {header + section(4, huge), precheck.InvalidModule, "claimed"},
		"globals that are not there":          {header + section(6, huge), precheck.InvalidModule, "claimed"},
		"exports that are not there":          {header + section(7, huge), precheck.InvalidModule, "claimed"},
		"an export's name not there":          {header + section(7, "\x01"+huge), precheck.InvalidModule, "claimed"},
		"segments that are not there":         {header + section(9, huge), precheck.InvalidModule, "claimed"},
		"elements that are not there":         {header + section(9, "\x01\x00\x41\x00\x0b"+huge), precheck.InvalidModule, "claimed"},
		"expressions that are not there":      {header + section(9, "\x01\x05\x70"+huge), precheck.InvalidModule, "claimed"},
		"code that is not there":              {header + section(10, huge), precheck.InvalidModule, "claimed"},
		"a function that is not there":        {header + section(10, "\x01"+huge), precheck.InvalidModule, "claims"},
		"locals without end":                  {code("", "\x01"+huge+"\x7f\x0b"), precheck.ModuleTooLarge, "locals"},
		"locals without end, in groups":       {code("", "\x03\x90\x4e\x7f\x90\x4e\x7e\x90\x4e\x7d\x0b"), precheck.ModuleTooLarge, "locals"},
		"branches that are not there":         {code("", "\x00\x41\x00\x0e"+huge+"\x0b"), precheck.InvalidModule, "claimed"},
		"data that is not there":              {header + section(11, "\x01\x01"+huge), precheck.InvalidModule, "claimed"},
		"data segments not there":             {header + section(11, huge), precheck.InvalidModule, "claimed"},
		"a custom name that is not there":     {header + section(0, huge), precheck.InvalidModule, "claimed"},
		"function names not there":            {header + section(0, "\x04name\x01\x05"+huge), precheck.InvalidModule, "claimed"},
		"local names that are not there":      {header + section(0, "\x04name\x02\x07\x01\x00"+huge), precheck.InvalidModule, "claimed"},
		"a subsection beyond its section":     {header + section(0, "\x04name\x01\x7f\x00"), precheck.InvalidModule, "claim"},
		"a subsection smaller than its names": {header + section(0, "\x04name\x01\x00\x02\x00\x00\x00\x00"), precheck.InvalidModule, "early"},
		"two name sections":                   {header + section(0, "\x04name") + section(0, "\x04name"), precheck.InvalidModule, "two"},

		"a huge table":                      {header + section(4, "\x01\x70\x00\x80\x80\x80\x10"), precheck.ModuleTooLarge, "table elements"},
		"tables that are huge together":     {header + section(4, "\x02\x70\x00\xc0\x84\x3d\x70\x00\x01"), precheck.ModuleTooLarge, "table elements"},
		"a table with an expression":        {header + section(4, "\x01\x40\x00\x70\x00\x01\xd0\x70\x0b"), precheck.InvalidModule, "table type"},
		"a table that grows without bound":  {code(section(4, "\x01\x70\x00\x01"), "\x00\xd0\x70\x41\x01\xfc\x0f\x00\x1a\x0b"), precheck.ModuleTooLarge, "grows"},
		"a table that grows to gigabytes":   {code(section(4, "\x01\x70\x01\x01"+huge), "\x00\xd0\x70\x41\x01\xfc\x0f\x00\x1a\x0b"), precheck.ModuleTooLarge, "grows"},
		"a table that grows by a long form": {code(section(4, "\x01\x70\x00\x01"), "\x00\xd0\x70\x41\x01\xfc\x8f\x00\x00\x1a\x0b"), precheck.InvalidModule, "0xfc"},
		"two memories":                      {header + section(5, "\x02\x00\x01\x00\x01"), precheck.ModuleTooLarge, "memories"},
		"a shared memory":                   {header + section(5, "\x01\x03\x01\x01"), precheck.InvalidModule, "shared"},
		"a memory of 4 GiB":                 {header + section(5, "\x01\x00\x80\x80\x04"), precheck.ModuleTooLarge, "pages"},
		"blocks nested too deep":            {code("", "\x00"+strings.Repeat("\x02\x40", 10_000)+strings.Repeat("\x0b", 10_001)), precheck.ModuleTooLarge, "nested"},
		"a huge function":                   {code("", "\x00"+strings.Repeat("\x01", 1<<20)+"\x0b"), precheck.ModuleTooLarge, "bytes in a function"},
		"code behind a function's end":      {code("", "\x00\x0b\x0b"), precheck.InvalidModule, "behind"},
		"atomics":                           {code("", "\x00\xfe\x03\x00\x0b"), precheck.InvalidModule, "0xfe"},

		"an unknown module":    {header + section(2, "\x01\x03env\x01f\x00\x00"), precheck.UnsupportedImport, `"env"`},
		"an unknown function":  {header + section(2, "\x01\x05helix\x01f\x00\x00"), precheck.UnsupportedImport, `"f"`},
		"sockets":              {header + section(2, "\x01\x16wasi_snapshot_preview1\x09sock_send\x00\x00"), precheck.UnsupportedImport, `"sock_send"`},
		"an imported memory":   {header + section(2, "\x01\x05helix\x04call\x02\x00\x01"), precheck.UnsupportedImport, "memory"},
		"the name of no bytes": {header + section(2, "\x01\x00\x00\x00\x00"), precheck.UnsupportedImport, `""`},
	} {
		t.Run(outcome, func(t *testing.T) {
			err := check(test.module)
			var refused *precheck.Error
			if !errors.As(err, &refused) {
				t.Fatalf("got %v, want an error", err)
			}
			if refused.Code != test.code || !strings.Contains(refused.Message, test.message) {
				t.Errorf("got %v, want %s with %q", refused, test.code, test.message)
			}
			if refused.Offset < 0 || refused.Offset > int64(len(test.module)) {
				t.Errorf("offset %d is outside of the module", refused.Offset)
			}
		})
	}
}

func TestAccepts(t *testing.T) {
	for outcome, module := range map[string]string{
		"an empty module":                  header,
		"custom sections anywhere":         header + section(0, "\x01x") + section(1, "\x00") + section(0, "\x04name\x00\x02\x01m"),
		"imports of a host":                header + section(1, "\x01\x60\x00\x00") + section(2, "\x02\x05helix\x04call\x00\x00\x16wasi_snapshot_preview1\x09proc_exit\x00\x00"),
		"a table without maximum":          code(section(4, "\x01\x70\x00\x01"), "\x00\x0b"),
		"a bounded table that grows":       code(section(4, "\x01\x70\x01\x01\x10"), "\x00\xd0\x70\x41\x01\xfc\x0f\x00\x1a\x0b"),
		"a branch table":                   code("", "\x00\x02\x40\x02\x40\x41\x00\x0e\x01\x00\x01\x0b\x0b\x0b"),
		"constants that are computed":      header + section(6, "\x02\x7f\x00\x41\x01\x41\x02\x6a\x0b\x7e\x00\x42\x01\x42\x02\x7e\x0b"),
		"a vector instruction":             code("", "\x00\xfd\x0c0123456789abcdef\xfd\x80\x01\x1a\x0b"),
		"an element segment of each table": header + section(1, "\x01\x60\x00\x00") + section(3, "\x01\x00") + section(4, "\x01\x70\x00\x02") + section(9, "\x02\x00\x41\x00\x0b\x01\x00\x06\x00\x41\x01\x0b\x70\x01\xd2\x00\x0b") + section(10, "\x01\x02\x00\x0b"),
	} {
		t.Run(outcome, func(t *testing.T) {
			if err := check(module); err != nil {
				t.Error(err)
			}
			compile(t, module)
		})
	}
}

// compile has wazero decode and validate a module.
func compile(t *testing.T, module string) {
	t.Helper()
	rt := wazero.NewRuntimeWithConfig(t.Context(), sandbox.RuntimeConfig)
	defer rt.Close(context.Background())
	if _, err := rt.CompileModule(t.Context(), []byte(module)); err != nil {
		t.Error(err)
	}
}

func TestAcceptsWhatGoMakes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module skill\n\ngo 1.26\n")
	write("main.go", "package main\n\nimport (\n\t\"encoding/json\"\n\t\"os\"\n)\n\nfunc main() { var v any; json.NewDecoder(os.Stdin).Decode(&v); json.NewEncoder(os.Stdout).Encode(v) }\n")
	cmd := exec.Command("go", "build", "-o", "skill.wasm", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build for wasip1: %v\n%s", err, out)
	}
	module, err := os.ReadFile(filepath.Join(dir, "skill.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	if err := check(string(module)); err != nil {
		t.Error(err)
	}
	t.Run("and refuses each part of it", func(t *testing.T) {
		for _, n := range []int{9, 100, 1000, 4095, 4096, 4097, len(module) / 2, len(module) - 1} {
			if check(string(module[:n])) == nil {
				t.Errorf("accepts the first %d bytes", n)
			}
		}
	})
}

func TestTooLarge(t *testing.T) {
	var refused *precheck.Error
	if err := precheck.Check(bytes.NewReader(nil), 16<<20+1); !errors.As(err, &refused) || refused.Code != precheck.ModuleTooLarge {
		t.Errorf("got %v", err)
	}
}

func TestReadErrors(t *testing.T) {
	for outcome, r := range map[string]io.ReaderAt{
		"of the source":             failing{iotest.ErrTimeout},
		"of a source that is short": strings.NewReader(header[:4]),
	} {
		t.Run(outcome, func(t *testing.T) {
			var refused *precheck.Error
			if err := precheck.Check(r, 8); err == nil || errors.As(err, &refused) {
				t.Errorf("got %v, want an error that says nothing of the module", err)
			}
		})
	}
}

type failing struct{ error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.error }

func TestAllocatesNothingByTheModule(t *testing.T) {
	module := code("", "\x00"+strings.Repeat("\x41\x00\x1a", 300_000)+"\x0b")
	r := strings.NewReader(module)
	allocated := testing.AllocsPerRun(5, func() {
		if err := precheck.Check(r, int64(len(module))); err != nil {
			t.Error(err)
		}
	})
	if allocated > 20 {
		t.Errorf("%.0f allocations for 100,000 instructions", allocated)
	}
}
