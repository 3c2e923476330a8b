package attack_test

import (
	"slices"

	"github.com/helixd/helixd/reactors/sandbox"
)

// attack is a hostile program and how it must end.
type attack struct {
	name string
	code func() []byte
	// expect are the codes that may end it. Where there are none, or output is
	// given, it may end well: contained, with this output.
	expect []sandbox.Code
	output string // JSON; "": any
	kind   string // "": WebAssembly
	// defaults says to run it at the default limits, not at the suite's small ones.
	defaults bool
	// long says that it costs seconds of CPU, and runs where HELIX_TEST_LONG is set.
	long bool
}

// ends is an attack that ends with one of these codes.
func ends(name string, code func() []byte, expect ...sandbox.Code) attack {
	return attack{name: name, code: code, expect: expect}
}

// contained is an attack that runs to its end and finds nothing: output says so.
func contained(name, output string, code func() []byte) attack {
	return attack{name: name, code: code, output: output}
}

// costly is the same attack, as one that runs in the long tests.
func (a attack) costly() attack {
	a.long = true
	return a
}

// bytesOf is a module that needs no computing.
func bytesOf(b []byte) func() []byte { return func() []byte { return b } }

func modules() []attack {
	return slices.Concat(decodeModules, compileModules, memoryModules, stackModules, cpuModules, hostModules, escapeModules, outputModules)
}
