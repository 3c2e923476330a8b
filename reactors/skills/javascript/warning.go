package javascript

import "github.com/helixd/helixd/reactors/sandbox"

func warnings([]byte) []sandbox.Warning { return nil }
