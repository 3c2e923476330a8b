// Child is a worker child that decodes recordings and nothing else.
package main

import (
	"os"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/voice/decode"
)

func main() { os.Exit(sandbox.RunChild(map[string]sandbox.Guest{decode.Kind: decode.Guest{}})) }
