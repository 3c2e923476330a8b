package workflow

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"sync"

	"github.com/theory/jsonpath/registry"
	"github.com/theory/jsonpath/spec"
)

// maxProgram is the longest compiled regular expression, in instructions: what a
// match may cost is this times the text.
const maxProgram = 300

// functions are those of RFC 9535, but match and search take a pattern that stands
// in the expression only: a pattern out of the data costs what the data wants.
//
// The library compiles a pattern for every node, twice, so the compiled one is kept.
func functions() *registry.Registry {
	r := registry.New()
	for name, whole := range map[string]bool{"match": true, "search": false} {
		f := regexpFunction{whole: whole}
		*r.Get(name) = *spec.Extension(name, spec.FuncLogical, f.check, f.call)
	}
	return r
}

type regexpFunction struct{ whole bool }

func (f regexpFunction) check(args []spec.FuncExprArg) error {
	if len(args) != 2 {
		return fmt.Errorf("expected 2 arguments but found %d", len(args))
	}
	if !args[0].ConvertsTo(spec.FuncValue) {
		return errors.New("cannot convert argument 1 to Value")
	}
	pattern, ok := args[1].(*spec.LiteralArg)
	if !ok {
		return errors.New("the pattern must stand in the expression: it cannot come out of the data")
	}
	if text, ok := pattern.Value().(string); ok {
		if _, err := f.compile(text); errors.Is(err, errLongProgram) {
			return err
		}
	}
	return nil
}

func (f regexpFunction) call(args []spec.PathValue) spec.PathValue {
	text, ok := spec.ValueFrom(args[0]).Value().(string)
	if !ok {
		return spec.LogicalFalse
	}
	pattern, ok := spec.ValueFrom(args[1]).Value().(string)
	if !ok {
		return spec.LogicalFalse
	}
	re, err := f.compile(pattern)
	if err != nil {
		return spec.LogicalFalse // so says RFC 9535, section 2.4.6
	}
	return spec.Logical(re.MatchString(text))
}

var errLongProgram = errors.New("the pattern repeats too much")

// compiled keeps the last patterns by their text.
var compiled = struct {
	sync.Mutex
	patterns map[string]*regexp.Regexp
}{patterns: map[string]*regexp.Regexp{}}

// compile makes an RFC 9485 pattern, in which a dot is any character but a line's
// end.
func (f regexpFunction) compile(pattern string) (*regexp.Regexp, error) {
	key := fmt.Sprint(f.whole, pattern)
	compiled.Lock()
	defer compiled.Unlock()
	if re := compiled.patterns[key]; re != nil {
		return re, nil
	}
	tree, err := syntax.Parse(pattern, syntax.Perl|syntax.DotNL)
	if err != nil {
		return nil, err
	}
	dots(tree)
	text := tree.String()
	if f.whole {
		text = `\A(?:` + text + `)\z`
	}
	if tree, err = syntax.Parse(text, syntax.Perl); err != nil {
		return nil, err
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	if len(prog.Inst) > maxProgram {
		return nil, errLongProgram
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	if len(compiled.patterns) >= 1000 {
		clear(compiled.patterns)
	}
	compiled.patterns[key] = re
	return re, nil
}

var notLineEnd, _ = syntax.Parse(`[^\n\r]`, syntax.Perl)

func dots(tree *syntax.Regexp) {
	if tree.Op == syntax.OpAnyChar {
		*tree = *notLineEnd
		return
	}
	for _, sub := range tree.Sub {
		dots(sub)
	}
}
