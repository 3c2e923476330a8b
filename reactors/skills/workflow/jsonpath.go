package workflow

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"

	"github.com/helixd/helixd/reactors/skills/schema"
)

// Bounds of JSONPath. A query costs time that grows with the data by the power of
// its parts, so the parts are few and what they cost is counted.
const (
	maxPath       = 2_000  // bytes
	maxNodes      = 10_000 // that a query selects
	maxPathResult = 1 << 20
	pathBudget    = 10_000_000 // about one comparison each
)

var errPathBudget = errors.New("the expression takes too long on this data: make it simpler")

// query is a parsed JSONPath (RFC 9535). The library parses it, and evaluates one
// comparison in a filter at a time; the way through the data is gone here: with a
// budget, and through objects in the order of their names, so that the same data
// always gives the same result.
type query struct {
	*spec.PathQuery
	scan scan
}

func parseQuery(text string) (*query, error) {
	s, err := scanPath(text)
	if err != nil {
		return nil, err
	}
	if s.roots > 1 {
		return nil, errors.New("a filter cannot begin a path at $ again: it can look at @ only")
	}
	p, err := parsePath(text)
	if err != nil {
		return nil, err
	}
	return &query{PathQuery: p.Query(), scan: s}, nil
}

func parsePath(text string) (p *jsonpath.Path, err error) {
	defer recovered(&err)
	p, err = jsonpath.NewParser(jsonpath.WithRegistry(functions())).Parse(text)
	if err != nil {
		return nil, errors.New(schema.Clip(strings.TrimPrefix(err.Error(), "jsonpath: ")))
	}
	return p, nil
}

// recovered makes an error of a panic in a library that reads what strangers wrote.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("the expression cannot be used: %s", schema.Clip(fmt.Sprint(r)))
	}
}

// value is what the query gives: of a singular one the value or null, else the one
// node or an array of the nodes.
func (q *query) value(root any) (any, error) {
	nodes, err := q.nodes(root, &walk{left: pathBudget})
	switch {
	case err != nil:
		return nil, err
	case len(nodes) == 1:
		return nodes[0], nil
	case q.Singular() != nil:
		return nil, nil
	default:
		return nodes, nil
	}
}

func (q *query) nodes(root any, w *walk) (nodes []any, err error) {
	defer recovered(&err)
	w.begin(root, q.scan, 1+q.scan.relatives)
	nodes = []any{root}
	for _, segment := range q.Segments() {
		next := []any{}
		for _, node := range nodes {
			if next, err = w.segment(next, segment, node); err != nil {
				return nil, err
			}
		}
		nodes = next
	}
	return nodes, nil
}

// walk is the way through one document.
type walk struct {
	root   any
	left   int
	weight int  // of a filter: how often it looks at a node
	deep   bool // a filter holds a descent: the library copies what it finds at each level
	text   int  // of a byte of text in a filter, in units; 0: of 32 bytes, one
}

func (w *walk) begin(root any, s scan, weight int) {
	w.root, w.weight, w.deep = root, weight, s.descents > 0
	if s.regexps {
		w.text = 8
	}
}

func (w *walk) spend(n int) error {
	if w.left -= n; w.left < 0 {
		return errPathBudget
	}
	return nil
}

func (w *walk) segment(to []any, segment *spec.Segment, node any) ([]any, error) {
	var err error
	for _, selector := range segment.Selectors() {
		if to, err = w.selector(to, selector, node); err != nil {
			return nil, err
		}
		if len(to) > maxNodes {
			return nil, fmt.Errorf("the expression gives more than %d values", maxNodes)
		}
	}
	if segment.IsDescendant() {
		for child := range children(node) {
			if to, err = w.segment(to, segment, child); err != nil {
				return nil, err
			}
		}
	}
	return to, nil
}

func (w *walk) selector(to []any, selector spec.Selector, node any) ([]any, error) {
	if err := w.spend(1); err != nil {
		return nil, err
	}
	switch selector := selector.(type) {
	case spec.WildcardSelector:
		for child := range children(node) {
			if to = append(to, child); len(to) > maxNodes {
				break
			}
		}
		return to, w.spend(1)
	case *spec.FilterSelector:
		for child := range children(node) {
			if err := w.filter(child); err != nil {
				return nil, err
			}
			if selector.Eval(child, w.root) {
				to = append(to, child)
			}
		}
		return to, nil
	default: // a name, an index or a slice
		found := selector.Select(node, w.root)
		return append(to, found...), w.spend(len(found))
	}
}

// filter pays for what a filter may look at in node: all of it, as often as the
// filter has parts. Filters hold no union, no descent but the one, and no other
// root, so that this is what it costs at most.
func (w *walk) filter(node any) error {
	n, err := w.size(node, 0)
	if err != nil {
		return err
	}
	return w.spend(n * w.weight)
}

func (w *walk) size(node any, depth int) (int, error) {
	n := 1
	if w.deep {
		n += depth / 8
	}
	if text, ok := node.(string); ok {
		n += len(text)/32 + len(text)*w.text
	}
	if err := w.spend(1); err != nil {
		return 0, err
	}
	for child := range members(node) {
		size, err := w.size(child, depth+1)
		if err != nil {
			return 0, err
		}
		n += size
	}
	return n, nil
}

// children are the values in node, in order.
func children(node any) func(func(any) bool) {
	return func(yield func(any) bool) {
		switch node := node.(type) {
		case []any:
			slices.Values(node)(yield)
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(node)) {
				if !yield(node[name]) {
					return
				}
			}
		}
	}
}

// members are the values in node in any order, which is quicker.
func members(node any) func(func(any) bool) {
	return func(yield func(any) bool) {
		switch node := node.(type) {
		case []any:
			slices.Values(node)(yield)
		case map[string]any:
			maps.Values(node)(yield)
		}
	}
}
