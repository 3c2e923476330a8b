package schema

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Bounds of a schema.
const (
	MaxSchema  = 256 << 10 // bytes
	maxPattern = 1_000     // bytes of one regular expression
	maxProgram = 2_000     // instructions of one compiled regular expression

	// What it takes in memory: a kilobyte for each object, 44 bytes for each
	// instruction. A schema of 256 KB could have 200 MB of them.
	maxObjects      = 5_000
	maxInstructions = 100_000 // of all regular expressions, each of which is compiled twice
)

// Schema is a compiled JSON Schema (2020-12, or the draft that its $schema names).
// It may be used by several goroutines; they take turns.
type Schema struct {
	schema *jsonschema.Schema
	mu     sync.Mutex
	meter  *meter
	bytes  int
}

// Bytes is about what the schema takes in memory.
func (s *Schema) Bytes() int { return s.bytes }

// base is where a schema is, for references within it. Nothing is ever read there.
const base = "schema:///parameters"

// Compile makes a Schema of a JSON document. Its *Error points into the schema as
// far as that is known.
func Compile(doc []byte) (*Schema, error) {
	if len(doc) > MaxSchema {
		return nil, &Error{Message: fmt.Sprintf("the schema is larger than %d bytes", MaxSchema)}
	}
	v, err := Decode(doc)
	if err != nil {
		return nil, err
	}
	switch v.(type) {
	case bool, map[string]any:
	default:
		return nil, &Error{Message: "a JSON Schema is an object, true or false"}
	}
	n := objects(v)
	if n > maxObjects {
		return nil, &Error{Message: fmt.Sprintf("the schema has more than %d objects", maxObjects)}
	}
	instructions := 0
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(func(expression string) (jsonschema.Regexp, error) {
		if instructions > maxInstructions {
			return nil, errors.New("all patterns together repeat too much")
		}
		p, err := compileRegexp(expression)
		if err != nil {
			return nil, err
		}
		instructions += p.instructions
		return p, nil
	})
	if err := c.AddResource(base, v); err != nil {
		return nil, compileError(err)
	}
	s, err := c.Compile(base)
	if err != nil {
		return nil, compileError(err)
	}
	m := &meter{}
	m.attach(s)
	return &Schema{schema: s, meter: m, bytes: len(doc) + n<<10 + 22*instructions}, nil
}

// objects counts those in a decoded document.
func objects(v any) int {
	n := 0
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			n += objects(item)
		}
	case map[string]any:
		n = 1
		for _, member := range v {
			n += objects(member)
		}
	}
	return n
}

// large is held while a large document is in memory as values: they take thirty times
// its bytes, and any number of runs may begin at the same time.
var large sync.Mutex

const largeDocument = 64 << 10 // bytes

// Validate checks a JSON document; its *Error is the first thing that is wrong
// with it, in the order of their pointers.
func (s *Schema) Validate(doc []byte) error {
	if len(doc) > largeDocument {
		large.Lock()
		defer large.Unlock()
	}
	v, err := Decode(doc)
	if err != nil {
		return err
	}
	return s.validate(v)
}

func (s *Schema) validate(v any) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meter.begin(v)
	defer func() {
		// The library has no way to stop it: the meter panics out of it.
		switch r := recover(); r {
		case nil:
		case errBudget:
			err = &Error{Message: "takes too long to compare with its schema: make the schema simpler, or the document smaller"}
		default:
			panic(r)
		}
	}()
	var failed *jsonschema.ValidationError
	if err := s.schema.Validate(v); errors.As(err, &failed) {
		return clearest(failed)
	} else if err != nil {
		return &Error{Message: Clip(err.Error())}
	}
	return nil
}

// noLoader opens nothing: the default one reads files.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("a $ref can only point into the schema itself, not to %s", Clip(url))
}

// program is a regular expression and what it costs.
type program struct {
	*regexp.Regexp
	instructions int
}

func compileRegexp(expression string) (program, error) {
	if len(expression) > maxPattern {
		return program{}, fmt.Errorf("it is longer than %d bytes", maxPattern)
	}
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return program{}, fmt.Errorf("%w (patterns are RE2: no lookaround, no back references)", err)
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return program{}, err
	}
	if len(prog.Inst) > maxProgram {
		return program{}, errors.New("it repeats too much")
	}
	re, err := regexp.Compile(expression)
	if err != nil {
		return program{}, err
	}
	return program{Regexp: re, instructions: len(prog.Inst)}, nil
}

// compileError says what the library found, without the address it never has.
func compileError(err error) *Error {
	var (
		load    *jsonschema.LoadURLError
		pattern *jsonschema.InvalidRegexError
		invalid *jsonschema.SchemaValidationError
		failed  *jsonschema.ValidationError
	)
	switch {
	case errors.As(err, &load):
		return &Error{Message: load.Err.Error()}
	case errors.As(err, &pattern):
		_, at, _ := strings.Cut(pattern.URL, "#")
		return &Error{Pointer: at, Message: fmt.Sprintf("the pattern %s cannot be used: %s", Clip(pattern.Regex), Clip(pattern.Err.Error()))}
	case errors.As(err, &invalid) && errors.As(invalid.Err, &failed):
		e := clearest(failed)
		e.Message = "is not a JSON Schema: " + e.Message
		return e
	default:
		return &Error{Message: "is not a JSON Schema: " + Clip(strings.ReplaceAll(err.Error(), base, ""))}
	}
}
