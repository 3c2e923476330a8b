package workflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/helixd/helixd/docs"
	"github.com/helixd/helixd/reactors/skills/schema"
)

// Bounds of a workflow.
const (
	MaxSteps      = 100 // nested ones included
	MaxBranches   = 16  // in each other
	MaxDefinition = 1 << 20
	// maxConditions is the text of all conditions together, in bytes: compiling them
	// takes up to 15 ms a kilobyte, and 70 times their size in memory.
	maxConditions = 20_000
)

// Workflow is steps that were checked. It is not changed by running it.
type Workflow struct {
	steps  []*step
	output *mapping // nil: the last step's
	ids    []string // of all steps, in the order in which they are written
	refs   []Ref
	bytes  int
}

// Bytes is about what the workflow takes in memory.
func (w *Workflow) Bytes() int { return w.bytes }

// Options are what Parse asks of the one who runs the workflow.
type Options struct {
	// KnownTool says whether there is a tool. nil: every tool is taken.
	KnownTool func(name string) bool
	// ReferencesOnly leaves mappings and conditions unread: the Workflow has its
	// References, and is not to be run.
	ReferencesOnly bool
}

// Parse checks steps: an array of them, or {"steps": …, "output": …}. What is wrong
// it says with an *Error: DefinitionInvalid, MappingInvalid or ConditionInvalid.
func Parse(steps []byte, o Options) (*Workflow, error) {
	d, perr := decode(steps)
	if perr != nil {
		return nil, perr
	}
	p := parser{options: o, workflow: &Workflow{bytes: 4 * len(steps)}, ids: map[string]bool{"input": true, "steps": true}}
	at := ""
	if bytes.HasPrefix(bytes.TrimSpace(steps), []byte("{")) {
		at = "/steps"
	}
	var err *Error
	if p.workflow.steps, err = p.list(d.Steps, at, 1); err != nil {
		return nil, err
	}
	if len(d.Output) > 0 && !o.ReferencesOnly {
		if p.workflow.output, err = p.mapping(d.Output, "", "/output", p.workflow.ids); err != nil {
			return nil, err
		}
	}
	return p.workflow, nil
}

// Plan is what a dry run tells.
type Plan struct {
	StepIDs    []string `json:"step_ids"` // of all branches, in the order in which they are written
	TotalSteps int      `json:"total_steps"`
}

// Plan lists the steps.
func (w *Workflow) Plan() Plan {
	return Plan{StepIDs: slices.Clone(w.ids), TotalSteps: len(w.ids)}
}

// References are what the steps call, each once, in the order in which they are
// written. The caller follows those to skills, to find how deep they go and whether
// they come back.
func (w *Workflow) References() []Ref { return slices.Clone(w.refs) }

var stepsSchema = sync.OnceValues(func() (*schema.Schema, error) { return schema.Compile(docs.StepsSchema) })

func decode(steps []byte) (*document, *Error) {
	if len(steps) > MaxDefinition {
		return nil, &Error{Code: DefinitionInvalid, Message: fmt.Sprintf("the steps are larger than %d bytes", MaxDefinition)}
	}
	s, err := stepsSchema()
	if err != nil {
		return nil, &Error{Code: Internal, Message: "the schema of steps cannot be used", cause: err}
	}
	if err := s.Validate(steps); err != nil {
		return nil, schemaError(DefinitionInvalid, err)
	}
	d := &document{}
	var into any = &d.Steps
	if bytes.HasPrefix(bytes.TrimSpace(steps), []byte("{")) {
		into = d
	}
	if err := json.Unmarshal(steps, into); err != nil {
		return nil, schemaError(DefinitionInvalid, err)
	}
	return d, nil
}

type parser struct {
	options    Options
	workflow   *Workflow
	ids        map[string]bool
	conditions int // bytes
}

func wrong(code, step, pointer, format string, args ...any) *Error {
	return &Error{Code: code, Step: step, Pointer: pointer, Message: fmt.Sprintf(format, args...)}
}

