package workflow

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/helixd/helixd/reactors/skills/schema"
)

// mapping makes a document of what is known: one query gives all of it, else it is
// an object whose members are queries and literals.
type mapping struct {
	whole    *query
	queries  map[string]*query
	literals map[string]any
}

// mappingError says which member of a mapping is wrong.
type mappingError struct {
	name string // "" for the whole
	err  error
}

func (e *mappingError) Error() string { return e.err.Error() }
func (e *mappingError) Unwrap() error { return e.err }

// parseMapping makes a mapping of a decoded string or object.
func parseMapping(v any) (*mapping, error) {
	if text, ok := v.(string); ok {
		q, err := parseQuery(text)
		if err != nil {
			return nil, &mappingError{err: err}
		}
		return &mapping{whole: q}, nil
	}
	m := &mapping{queries: map[string]*query{}, literals: map[string]any{}}
	members := v.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		text, ok := members[name].(string)
		switch {
		case ok && strings.HasPrefix(text, "$$"):
			m.literals[name] = text[1:]
		case ok && strings.HasPrefix(text, "$"):
			q, err := parseQuery(text)
			if err != nil {
				return nil, &mappingError{name, err}
			}
			m.queries[name] = q
		default:
			m.literals[name] = members[name]
		}
	}
	return m, nil
}

// all are the queries in m by the names of their members.
func (m *mapping) all() map[string]*query {
	if m.whole != nil {
		return map[string]*query{"": m.whole}
	}
	return m.queries
}

// of gives the value of m over root, and its JSON.
func (m *mapping) of(root any) (any, json.RawMessage, error) {
	if m.whole != nil {
		v, err := m.whole.value(root)
		if err != nil {
			return nil, nil, err
		}
		doc, err := encode(v)
		return v, doc, err
	}
	object := maps.Clone(m.literals)
	for name, q := range m.queries {
		v, err := q.value(root)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", schema.Clip(name), err)
		}
		object[name] = v
	}
	doc, err := encode(object)
	return object, doc, err
}

var errLongResult = errors.New("the mapping gives more than 1 MB")

func encode(v any) (json.RawMessage, error) {
	// A query can select what holds other nodes that it selects as well: it is not
	// written before it is known to be short.
	if left := maxPathResult; !short(v, &left) {
		return nil, errLongResult
	}
	doc, err := json.Marshal(v)
	if err == nil && len(doc) > maxPathResult {
		return nil, errLongResult
	}
	return doc, err
}

func short(v any, left *int) bool {
	*left--
	switch v := v.(type) {
	case string:
		*left -= len(v)
	case map[string]any:
		for name := range v {
			*left -= len(name)
		}
	}
	for child := range members(v) {
		if *left < 0 || !short(child, left) {
			return false
		}
	}
	return *left >= 0
}
