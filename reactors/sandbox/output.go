package sandbox

import (
	"encoding/json"
	"unicode/utf8"
)

// maxNesting is how deep JSON may nest, so that no reader of it recurses further.
const maxNesting = 1000

// checkOutput looks at what a child calls the output.
func checkOutput(b []byte) *Error {
	switch {
	case !utf8.Valid(b):
		return Errorf(InvalidOutput, "The output is not valid UTF-8.")
	case nesting(b) > maxNesting:
		return Errorf(InvalidOutput, "The output nests deeper than %d levels.", maxNesting)
	case !json.Valid(b):
		return Errorf(InvalidOutput, "The output is not JSON.")
	}
	return nil
}

// nesting is the depth of brackets outside of strings.
func nesting(b []byte) int {
	depth, deepest, quoted := 0, 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}
