package sync

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// What is past these bounds merges as one value.
const (
	maxDocument = 1 << 20 // bytes
	maxLeaves   = 10_000
	maxPaths    = 4 << 20 // bytes of all paths, which repeat the keys above; or pathsPer of the document's
	pathsPer    = 8
	maxDepth    = 32
	maxSegment  = 64 // bytes of a set's element in a path; longer ones are hashed
)

// leaves are a document's values by path: scalars, null, atomic arrays, and
// empty containers. The value is JSON in jsonb's own text form; SQL NULL is "".
type leaves map[path]string

// maxNesting bounds data: what is read as JSON here gives up at 10,000, where
// Postgres does not.
const maxNesting = 1000

// errNesting rejects a row for good.
var errNesting = fmt.Errorf("data is nested more than %d deep", maxNesting)

// errUnmergeable says that a document is past the bounds.
var errUnmergeable = errors.New("too many leaves or too long paths")

// flatten takes a document apart.
func flatten(data []byte, arrays arrayModes) leaves {
	whole := leaves{"": string(data)}
	if len(data) > maxDocument || !json.Valid(data) { // not SQL NULL either
		return whole
	}
	f := &flattener{out: leaves{}, arrays: arrays, room: min(maxPaths, 64<<10+pathsPer*len(data))}
	if f.walk("", "", strings.TrimSpace(string(data)), 0) != nil {
		return whole
	}
	return f.out
}

type flattener struct {
	out    leaves
	arrays arrayModes
	room   int // bytes of paths to come
}

func (f *flattener) put(p path, value string) error {
	f.out[p] = value
	if f.room -= len(p); f.room < 0 || len(f.out) > maxLeaves {
		return errUnmergeable
	}
	return nil
}

// walk adds what is at p; pointer names it by its keys alone (RFC 6901).
func (f *flattener) walk(p path, pointer, src string, depth int) error {
	if depth >= maxDepth && src[0] != '[' {
		return f.put(p, src)
	}
	switch src[0] {
	case '{':
		members := objectMembers(src)
		if len(members) == 0 {
			return f.put(p, "{}")
		}
		for key, value := range members {
			if err := f.walk(p.child(member, key), pointer+"/"+escapePointer.Replace(key), value, depth+1); err != nil {
				return err
			}
		}
		return nil
	case '[':
		return f.array(p, pointer, src, depth)
	}
	return f.put(p, src)
}

func (f *flattener) array(p path, pointer, src string, depth int) error {
	mode := f.arrays.of(pointer)
	elements := arrayElements(src)
	switch {
	case len(elements) == 0:
		return f.put(p, emptyOf(mode))
	case mode == atomic || depth >= maxDepth:
		return f.put(p, src)
	}
	if mode == asSet {
		for _, e := range elements {
			if err := f.put(p.child(element, setSegment(e)), e); err != nil {
				return err
			}
		}
		return nil
	}
	items := map[string]map[string]string{}
	for _, e := range elements {
		var members map[string]string
		if e[0] == '{' {
			members = objectMembers(e)
		}
		id := members["id"]
		if id == "" || !strings.ContainsAny(id[:1], `"-0123456789`) || items[id] != nil {
			return f.put(p, src) // not objects with ids of their own
		}
		items[id] = members
	}
	for id, members := range items {
		at := p.child(item, id)
		if len(members) == 1 {
			if err := f.put(at, "{}"); err != nil {
				return err
			}
		}
		for key, value := range members {
			if key == "id" {
				continue // the path has it
			}
			if err := f.walk(at.child(member, key), pointer+"/"+escapePointer.Replace(key), value, depth+2); err != nil {
				return err
			}
		}
	}
	return nil
}

// The empty arrays that are containers are told from the atomic one by a blank.
func emptyOf(mode arrayMode) string {
	switch mode {
	case asSet:
		return "[ ]"
	case byID:
		return "[  ]"
	}
	return "[]"
}

// container is the kind that an empty container's members have, 0 of any other value.
func container(value string) byte {
	switch value {
	case "{}":
		return member
	case "[ ]":
		return element
	case "[  ]":
		return item
	}
	return 0
}

