package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"sync"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"github.com/theory/jsonpath/spec"

	"github.com/helixd/helixd/reactors/skills/schema"
)

// condition decides on what the run knows: the input, and the steps' outputs by
// stepId.
type condition interface {
	holds(ctx context.Context, known *known) (bool, error)
}

// aPath is how JSONPath begins: with $, which CEL does not know, after what may
// stand before it.
var aPath = regexp.MustCompile(`^[!(\s]*((count|length|match|search|value)\s*\(\s*)?\$`)

// parseCondition makes a condition of text; ids are the steps it can look at.
func parseCondition(text string, ids []string) (condition, error) {
	if aPath.MatchString(text) {
		return parsePathCondition(text)
	}
	return parseCEL(text, ids)
}

// pathCondition is what RFC 9535 allows in a filter, of paths from $: `$.a.b > 3`,
// `$.x == 'y' && !$.z`. Unlike in a filter a bare path must not only lead to
// something: the first of it must not be false, null, 0 or "".
type pathCondition struct {
	scan
	expression spec.LogicalOr
}

func parsePathCondition(text string) (condition, error) {
	s, err := scanPath(text)
	if err != nil {
		return nil, err
	}
	p, err := parsePath("$[?" + text + "]")
	if err != nil {
		return nil, err
	}
	segments := p.Query().Segments()
	if len(segments) != 1 || len(segments[0].Selectors()) != 1 {
		return nil, errors.New("it is not one expression")
	}
	filter, ok := segments[0].Selectors()[0].(*spec.FilterSelector)
	if !ok {
		return nil, errors.New("it is not one expression")
	}
	return pathCondition{scan: s, expression: filter.LogicalOr}, nil
}

func (c pathCondition) holds(_ context.Context, k *known) (holds bool, err error) {
	defer recovered(&err)
	return c.or(c.expression, k.values, &walk{left: pathBudget})
}

func (c pathCondition) or(or spec.LogicalOr, root any, w *walk) (bool, error) {
	for _, and := range or {
		if holds, err := c.and(and, root, w); holds || err != nil {
			return holds, err
		}
	}
	return false, nil
}

func (c pathCondition) and(and spec.LogicalAnd, root any, w *walk) (bool, error) {
	for _, part := range and {
		if holds, err := c.part(part, root, w); !holds || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (c pathCondition) part(part spec.BasicExpr, root any, w *walk) (bool, error) {
	switch part := part.(type) {
	case *spec.ParenExpr:
		return c.or(part.LogicalOr, root, w)
	case *spec.NotParenExpr:
		holds, err := c.or(part.LogicalOr, root, w)
		return !holds && err == nil, err
	case *spec.ExistExpr:
		return c.truthy(part.PathQuery, root, w)
	case *spec.NonExistExpr:
		holds, err := c.truthy(part.PathQuery, root, w)
		return !holds && err == nil, err
	default: // a comparison or a function, in which the library evaluates all paths
		w.begin(root, c.scan, 1)
		if err := w.filter(root); err != nil {
			return false, err
		}
		if c.relatives > 0 { // a filter in it
			if err := w.spend(c.relatives * (pathBudget - w.left)); err != nil {
				return false, err
			}
		}
		return spec.Filter(spec.And(part)).Eval(root, root), nil
	}
}

func (c pathCondition) truthy(path *spec.PathQuery, root any, w *walk) (bool, error) {
	nodes, err := (&query{PathQuery: path, scan: c.scan}).nodes(root, w)
	if err != nil || len(nodes) == 0 {
		return false, err
	}
	switch v := nodes[0].(type) {
	case nil:
		return false, nil
	case bool:
		return v, nil
	case string:
		return v != "", nil
	case json.Number:
		f, _ := v.Float64()
		return f != 0, nil
	default:
		return true, nil
	}
}

// Bounds of CEL. The cost is cel-go's own unit: about one operation on a value.
const (
	celCost    = 1_000_000
	celTime    = time.Second
	celNesting = 2 // comprehensions in each other
)

type celCondition struct {
	env *cel.Env
	ast *cel.Ast
}

// celName is what can be a variable in CEL; other stepIds are in steps["…"].
var celName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// celEnv is what all conditions have; making it takes milliseconds.
var celEnv = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(
		cel.Variable("input", cel.DynType),
		cel.Variable("steps", cel.MapType(cel.StringType, cel.DynType)),
		cel.CrossTypeNumericComparisons(true),
		cel.ParserExpressionSizeLimit(maxPath),
		cel.ParserRecursionLimit(50),
		cel.ExpressionNodeLimit(5_000),
		cel.RegexProgramSizeLimit(maxProgram),
		cel.ASTValidators(cel.ValidateComprehensionNestingLimit(celNesting), cel.ValidateRegexLiterals()),
	)
})

func parseCEL(text string, ids []string) (c condition, err error) {
	defer recovered(&err)
	env, err := celEnv()
	if err != nil {
		return nil, err
	}
	var options []cel.EnvOption
	for _, id := range ids {
		if celName.MatchString(id) {
			options = append(options, cel.Variable(id, cel.DynType))
		}
	}
	if env, err = env.Extend(options...); err != nil {
		return nil, err
	}
	ast, issues := env.Compile(text)
	if err := issues.Err(); err != nil {
		return nil, errors.New(celMessage(err))
	}
	if t := ast.OutputType(); !t.IsExactType(cel.BoolType) && !t.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("it gives %s, not true or false", t)
	}
	c = celCondition{env, ast}
	_, err = c.(celCondition).program(0)
	return c, err
}

func (c celCondition) program(nodes int) (cel.Program, error) {
	program, err := c.env.Program(c.ast, cel.CostLimit(celCost), cel.CostTracking(deepCost(nodes)), cel.InterruptCheckFrequency(1))
	if err != nil {
		return nil, errors.New(celMessage(err))
	}
	return program, nil
}

// deepCost is how many values a run knows. cel-go counts comparing two lists as
// their lengths, but what is in them is compared too: at most all there is.
type deepCost int

func (n deepCost) CallCost(function, _ string, args []ref.Val, _ ref.Val) *uint64 {
	if function != operators.Equals && function != operators.NotEquals && function != operators.In {
		return nil
	}
	for _, arg := range args {
		switch arg.(type) {
		case traits.Lister, traits.Mapper:
			cost := uint64(n/4) + 1
			return &cost
		}
	}
	return nil
}

func (c celCondition) holds(ctx context.Context, k *known) (holds bool, err error) {
	defer recovered(&err)
	ctx, cancel := context.WithTimeout(ctx, celTime)
	defer cancel()
	program, err := c.program(k.nodes)
	if err != nil {
		return false, err
	}
	v, _, err := program.ContextEval(ctx, k.variables())
	if err != nil {
		return false, errors.New(celMessage(err))
	}
	b, ok := v.(types.Bool)
	if !ok {
		return false, fmt.Errorf("it gave %s, not true or false", v.Type().TypeName())
	}
	return bool(b), nil
}

// celMessage is the first line of a message, without the picture of the source.
func celMessage(err error) string {
	line, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "ERROR: <input>:"), "\n")
	return schema.Clip(line)
}

// native makes of a decoded document what CEL calculates with: an integer where
// the number is written as one, else a double.
func native(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, err := v.Float64()
		if err != nil {
			return math.Copysign(math.Inf(1), f)
		}
		return f
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = native(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[name] = native(member)
		}
		return out
	default:
		return v
	}
}
