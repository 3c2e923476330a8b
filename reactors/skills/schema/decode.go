// Package schema checks foreign JSON: that it is JSON which everything behind it
// can hold, and that it follows a JSON Schema which may be foreign as well.
//
// No schema can read a file or the network, and no pair of schema and document
// takes long: what the two may cost is counted while they are compared.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of a document.
const (
	MaxDepth = 1_000   // arrays and objects in each other
	MaxNodes = 1 << 20 // values, of 30 bytes each in memory; see Weight
	// Longer numbers cost more than their size to calculate with: 1e999999999 is a
	// gigabyte as an integer.
	maxDigits   = 1_000
	maxExponent = 1_000
)

// objectNodes is how many values an object takes the memory of, however small.
const objectNodes = 12

// Weight is how many values v counts as: as many as it is made of, and each object
// for twelve.
func Weight(v any) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			n += Weight(item)
		}
	case map[string]any:
		n = objectNodes
		for _, member := range v {
			n += Weight(member)
		}
	}
	return n
}

// Error is what is wrong with a document, and where.
type Error struct {
	Pointer string // RFC 6901, into the document; "" is all of it
	Message string // a person can act on it; it holds little of the value
}

func (e *Error) Error() string {
	if e.Pointer == "" {
		return e.Message
	}
	return e.Pointer + ": " + e.Message
}

// Decode reads one JSON value as any, with numbers as json.Number. It refuses, as
// an *Error, what RFC 8259 allows and others read in another way or not at all: a
// key twice in an object, half a surrogate pair, U+0000 (Postgres cannot store
// it), and what is beyond the bounds.
func Decode(doc []byte) (any, error) { return decode(doc, true) }

// Check says what Decode would refuse. It keeps nothing of the document: decoded, a
// megabyte of small objects takes fifty.
func Check(doc []byte) error {
	_, err := decode(doc, false)
	return err
}

func decode(doc []byte, keep bool) (any, error) {
	if !utf8.Valid(doc) {
		return nil, &Error{Message: "is not valid UTF-8"}
	}
	if err := CheckEscapes(doc); err != nil {
		return nil, err
	}
	d := decoder{json: json.NewDecoder(bytes.NewReader(doc)), keep: keep}
	d.json.UseNumber()
	v, err := d.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := d.json.Token(); !errors.Is(err, io.EOF) {
		return nil, &Error{Message: "goes on after its JSON value"}
	}
	return v, nil
}

type decoder struct {
	json  *json.Decoder
	keep  bool // what is decoded, not only that it can be
	nodes int
}

// count bounds what the document weighs. What is not kept weighs nothing.
func (d *decoder) count(nodes int) error {
	if !d.keep {
		return nil
	}
	if d.nodes += nodes; d.nodes > MaxNodes {
		return &Error{Message: fmt.Sprintf("has more than %d values, where an object counts for %d", MaxNodes, objectNodes)}
	}
	return nil
}

// value reads one value. Its errors point from there: each array and object that
// they come through puts itself in front.
func (d *decoder) value(depth int) (any, error) {
	token, err := d.token()
	if err != nil {
		return nil, err
	}
	if err := d.count(1); err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		if depth++; depth > MaxDepth {
			return nil, &Error{Message: fmt.Sprintf("is nested deeper than %d", MaxDepth)}
		}
		if token == '[' {
			return d.array(depth)
		}
		return d.object(depth)
	case json.Number:
		return token, checkNumber(string(token))
	default:
		return token, nil
	}
}

func (d *decoder) array(depth int) (any, error) {
	array := []any{}
	for i := 0; d.json.More(); i++ {
		v, err := d.value(depth)
		if err != nil {
			return nil, under(strconv.Itoa(i), err)
		}
		if d.keep {
			array = append(array, v)
		}
	}
	_, err := d.token()
	return array, err
}

func (d *decoder) object(depth int) (any, error) {
	if err := d.count(objectNodes - 1); err != nil {
		return nil, err
	}
	object := map[string]any{}
	for d.json.More() {
		token, err := d.token()
		if err != nil {
			return nil, err
		}
		key := token.(string)
		if _, twice := object[key]; twice {
			return nil, &Error{Message: fmt.Sprintf("has the key %s twice", Clip(strconv.Quote(key)))}
		}
		v, err := d.value(depth)
		if err != nil {
			return nil, under(key, err)
		}
		if !d.keep {
			v = nil
		}
		object[key] = v
	}
	_, err := d.token()
	return object, err
}

func (d *decoder) token() (json.Token, error) {
	token, err := d.json.Token()
	switch {
	case err == nil:
		return token, nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, &Error{Message: "is not JSON: it ends too early"}
	default:
		return nil, &Error{Message: fmt.Sprintf("is not JSON: %s at byte %d", Clip(err.Error()), d.json.InputOffset())}
	}
}

// under puts a token in front of the pointer of err, of which no more than its
// beginning is kept.
func under(token string, err error) error {
	var e *Error
	if errors.As(err, &e) {
		e.Pointer = clip(Pointer(token)+e.Pointer, 1000)
	}
	return err
}

// Pointer makes an RFC 6901 pointer of tokens.
func Pointer(tokens ...string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(t))
	}
	return b.String()
}

func checkNumber(number string) error {
	digits, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	if len(digits) > maxDigits {
		return &Error{Message: fmt.Sprintf("is a number of more than %d digits", maxDigits)}
	}
	if exponent == "" {
		return nil
	}
	if n, err := strconv.Atoi(exponent); err != nil || n > maxExponent || n < -maxExponent {
		return &Error{Message: fmt.Sprintf("is a number with an exponent beyond %d", maxExponent)}
	}
	return nil
}

// CheckEscapes refuses, as an *Error, escapes that are no character which Postgres
// stores. Backslashes are in strings only, so it needs no parser: where there are
// others, a decoder finds them.
func CheckEscapes(doc []byte) error {
	unit := func(i int) (rune, bool) {
		if i+6 > len(doc) || doc[i] != '\\' || doc[i+1] != 'u' {
			return 0, false
		}
		n, err := strconv.ParseUint(string(doc[i+2:i+6]), 16, 16)
		return rune(n), err == nil
	}
	for i := 0; i < len(doc); i++ {
		if doc[i] != '\\' {
			continue
		}
		r, ok := unit(i)
		i++ // what is escaped
		if !ok {
			continue
		}
		switch {
		case r == 0:
			return &Error{Message: fmt.Sprintf("has the character U+0000 at byte %d, which Postgres cannot store", i-1)}
		case r >= 0xDC00 && r < 0xE000:
			return &Error{Message: fmt.Sprintf("has half a surrogate pair at byte %d", i-1)}
		case r >= 0xD800 && r < 0xDC00:
			if low, ok := unit(i + 5); !ok || low < 0xDC00 || low >= 0xE000 {
				return &Error{Message: fmt.Sprintf("has half a surrogate pair at byte %d", i-1)}
			}
			i += 6
		}
	}
	return nil
}

// Clip cuts what came from a stranger to a length that suits a message: 100 bytes.
func Clip(s string) string { return clip(s, 100) }

func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most-3], "") + "…"
}
