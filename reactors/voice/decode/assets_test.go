package decode

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
)

func TestWithoutTheRightModuleTheNextStepIsNamed(t *testing.T) {
	for name, from := range map[string]fstest.MapFS{
		"none":    {"assets/README.md": {}},
		"another": {"assets/adec.wasm": {Data: []byte("\x00asm")}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readModule(from)
			var got *Error
			if !errors.As(err, &got) || got.Code != Unavailable || !strings.Contains(got.Message, "build.sh") {
				t.Errorf("got %v", err)
			}
		})
	}
}
