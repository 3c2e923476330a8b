package javascript

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"io/fs"
	"sync"

	"github.com/helixd/helixd/reactors/sandbox"
)

//go:embed assets
var assets embed.FS

// prelude and web are what a tool finds around itself.
//
//go:embed prelude.js
var prelude string

//go:embed web.js
var web string

// engineSHA256 is that of quickjs.wasm in quickjs-wasi 3.6.2; fetch.sh has it too.
const engineSHA256 = "d4c9375f2b1ca4dc95f72c8aa2982a7a9951ac8011490d79c6582df732b4bbd9"

const howToGetEngine = "run reactors/skills/javascript/fetch.sh, which needs npm, and build helixd again"

// engine is quickjs.wasm, or why there is none.
var engine = sync.OnceValues(func() ([]byte, error) { return readEngine(assets) })

func readEngine(from fs.FS) ([]byte, error) {
	code, err := fs.ReadFile(from, "assets/quickjs.wasm")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, sandbox.Errorf(sandbox.Unavailable, "This helixd was built without the JavaScript engine: %s.", howToGetEngine)
	}
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Unavailable, "The JavaScript engine cannot be read: %v.", err)
	}
	if sum := sha256.Sum256(code); hex.EncodeToString(sum[:]) != engineSHA256 {
		return nil, sandbox.Errorf(sandbox.Unavailable, "The JavaScript engine in this helixd is not the one it was written for: %s.", howToGetEngine)
	}
	return code, nil
}
