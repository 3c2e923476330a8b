package schema

import (
	"errors"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// budget is what one validation may cost. A unit is about one comparison; all of
// it takes well under a second.
const budget = 2_000_000

var errBudget = errors.New("budget spent")

// meter counts what a validation costs. A schema of a few hundred bytes can be
// evaluated 2^n times (allOf of two references, n levels), and the library knows
// neither contexts nor limits. What it does have is a hook that it calls in each
// evaluation before it goes deeper: the format. So every schema gets one.
type meter struct {
	left  int
	scope int // how much longer each evaluation takes: the library walks all schemas it is within
	chain int // the most schemas that one value is compared with within each other
}

// begin starts a validation of v.
func (m *meter) begin(v any) {
	m.left, m.scope = budget, 1+depth(v)*m.chain/64
}

func (m *meter) spend(n int) {
	if m.left -= n; m.left < 0 {
		panic(errBudget)
	}
}

// attach puts the meter into s and all it refers to.
func (m *meter) attach(s *jsonschema.Schema) {
	seen := map[*jsonschema.Schema]bool{}
	chains := map[*jsonschema.Schema]int{}
	todo := []*jsonschema.Schema{s}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if s == nil || seen[s] {
			continue
		}
		seen[s] = true
		p := partsOf(s)
		todo = append(append(append(todo, p.here...), p.members...), p.names...)
		m.chain = max(m.chain, chain(s, chains))
		m.hook(s, p)
	}
}

// chain is how many schemas s leads to within each other on the same value. A
// circle counts once: the library ends it with an error.
func chain(s *jsonschema.Schema, known map[*jsonschema.Schema]int) int {
	if n, ok := known[s]; ok {
		return n
	}
	known[s] = 1
	n := 0
	for _, part := range partsOf(s).here {
		if part != nil {
			n = max(n, chain(part, known))
		}
	}
	known[s] = n + 1
	return n + 1
}

func depth(v any) int {
	n := 0
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			n = max(n, depth(item))
		}
	case map[string]any:
		for _, member := range v {
			n = max(n, depth(member))
		}
	}
	return n + 1
}

// parts are the schemas that one schema applies.
type parts struct {
	here    []*jsonschema.Schema // to the value itself
	members []*jsonschema.Schema // to each member or item, at most
	names   []*jsonschema.Schema // to each name of a member
}

func partsOf(s *jsonschema.Schema) parts {
	var p parts
	p.here = append(p.here, s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else)
	if s.DynamicRef != nil {
		p.here = append(p.here, s.DynamicRef.Ref)
	}
	p.here = append(append(append(p.here, s.AllOf...), s.AnyOf...), s.OneOf...)
	for _, d := range s.DependentSchemas {
		p.here = append(p.here, d)
	}
	for _, d := range s.Dependencies {
		p.here = append(p.here, asSchemas(d)...)
	}
	p.members = append(p.members, s.Contains, s.Items2020, s.UnevaluatedItems, s.UnevaluatedProperties)
	p.members = append(p.members, s.PrefixItems...)
	p.members = append(p.members, asSchemas(s.Items)...)
	p.members = append(p.members, asSchemas(s.AdditionalItems)...)
	p.members = append(p.members, asSchemas(s.AdditionalProperties)...)
	for _, property := range s.Properties {
		p.members = append(p.members, property)
	}
	for _, property := range s.PatternProperties {
		p.members = append(p.members, property)
	}
	p.names = append(p.names, s.PropertyNames)
	return p
}

func asSchemas(v any) []*jsonschema.Schema {
	switch v := v.(type) {
	case *jsonschema.Schema:
		return []*jsonschema.Schema{v}
	case []*jsonschema.Schema:
		return v
	default:
		return nil
	}
}

// hook sets s.Format. What a part costs before its own hook is called (its type,
// const and enum) is counted here.
func (m *meter) hook(s *jsonschema.Schema, p parts) {
	format := jsonschema.Format{Name: "", Validate: func(any) error { return nil }}
	if s.Format != nil {
		format = *s.Format
	}
	here, perMember := 4+entry(p.here), entry(p.names)
	// Each property has its own schema: a member meets one of them, and all patterns.
	for _, part := range p.members {
		perMember = max(perMember, entry([]*jsonschema.Schema{part}))
	}
	patterns := len(s.PatternProperties)
	var pattern int
	for re := range s.PatternProperties {
		pattern += instructions(re)
		perMember += 4
	}
	here += len(s.Required) + patterns
	s.Format = &jsonschema.Format{Name: format.Name, Validate: func(v any) error {
		m.spend(here * m.scope)
		switch v := v.(type) {
		case string:
			m.spend(len(v)/64 + len(v)*instructions(s.Pattern)/20)
		case []any:
			m.spend(len(v) * (1 + perMember))
			if s.UniqueItems {
				m.spend(20 * m.size(v))
			}
		case map[string]any:
			m.spend(len(v) * (2 + perMember))
			if pattern > 0 {
				for name := range v {
					m.spend(1 + len(name)*pattern/20)
				}
			}
		}
		return format.Validate(v)
	}}
}

// entry is what it costs to begin with each of schemas.
func entry(schemas []*jsonschema.Schema) int {
	n := 0
	for _, s := range schemas {
		if s == nil {
			continue
		}
		n += 4
		if s.Const != nil {
			n += nodes(*s.Const)
		}
		if s.Enum != nil {
			for _, v := range s.Enum.Values {
				n += nodes(v)
			}
		}
	}
	return n
}

func instructions(re jsonschema.Regexp) int {
	if p, ok := re.(program); ok {
		return p.instructions
	}
	return 0
}

// nodes is how many values v is made of, with long strings counted more than once.
func nodes(v any) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			n += nodes(item)
		}
	case map[string]any:
		for name, member := range v {
			n += len(name)/64 + nodes(member)
		}
	case string:
		n += len(v) / 64
	}
	return n
}

// size is nodes, paid for by the one who asked.
func (m *meter) size(v any) int {
	n := nodes(v)
	m.spend(n)
	return n
}
