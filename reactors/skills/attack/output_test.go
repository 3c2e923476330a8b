package attack_test

import (
	"strings"

	"github.com/helixd/helixd/reactors/sandbox"
)

// says is a skill that puts this into memory at 1024 and gives it as its output.
func says(output string) []byte {
	return program{memory: cat(1, 0, 64), datas: [][]byte{data(1024, output)}}.skill(c32(2*mega), at(1024, uint32(len(output))))
}

// outputModules say what a row cannot hold, or what is not theirs.
var outputModules = []attack{
	ends("output past memory", bytesOf(program{}.skill(bump, at(0xfffffff0, 8))), sandbox.Trap, sandbox.InvalidOutput),
	ends("output of 4 GB", bytesOf(program{}.skill(bump, at(0, huge))), sandbox.Trap, sandbox.InvalidOutput, sandbox.OutputTooLarge),
	ends("output of all of memory", bytesOf(program{memory: cat(1, 0, 2000)}.skill(bump, at(0, 2000*65536))), sandbox.OutputTooLarge),
	ends("output one byte too long", func() []byte { return says(`"` + strings.Repeat("a", mega-1) + `"`) }, sandbox.OutputTooLarge),
	contained("no output", "null", bytesOf(program{}.skill(bump, at(0, 0)))),
	ends("output is not JSON", bytesOf(says(`{"a":`)), sandbox.InvalidOutput),
	ends("output is two values", bytesOf(says(`1 2`)), sandbox.InvalidOutput),
	ends("output is not UTF-8", bytesOf(says("\"\xff\xfe\"")), sandbox.InvalidOutput),
	ends("output has a byte of zero", bytesOf(says("\"\x00\"")), sandbox.InvalidOutput),
	ends("output is nested too deep", func() []byte { return says(strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)) }, sandbox.InvalidOutput),
	ends("output is NaN", bytesOf(program{types: [][]byte{sig(nil, []op{f64})}}.function("execute",
		fn{typ: typesGiven, body: cat(constF64, []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x7f})})), sandbox.InvalidOutput),
	ends("output is infinite", bytesOf(program{types: [][]byte{sig(nil, []op{f64})}}.function("execute",
		fn{typ: typesGiven, body: cat(constF64, []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x7f})})), sandbox.InvalidOutput),
	ends("output is a sign", bytesOf(says(`-`)), sandbox.InvalidOutput),
	ends("output is in UTF-16", bytesOf(says("\xff\xfe1\x00")), sandbox.InvalidOutput),
	// JSON that no jsonb holds.
	{name: "output has an escaped zero", code: bytesOf(says(`"\u0000"`)), output: `"\u0000"`, expect: []sandbox.Code{sandbox.InvalidOutput}},
	{name: "output has half a surrogate pair", code: bytesOf(says(`"\ud800"`)), output: `"\ud800"`, expect: []sandbox.Code{sandbox.InvalidOutput}},
	{name: "output is a number of a million digits", code: bytesOf(says(`1e999999`)), output: `1e999999`, expect: []sandbox.Code{sandbox.InvalidOutput}},
	contained("command without output", "null", bytesOf(program{}.command(nop))),
}
