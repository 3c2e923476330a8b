package attack_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/sandbox"
)

// scripts are the files of testdata/scripts. Their first lines are comments:
// "expect: " and codes, and "output: " and the JSON that one gives where it is
// contained. "long" marks those that cost much.
func scripts(t *testing.T) []attack {
	t.Helper()
	paths, err := filepath.Glob("testdata/scripts/*.js")
	if err != nil || len(paths) < 40 {
		t.Fatalf("%d scripts: %v", len(paths), err)
	}
	var list []attack
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		a := attack{kind: sandbox.KindJavaScript, name: strings.TrimSuffix(filepath.Base(path), ".js"), code: bytesOf(source)}
		for line := range strings.Lines(string(source)) {
			if codes, ok := strings.CutPrefix(line, "// expect: "); ok {
				for _, code := range strings.Fields(codes) {
					a.expect = append(a.expect, sandbox.Code(code))
				}
			} else if output, ok := strings.CutPrefix(line, "// output: "); ok {
				a.output = strings.TrimSpace(output)
			} else if line == "// long\n" {
				a.long = true
			} else {
				break
			}
		}
		if len(a.expect) == 0 && a.output == "" {
			t.Fatalf("%s does not say how it ends", path)
		}
		list = append(list, a)
	}
	return append(list, sources...)
}

// sources are scripts that a file would not hold.
var sources = []attack{
	script("empty source", "", sandbox.MissingExport, sandbox.SyntaxError),
	script("source is not UTF-8", "export default () => '\xff\xfe'", sandbox.SyntaxError),
	script("source with a byte of zero", "export default () => 1 \x00 }{", sandbox.SyntaxError),
	script("bytecode", "\x43\x02\x0a\x01helix\x00\xff\xff\xff\x7f", sandbox.SyntaxError),
	script("half a million parentheses", strings.Repeat("(", 500_000), sandbox.SyntaxError, sandbox.StackOverflow, sandbox.Exception, sandbox.CompileLimit),
	script("half a million blocks", "export default () => 1;"+strings.Repeat("{", 500_000)+strings.Repeat("}", 500_000),
		sandbox.SyntaxError, sandbox.StackOverflow, sandbox.Exception, sandbox.CompileLimit),
	script("a million functions", "export default () => 1;"+strings.Repeat("()=>{};", 1_000_000),
		sandbox.SyntaxError, sandbox.CompileLimit, sandbox.MemoryExceeded, sandbox.ModuleTooLarge),
	{kind: sandbox.KindJavaScript, name: "15 MB of a string", output: "15728640", expect: []sandbox.Code{sandbox.CompileLimit, sandbox.MemoryExceeded},
		code: func() []byte { return []byte("export default () => '" + strings.Repeat("x", 15<<20) + "'.length") }},
	script("17 MB of spaces", strings.Repeat(" ", 17<<20)+"export default () => 1", sandbox.ModuleTooLarge),
}

func script(name, source string, expect ...sandbox.Code) attack {
	return attack{kind: sandbox.KindJavaScript, name: name, code: bytesOf([]byte(source)), expect: expect}
}
