package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// deepest bounds how far arrays and objects of an answer are nested.
const deepest = 256

// RestoreJSON restores a JSON text. Only string values change; the names of an object's members stay, since an
// answer's shape is not the model's to choose, and two might become one. The result is valid JSON; where a value was
// not valid UTF-8, U+FFFD stands in it.
func (s *Session) RestoreJSON(raw json.RawMessage) (json.RawMessage, error) {
	if err := shallow(raw); err != nil {
		return nil, fmt.Errorf("restore JSON: %w", err)
	}
	if !json.Valid(raw) {
		return nil, errors.New("restore JSON: not valid JSON")
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		if raw[i] != '"' {
			out = append(out, raw[i])
			i++
			continue
		}
		end := closing(raw, i)
		literal := raw[i:end]
		i = end
		if member(raw[end:]) || !bytes.ContainsAny(literal, `[\`) {
			out = append(out, literal...)
			continue
		}
		var text string
		if err := json.Unmarshal(literal, &text); err != nil {
			return nil, fmt.Errorf("restore JSON: %w", err)
		}
		restored := s.Restore(text)
		if restored == text {
			out = append(out, literal...)
			continue
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(restored); err != nil {
			return nil, fmt.Errorf("restore JSON: %w", err)
		}
		out = append(out, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
	}
	return out, nil
}

// closing is the place after the string that begins at i.
func closing(raw []byte, i int) int {
	for i++; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

// member says whether the string before is the name of a member.
func member(after []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(after, " \t\r\n"), []byte(":"))
}

func shallow(raw []byte) error {
	depth := 0
	for i := 0; i < len(raw); {
		switch raw[i] {
		case '"':
			i = closing(raw, i)
			continue
		case '[', '{':
			if depth++; depth > deepest {
				return fmt.Errorf("nested deeper than %d", deepest)
			}
		case ']', '}':
			depth--
		}
		i++
	}
	return nil
}
