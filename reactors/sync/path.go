package sync

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// path names a place in a document: a segment for each step down, each with its
// kind. It is encoded so that a path is a prefix of all that are below it, and
// so that sorting keeps what is below a path, and what is of one kind, together.
// The empty path is the whole document.
type path string

// The kinds of a segment say what its parent is.
const (
	member  = 'k' // an object; the segment is the key
	element = 's' // an array as a set; the element's JSON, or its hash where that is long
	item    = 'i' // an array of objects with ids; the id's JSON
)

const (
	segmentEnd = "\x00\x01"
	nul        = "\x00"
	nulEscaped = "\x00\xff"
)

// child is the path of a segment below p.
func (p path) child(kind byte, segment string) path {
	return p + path(kind) + path(strings.ReplaceAll(segment, nul, nulEscaped)) + segmentEnd
}

// next splits the first segment off; p is not empty.
func (p path) next() (kind byte, segment string, rest path) {
	end := strings.Index(string(p), segmentEnd)
	return p[0], strings.ReplaceAll(string(p[1:end]), nulEscaped, nul), p[end+len(segmentEnd):]
}

// MarshalJSON gives an array: a key as a string, an element as {"element": text},
// an item as {"id": text}.
func (p path) MarshalJSON() ([]byte, error) {
	segments := []any{}
	for p != "" {
		var kind byte
		var s string
		kind, s, p = p.next()
		switch kind {
		case member:
			segments = append(segments, s)
		case element:
			segments = append(segments, map[string]string{"element": s})
		default:
			segments = append(segments, map[string]string{"id": s})
		}
	}
	return marshal(segments)
}

// UnmarshalJSON reads what MarshalJSON gives.
func (p *path) UnmarshalJSON(src []byte) error {
	var segments []json.RawMessage
	if err := json.Unmarshal(src, &segments); err != nil {
		return fmt.Errorf("path: %w", err)
	}
	*p = ""
	for _, raw := range segments {
		var key string
		if json.Unmarshal(raw, &key) == nil {
			*p = p.child(member, key)
			continue
		}
		var s struct{ Element, ID *string }
		if err := json.Unmarshal(raw, &s); err != nil {
			return fmt.Errorf("path: %w", err)
		}
		switch {
		case s.Element != nil:
			*p = p.child(element, *s.Element)
		case s.ID != nil:
			*p = p.child(item, *s.ID)
		default:
			return fmt.Errorf("path: a segment is neither a key, an element nor an id")
		}
	}
	return nil
}

// marshal is json.Marshal without its escapes for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
