package sandbox

import "github.com/helixd/helixd/reactors/sandbox/isolate"

// Layer is one wall between a child and the machine, as it was found to hold: a
// child tried what it forbids.
type Layer = isolate.Layer
