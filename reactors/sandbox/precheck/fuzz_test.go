package precheck_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// allocation is how much wazero may allocate in all to decode and validate a
// module that the check lets through: a constant, for what the limits permit, and
// so much for each byte.
func allocation(module int) uint64 { return 48<<20 + uint64(module)*1000 }

// FuzzWhatIsAcceptedIsBounded has wazero decode what the check lets through, under
// a watch of its memory.
func FuzzWhatIsAcceptedIsBounded(f *testing.F) {
	types := section(1, "\x02\x60\x00\x00\x60\x01\x7f\x01\x7f")
	for _, module := range []string{
		header,
		header + types,
		header + types + section(2, "\x01\x05helix\x04call\x00\x00"),
		header + section(0, "\x04name\x01\x04\x01\x00\x01f\x02\x06\x01\x00\x01\x00\x01x"),
		header + section(4, "\x01\x70\x00\x01") + section(9, "\x01\x00\x41\x00\x0b\x00"),
		header + section(5, "\x01\x00\x01") + section(6, "\x01\x7f\x00\x41\x00\x0b") + section(7, "\x01\x01m\x02\x00") + section(11, "\x01\x00\x41\x00\x0b\x01x"),
		header + section(6, "\x01\x7f\x00\x41\x01\x41\x02\x6a\x0b"),
		code("", "\x01\x10\x7f\x02\x40\x41\x00\x0e\x01\x00\x00\x0b\x0b"),
		code(section(4, "\x01\x70\x01\x01\x10"), "\x00\xd0\x70\x41\x01\xfc\x0f\x00\x1a\x0b"),
		code("", "\x00\xfd\x0c0123456789abcdef\xfd\x80\x01\x1a\x0b"),
	} {
		f.Add([]byte(module))
	}
	f.Fuzz(func(t *testing.T, module []byte) {
		if check(string(module)) != nil {
			return
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		rt := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter().
			WithCoreFeatures(api.CoreFeaturesV2|experimental.CoreFeaturesExtendedConst))
		if _, err := rt.CompileModule(t.Context(), module); err != nil && strings.Contains(err.Error(), "runtime error") {
			t.Errorf("wazero failed: %v", err)
		}
		_ = rt.Close(context.Background())
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > allocation(len(module)) {
			t.Errorf("wazero allocated %d bytes for a module of %d", got, len(module))
		}
	})
}
