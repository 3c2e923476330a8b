package javascript_test

import (
	"context"
	"errors"
	"io/fs"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills/javascript"
)

func TestCheckSaysWhatIsWrongAndWhere(t *testing.T) {
	for _, c := range []struct {
		name, source string
		want         sandbox.Error // of the message, a part
	}{
		{"syntax of a script", "function execute() {\n  let a = ;\n}", sandbox.Error{Code: sandbox.SyntaxError, Message: "SyntaxError: ", Line: 2, Column: 11}},
		{"syntax of a module", "export default () => 1\n\nlet = = 2", sandbox.Error{Code: sandbox.SyntaxError, Message: "SyntaxError: ", Line: 3, Column: 5}},
		{"syntax of a body's first line", "return 1 +* 2", sandbox.Error{Code: sandbox.SyntaxError, Message: "SyntaxError: ", Line: 1, Column: 11}},
		{"syntax of a body", "const a = 1\nreturn a +* 2", sandbox.Error{Code: sandbox.SyntaxError, Message: "SyntaxError: ", Line: 2, Column: 11}},
		{"no function", "const a = 1", sandbox.Error{Code: sandbox.MissingExport, Message: "no function was found"}},
		{"module without a function", "export const a = 1", sandbox.Error{Code: sandbox.MissingExport, Message: "no function was found"}},
		{"not UTF-8", "export default () => '\xff'\n", sandbox.Error{Code: sandbox.SyntaxError, Message: "UTF-8", Line: 1, Column: 22}},
		{"NUL", "export default () => 1\n\x00", sandbox.Error{Code: sandbox.SyntaxError, Message: "SyntaxError", Line: 2, Column: 1}},
		{"top level that needs all memory", "const a = []\nfor (;;) a.push({})", sandbox.Error{Code: sandbox.MemoryExceeded, Message: "more than 128 MB", Line: 2, Column: 12}},
		{"top level that calls too deeply", "const f = () => f()\nexport default f\nf() + 1", sandbox.Error{Code: sandbox.StackOverflow, Message: "call stack", Line: 1, Column: 16}},
		{"empty", "", sandbox.Error{Code: sandbox.MissingExport, Message: "no function was found"}},
		{"default exports without an end", "const a = {}; a.default = { default: a }; export default a", sandbox.Error{Code: sandbox.StackOverflow, Message: "call stack"}},
		{"default export that is none", "export default 5", sandbox.Error{Code: sandbox.MissingExport, Message: "no function was found"}},
		{"top level that throws", "const a = null\na.b\nfunction run() {}", sandbox.Error{Code: sandbox.Exception, Message: "TypeError: cannot read property 'b' of null", Line: 2, Column: 1}},
		{"module that throws", "export default () => 1\nthrow new Error('top')", sandbox.Error{Code: sandbox.Exception, Message: "Error: top", Line: 2, Column: 11}},
		{"host call at the top level", "export default () => 1\nawait helix.call('x')", sandbox.Error{Code: sandbox.Exception, Message: "in the tool's function only", Line: 2, Column: 13}},
		{"top level that waits", "export default () => 1\nawait new Promise(() => {})", sandbox.Error{Code: sandbox.Exception, Message: "top level waits"}},
		{"static import", "import x from 'fs'\nexport default () => 1", sandbox.Error{Code: sandbox.Exception, Message: "import is not available"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := check(c.source)
			var got *sandbox.Error
			if !errors.As(err, &got) {
				t.Fatalf("got %v", err)
			}
			if got.Code != c.want.Code || got.Line != c.want.Line || got.Column != c.want.Column || !strings.Contains(got.Message, c.want.Message) {
				t.Errorf("got %+v\nwant %+v", *got, c.want)
			}
		})
	}
}

func TestCheckWarns(t *testing.T) {
	report, _, err := check("// eval('a')\nconst s = \"eval(1)\" + 'new Function(2)' + `eval(3)` /* eval(4)\n*/\nconst o = { x: s.eval }\n" +
		"/* é */ function run() { return eval('1') }\nconst f = () => new Function('return 1')")
	if err != nil {
		t.Fatal(err)
	}
	for i := range report.Warnings {
		report.Warnings[i].Message = ""
	}
	want := []sandbox.Warning{{Code: "eval", Line: 5, Column: 33}, {Code: "function_constructor", Line: 6, Column: 21}}
	if !reflect.DeepEqual(report.Warnings, want) {
		t.Errorf("got %+v", report.Warnings)
	}
	if report.ABI != "script" {
		t.Errorf("the shape is %q", report.ABI)
	}
}

func TestLoadNeedsWhatCheckLeft(t *testing.T) {
	_, cache, err := check(`export default () => 1`)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(cache["snapshot"]); n > 1<<20 {
		t.Errorf("a snapshot has %d bytes", n)
	}
	for name, content := range map[string][]byte{
		"of another version": append([]byte{cache["snapshot"][0] ^ 1}, cache["snapshot"][1:]...),
		"that is cut off":    cache["snapshot"][:len(cache["snapshot"])-1],
		"that is empty":      {},
	} {
		t.Run("not a snapshot "+name, func(t *testing.T) {
			_, err := javascript.Guest{}.Load(context.Background(), rt, nil, files{"snapshot": content})
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("not nothing", func(t *testing.T) {
		_, err := javascript.Guest{}.Load(context.Background(), rt, nil, files{})
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v", err)
		}
	})
}

// A worker loads one tool after the other, each in a runtime of its own.
func TestNothingOfAClosedRuntimeIsKept(t *testing.T) {
	_, cache, err := check(`export default () => 1`)
	if err != nil {
		t.Fatal(err)
	}
	ctx, gone := context.Background(), make(chan struct{})
	func() {
		own := wazero.NewRuntimeWithConfig(ctx, sandbox.RuntimeConfig)
		runtime.SetFinalizer(own, func(any) { close(gone) })
		loaded, err := javascript.Guest{}.Load(ctx, own, nil, cache)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(loaded.Close(ctx), own.Close(ctx)); err != nil {
			t.Fatal(err)
		}
	}()
	for range 10 {
		runtime.GC()
		select {
		case <-gone:
			return
		case <-time.After(100 * time.Millisecond): // the finalizer is another goroutine's
		}
	}
	t.Error("the runtime is in memory still")
}