// list checks steps that run one after the other; depth counts from 1.
func (p *parser) list(docs []stepDocument, at string, depth int) ([]*step, *Error) {
	if depth > MaxBranches {
		return nil, wrong(DefinitionInvalid, "", at, "branches are nested deeper than %d", MaxBranches)
	}
	steps := make([]*step, 0, len(docs))
	for i, d := range docs {
		s, err := p.step(d, at+"/"+strconv.Itoa(i), depth)
		if err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	return steps, p.names(steps)
}

// names checks that branches name steps that come later in their own list, which is
// why a workflow always ends.
func (p *parser) names(steps []*step) *Error {
	places := map[string]int{}
	for i, s := range steps {
		places[s.id] = i
	}
	for i, s := range steps {
		for key, b := range map[string]branch{"then": s.then, "else": s.otherwise} {
			for _, name := range b.names {
				place, ok := places[name]
				switch {
				case !ok && p.ids[name]:
					return wrong(DefinitionInvalid, s.id, s.pointer+"/"+key, "the step %q is not in the same list: a branch leads to steps beside it only", name)
				case !ok:
					return wrong(DefinitionInvalid, s.id, s.pointer+"/"+key, "there is no step %q", schema.Clip(name))
				case place <= i:
					return wrong(DefinitionInvalid, s.id, s.pointer+"/"+key, "the step %q does not come later: a branch cannot lead back", name)
				}
				steps[place].named = true
			}
		}
	}
	return nil
}

func (p *parser) step(d stepDocument, at string, depth int) (*step, *Error) {
	s := &step{id: d.StepID, pointer: at}
	if p.ids[s.id] {
		if s.id == "input" || s.id == "steps" {
			return nil, wrong(DefinitionInvalid, s.id, at+"/stepId", "%q cannot be a stepId: it has a meaning of its own", s.id)
		}
		return nil, wrong(DefinitionInvalid, s.id, at+"/stepId", "there are two steps %q", s.id)
	}
	before := append([]string{}, p.workflow.ids...) // what the step can look at; nil would be anything
	p.ids[s.id] = true
	if p.workflow.ids = append(p.workflow.ids, s.id); len(p.workflow.ids) > MaxSteps {
		return nil, wrong(DefinitionInvalid, s.id, at, "there are more than %d steps", MaxSteps)
	}
	err := p.ref(s, d)
	if err != nil {
		return nil, err
	}
	if p.options.ReferencesOnly {
		d.InputMapping, d.OutputMapping, d.Condition = nil, nil, ""
	}
	if len(d.InputMapping) > 0 {
		if s.input, err = p.mapping(d.InputMapping, s.id, at+"/inputMapping", before); err != nil {
			return nil, err
		}
	}
	if len(d.OutputMapping) > 0 {
		if s.output, err = parsedMapping(d.OutputMapping, s.id, at+"/outputMapping"); err != nil {
			return nil, err
		}
	}
	if d.Condition != "" {
		if s.condition, err = p.condition(d.Condition, s.id, at+"/condition", before); err != nil {
			return nil, err
		}
	}
	var failed error
	if s.failure, failed = parseFailure(d.ErrorHandling); failed != nil {
		return nil, wrong(DefinitionInvalid, s.id, at+"/errorHandling", "%s", schema.Clip(failed.Error()))
	}
	if d.TimeoutMs != "" {
		s.timeout = milliseconds(number(0, &d.TimeoutMs))
	}
	if s.then, err = p.branch(d.Then, s.id, at+"/then", depth); err != nil {
		return nil, err
	}
	s.otherwise, err = p.branch(d.Else, s.id, at+"/else", depth)
	return s, err
}

func (p *parser) ref(s *step, d stepDocument) *Error {
	key := ""
	for _, r := range []struct{ key, kind, name string }{
		{"toolId", KindTool, d.ToolID}, {"toolName", KindTool, d.ToolName}, {"skillName", KindSkill, d.SkillName},
	} {
		if r.name == "" {
			continue
		}
		if key != "" {
			return wrong(DefinitionInvalid, s.id, s.pointer, "has %s and %s: a step calls one of them", key, r.key)
		}
		key, s.ref = r.key, Ref{Kind: r.kind, Name: r.name}
	}
	switch known := p.options.KnownTool; {
	case key == "" && d.Condition == "":
		return wrong(DefinitionInvalid, s.id, s.pointer, "calls nothing and decides nothing: give it a toolId, a skillName or a condition")
	case key == "":
		return nil
	case s.ref.Kind == KindTool && known != nil && !known(s.ref.Name):
		return wrong(DefinitionInvalid, s.id, s.pointer+"/"+key, "there is no tool %q", schema.Clip(s.ref.Name))
	case !slices.Contains(p.workflow.refs, s.ref):
		p.workflow.refs = append(p.workflow.refs, s.ref)
	}
	return nil
}

func parsedMapping(doc json.RawMessage, id, at string) (*mapping, *Error) {
	v, err := schema.Decode(doc)
	if err != nil {
		return nil, schemaError(DefinitionInvalid, err)
	}
	m, err := parseMapping(v)
	var in *mappingError
	if errors.As(err, &in) {
		if in.name != "" {
			at += schema.Pointer(in.name)
		}
		return nil, wrong(MappingInvalid, id, at, "%s", in.err)
	}
	return m, nil
}

// mapping checks also that a mapping looks at the input and at ids only.
func (p *parser) mapping(doc json.RawMessage, id, at string, ids []string) (*mapping, *Error) {
	m, err := parsedMapping(doc, id, at)
	if err != nil {
		return nil, err
	}
	queries := m.all()
	for _, name := range slices.Sorted(maps.Keys(queries)) {
		where := at
		if name != "" {
			where += schema.Pointer(name)
		}
		if err := p.looksAt(queries[name].scan, id, where, MappingInvalid, ids); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (p *parser) condition(text, id, at string, ids []string) (condition, *Error) {
	if p.conditions += len(text); p.conditions > maxConditions {
		return nil, wrong(ConditionInvalid, id, at, "the conditions of all steps are longer than %d bytes together", maxConditions)
	}
	p.workflow.bytes += 10<<10 + 70*len(text) // as measured, with CEL's environment
	c, err := parseCondition(text, ids)
	if err != nil {
		return nil, wrong(ConditionInvalid, id, at, "%s", err)
	}
	if paths, ok := c.(pathCondition); ok {
		return c, p.looksAt(paths.scan, id, at, ConditionInvalid, ids)
	}
	return c, nil
}

// looksAt checks that each path begins at the input or at a step that comes before.
func (p *parser) looksAt(s scan, id, at, code string, ids []string) *Error {
	for _, name := range s.names {
		if name != "" && name != "input" && !slices.Contains(ids, name) {
			return wrong(code, id, at, "$.%s is neither the input nor a step that comes before", schema.Clip(name))
		}
	}
	return nil
}

func (p *parser) branch(doc json.RawMessage, id, at string, depth int) (branch, *Error) {
	var (
		b     branch
		name  string
		names []string
		steps []stepDocument
	)
	switch {
	case len(doc) == 0:
		return b, nil
	case json.Unmarshal(doc, &name) == nil:
		return branch{names: []string{name}}, nil
	case json.Unmarshal(doc, &names) == nil:
		return branch{names: names}, nil
	case json.Unmarshal(doc, &steps) != nil:
		return b, wrong(DefinitionInvalid, id, at, "holds stepIds or steps, not both")
	}
	var err *Error
	b.steps, err = p.list(steps, at, depth+1)
	return b, err
}
