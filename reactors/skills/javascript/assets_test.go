package javascript

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/helixd/helixd/reactors/sandbox"
)

func TestWithoutTheRightEngineTheNextStepIsNamed(t *testing.T) {
	for name, from := range map[string]fstest.MapFS{
		"none":    {"assets/README.md": {}},
		"another": {"assets/quickjs.wasm": {Data: []byte("\x00asm")}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readEngine(from)
			var got *sandbox.Error
			if !errors.As(err, &got) || got.Code != sandbox.Unavailable || !strings.Contains(got.Message, "fetch.sh") {
				t.Errorf("got %v", err)
			}
		})
	}
}
