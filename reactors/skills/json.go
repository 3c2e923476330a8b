package skills

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
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
	depth := 0
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return fmt.Errorf("it is nested more than %d deep", maxDepth)
			}
		case c == '}' || c == ']':
			depth--
		case c == '"':
			end, err := storableString(b, i+1)
			if err != nil {
				return err
			}
			i = end
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

// storableString reads a valid string from behind its quote to its end.
func storableString(b []byte, i int) (end int, err error) {
	hex := func(at int) uint64 {
		if at+6 > len(b) || b[at] != '\\' || b[at+1] != 'u' {
			return 0
		}
		n, _ := strconv.ParseUint(string(b[at+2:at+6]), 16, 16)
		return n
	}
	for ; b[i] != '"'; i++ {
		if b[i] != '\\' {
			continue
		}
		if b[i+1] != 'u' {
			i++
			continue
		}
		switch n := hex(i); {
		case n == 0:
			return 0, fmt.Errorf(`it has the character \u0000`)
		case n >= 0xD800 && n < 0xDC00:
			if low := hex(i + 6); low < 0xDC00 || low > 0xDFFF {
				return 0, fmt.Errorf("it has half of a surrogate pair")
			}
			i += 11
		case n >= 0xDC00 && n < 0xE000:
			return 0, fmt.Errorf("it has half of a surrogate pair")
		default:
			i += 5
		}
	}
	return i, nil
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