func setSegment(e string) string {
	if len(e) <= maxSegment {
		return e
	}
	sum := sha256.Sum256([]byte(e))
	return "#" + hex.EncodeToString(sum[:]) // JSON begins otherwise
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// objectMembers are the members of a valid JSON object, as they stand.
func objectMembers(src string) map[string]string {
	members := map[string]string{}
	for at := skipBlank(src, 1); src[at] != '}'; {
		if src[at] == ',' {
			at = skipBlank(src, at+1)
		}
		end := skipValue(src, at)
		key := unquote(src[at:end])
		at = skipBlank(src, end)
		at = skipBlank(src, at+1) // the colon
		end = skipValue(src, at)
		members[key] = src[at:end]
		at = skipBlank(src, end)
	}
	return members
}

// arrayElements are the elements of a valid JSON array, as they stand.
func arrayElements(src string) (elements []string) {
	for at := skipBlank(src, 1); src[at] != ']'; {
		if src[at] == ',' {
			at = skipBlank(src, at+1)
		}
		end := skipValue(src, at)
		elements = append(elements, src[at:end])
		at = skipBlank(src, end)
	}
	return elements
}

// tooNested reports whether JSON is nested more than maxNesting deep.
func tooNested(src []byte) bool {
	depth := 0
	for at := 0; at < len(src); at++ {
		switch src[at] {
		case '"':
			for at++; at < len(src) && src[at] != '"'; at++ {
				if src[at] == '\\' {
					at++
				}
			}
		case '{', '[':
			if depth++; depth > maxNesting {
				return true
			}
		case '}', ']':
			depth--
		}
	}
	return false
}

func skipBlank(src string, at int) int {
	for at < len(src) && strings.IndexByte(" \t\r\n", src[at]) >= 0 {
		at++
	}
	return at
}

// skipValue gives the end of the value that begins at; without recursion.
func skipValue(src string, at int) int {
	for depth := 0; at < len(src); {
		switch src[at] {
		case '"':
			for at++; src[at] != '"'; at++ {
				if src[at] == '\\' {
					at++
				}
			}
			at++
		case '{', '[':
			depth++
			at++
		case '}', ']':
			depth--
			at++
		case ',', ':', ' ', '\t', '\r', '\n':
			at++
			continue
		default:
			for at < len(src) && strings.IndexByte(",:]} \t\r\n", src[at]) < 0 {
				at++
			}
		}
		if depth == 0 {
			return at
		}
	}
	return at
}

func unquote(src string) string {
	if strings.IndexByte(src, '\\') < 0 {
		return src[1 : len(src)-1]
	}
	var s string
	_ = json.Unmarshal([]byte(src), &s) // a valid string
	return s
}

// build puts a document together, in jsonb's own text form; nil is SQL NULL.
// The leaves are compatible: none is above another.
func build(l leaves) []byte {
	if len(l) == 0 {
		return []byte("{}") // every member was removed, by one device or another
	}
	b := builder{leaves: l, paths: slices.Sorted(maps.Keys(l))}
	b.value("", 0, len(b.paths))
	if len(b.out) == 0 {
		return nil
	}
	return b.out
}

type builder struct {
	leaves leaves
	paths  []path
	out    []byte
}

// part is what is below one segment.
type part struct {
	segment  string
	path     path
	from, to int
}

// value appends what is at p; paths[from:to] are there or below.
func (b *builder) value(p path, from, to int) {
	if from < to && b.paths[from] == p {
		if from+1 == to {
			switch v := b.leaves[p]; container(v) {
			case element, item:
				b.out = append(b.out, "[]"...)
			default:
				b.out = append(b.out, v...)
			}
			return
		}
		from++ // an empty container, which has members by now
	}
	kind, parts := b.parts(p, from, to)
	if kind == member {
		b.object(parts, "")
		return
	}
	b.out = append(b.out, '[')
	for i, part := range parts {
		if i > 0 {
			b.out = append(b.out, ", "...)
		}
		if kind == element {
			b.value(part.path, part.from, part.to)
			continue
		}
		if b.paths[part.from] == part.path {
			part.from++ // an item without members
		}
		_, members := b.parts(part.path, part.from, part.to)
		b.object(members, part.segment)
	}
	b.out = append(b.out, ']')
}

func (b *builder) parts(p path, from, to int) (kind byte, parts []part) {
	for at := from; at < to; {
		var segment string
		var rest path
		kind, segment, rest = b.paths[at][len(p):].next()
		s := part{segment: segment, path: b.paths[at][:len(b.paths[at])-len(rest)], from: at}
		for at < to && strings.HasPrefix(string(b.paths[at]), string(s.path)) {
			at++
		}
		s.to = at
		parts = append(parts, s)
	}
	return kind, parts
}

// object appends an object, with the id of an item.
func (b *builder) object(parts []part, id string) {
	if id != "" {
		parts = append(parts, part{segment: "id", to: -1})
	}
	slices.SortFunc(parts, func(x, y part) int { // as jsonb does
		return cmp.Or(cmp.Compare(len(x.segment), len(y.segment)), cmp.Compare(x.segment, y.segment))
	})
	b.out = append(b.out, '{')
	for i, part := range parts {
		if i > 0 {
			b.out = append(b.out, ", "...)
		}
		b.out = append(quote(b.out, part.segment), ": "...)
		if part.to < 0 {
			b.out = append(b.out, id...)
		} else {
			b.value(part.path, part.from, part.to)
		}
	}
	b.out = append(b.out, '}')
}

// quote appends a JSON string, as jsonb prints it.
func quote(b []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"', c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c == '\b':
			b = append(b, `\b`...)
		case c == '\f':
			b = append(b, `\f`...)
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
