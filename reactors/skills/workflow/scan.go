package workflow

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// scan is what an expression of JSONPath is made of, as far as that decides what it
// may cost. The library's syntax tree does not show what is in a comparison, so
// the text is looked at: strings in it can be told apart without parsing.
type scan struct {
	roots     int      // $
	relatives int      // @
	regexps   bool     // match or search
	descents  int      // ..
	names     []string // the first name of each path from $, "" where it begins otherwise
}

// scanPath refuses what has no bound: more than one descent (each multiplies with
// the others), and in a filter a second filter, a union ([0,0][0,0]… doubles with
// each) and a path from $ (every node times all of the data).
func scanPath(text string) (scan, error) {
	var s scan
	if len(text) > maxPath {
		return s, fmt.Errorf("the expression is longer than %d bytes", maxPath)
	}
	var (
		open    []byte // brackets and parentheses
		filters []int  // of each open filter, how many are open around it
	)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\'', '"':
			end := quoted(text[i:])
			if end < 0 {
				return s, errors.New("a string is not closed")
			}
			i += end
		case '[', '(':
			open = append(open, c)
			if c == '(' && (strings.HasSuffix(text[:i], "match") || strings.HasSuffix(text[:i], "search")) {
				s.regexps = true
			}
		case ']', ')':
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
			for len(filters) > 0 && filters[len(filters)-1] > len(open) {
				filters = filters[:len(filters)-1]
			}
		case '?':
			if filters = append(filters, len(open)); len(filters) > 1 {
				return s, errors.New("a filter cannot hold another filter")
			}
		case ',':
			switch {
			case len(filters) > 0 && len(open) == filters[0]: // the next selector beside the filter
				filters = nil
			case len(open) == 0 || open[len(open)-1] != '[':
			case len(filters) > 0, bytes.IndexByte(open, '(') >= 0:
				return s, errors.New("a path in a filter or a function cannot select by [a,b]")
			}
		case '@':
			s.relatives++
		case '$':
			if len(filters) > 0 {
				return s, errors.New("a filter cannot begin a path at $ again: it can look at @ only")
			}
			s.roots++
			s.names = append(s.names, firstName(text[i+1:]))
		case '.':
			if strings.HasPrefix(text[i:], "..") {
				if s.descents++; s.descents > 1 {
					return s, errors.New("an expression can hold one .. only")
				}
				i++
			}
		}
	}
	return s, nil
}

// quoted is the offset of the quote that closes the string which text begins with,
// or -1.
func quoted(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0]:
			return i
		}
	}
	return -1
}

// firstName is the name that a path selects first, after its $.
func firstName(path string) string {
	path = strings.TrimLeft(path, " \t\r\n")
	if rest, ok := strings.CutPrefix(path, "["); ok {
		rest = strings.TrimLeft(rest, " \t\r\n")
		if rest == "" || (rest[0] != '\'' && rest[0] != '"') {
			return ""
		}
		end := quoted(rest)
		if end < 0 || !strings.HasPrefix(strings.TrimLeft(rest[end+1:], " \t\r\n"), "]") {
			return ""
		}
		return rest[1:end]
	}
	rest, ok := strings.CutPrefix(path, ".")
	if !ok {
		return ""
	}
	end := strings.IndexFunc(rest, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r < 0x80
	})
	if end < 0 {
		end = len(rest)
	}
	return rest[:end]
}
