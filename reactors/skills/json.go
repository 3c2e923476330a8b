package skills

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/helixd/helixd/reactors/skills/schema"
)

const (
	maxDepth  = 1000 // of JSON in rows
	maxDigits = 100  // of a number in JSON, with its exponent's zeros: as what clients write
)

// storable says what keeps JSON out of a jsonb column, though it is JSON: what
// Postgres would say of it would be the error of all that is written with it.
func storable(b []byte) error {
	if !json.Valid(b) {
		return fmt.Errorf("it is not JSON")
	}
	if err := schema.CheckEscapes(b); err != nil {
		return fmt.Errorf("it %w", err)
	}
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return fmt.Errorf("it is nested more than %d deep", maxDepth)
			}
		case c == '}' || c == ']':
			depth--
		case c == '-' || c >= '0' && c <= '9':
			end := i
			for end < len(b) && bytes.IndexByte([]byte("+-.eE0123456789"), b[end]) >= 0 {
				end++
			}
			if !storableNumber(b[i:end]) {
				return fmt.Errorf("it has a number of more than %d digits", maxDigits)
			}
			i = end - 1
		}
	}
	return nil
}

func storableNumber(b []byte) bool {
	if len(b) > maxDigits {
		return false
	}
	if e := bytes.IndexAny(b, "eE"); e >= 0 {
		n, err := strconv.Atoi(string(b[e+1:]))
		return err == nil && n <= maxDigits && n >= -maxDigits
	}
	return true
}

// jsonFault says what was wrong with JSON, in the words of who wrote it.
func jsonFault(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		field := wrong.Field
		if field == "" {
			field = "it"
		}
		return fmt.Sprintf("%s is %s", field, wrong.Value)
	}
	return clean(strings.TrimPrefix(err.Error(), "json: "), 200)
}
