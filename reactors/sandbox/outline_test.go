package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/sandbox"
	. "github.com/helixd/helixd/reactors/sandbox/wasmtest"
)

// Modules of one outline are told apart in one worker, each by what it was
// compiled to.
func TestModulesOfOneOutline(t *testing.T) {
	p := newPool(t)
	for range 2 {
		for _, n := range []int32{1, 23, 456} {
			if r := mustRun(t, p, run(execute(I32Const(n)), `null`)); string(r.Output) != fmt.Sprint(n) {
				t.Errorf("output %s, want %d", r.Output, n)
			}
		}
	}
}

// A trap is that of the module, not of its outline.
func TestTrapOfAModule(t *testing.T) {
	p := newPool(t)
	_, err := p.Run(context.Background(), run(execute(I32Const(1), I32Const(0), []byte{0x6d}), `null`)) // i32.div_s
	var known *sandbox.Error
	if !errors.As(err, &known) || known.Code != sandbox.Trap || strings.Contains(known.Message, "unreachable") {
		t.Errorf("got %v", err)
	}
}
