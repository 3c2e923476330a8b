package decode

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/helixd/helixd/reactors/sandbox"
)

//go:embed assets
var assets embed.FS

// moduleSHA256 is that of the adec.wasm that build.sh makes; build.sh has it too.
const moduleSHA256 = "5e90dee7d659e2d4c0de1a4c24ce4838f8343424b504e3c5f17907c197069012"

const howToGetModule = "run reactors/voice/decode/build.sh and build helixd again"

// embedded is adec.wasm, or why there is none.
var embedded = sync.OnceValues(func() (sandbox.Program, error) { return readModule(assets) })

func readModule(from fs.FS) (sandbox.Program, error) {
	code, err := fs.ReadFile(from, "assets/adec.wasm")
	if errors.Is(err, fs.ErrNotExist) {
		return sandbox.Program{}, unavailable(nil, "This helixd was built without the audio decoder: %s.", howToGetModule)
	}
	if err != nil {
		return sandbox.Program{}, unavailable(err, "The audio decoder cannot be read.")
	}
	sum := sha256.Sum256(code)
	if hex.EncodeToString(sum[:]) != moduleSHA256 {
		return sandbox.Program{}, unavailable(nil, "The audio decoder in this helixd is not the one it was written for: %s.", howToGetModule)
	}
	return programOf(code, sum), nil
}

func programOf(code []byte, sum [sha256.Size]byte) sandbox.Program {
	return sandbox.Program{Kind: Kind, SHA256: sum, Code: func(_ context.Context, write func([]byte) error) error {
		return write(code)
	}}
}

// Available is why the decoder that belongs to this helixd cannot run, or nil.
func Available() error {
	_, err := embedded()
	return err
}

// Use makes d run the module in a file instead of the embedded one: an own build
// of it, with other versions of FFmpeg's libraries (docs/licences.md). The file is
// read now, so it may change afterwards.
func (d *Decoder) Use(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("use audio decoder: %w", err)
	}
	if info.Size() > sandbox.MaxModule {
		return fmt.Errorf("use audio decoder %q: it has more than %d MB", path, sandbox.MaxModule>>20)
	}
	code, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("use audio decoder: %w", err)
	}
	d.module = func() (sandbox.Program, error) { return programOf(code, sha256.Sum256(code)), nil }
	return nil
}
