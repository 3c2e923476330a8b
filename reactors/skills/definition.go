package skills

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills/rights"
	"github.com/helixd/helixd/reactors/skills/schema"
	"github.com/helixd/helixd/reactors/skills/workflow"
)

const kindComposite = "composite"

// definition is what a skill is, without its code: that is read when it is needed.
type definition struct {
	skill        rights.Skill // ID is Nil of an inline one
	version      string
	codeSum      []byte // sha256 of the code; nil where there is none
	codeSize     int
	steps        json.RawMessage
	parameters   json.RawMessage
	capabilities []string
	limits       json.RawMessage

	rev     int64   // of the row
	checked *string // the row's sha256
	active  string  // the version's sha256 where it is not the newest
	status  string
	code    []byte // of an inline one

	prepared
}

// prepared is what checking makes of a definition, to run it.
type prepared struct {
	bounds   sandbox.Limits
	schema   *schema.Schema     // of the input, nil: any
	workflow *workflow.Workflow // of a composite one
}

// bytes is about what it weighs in the cache.
func (d *definition) bytes() int {
	n := 1024 + len(d.steps) + len(d.parameters) + len(d.code) + len(d.limits)
	if d.schema != nil {
		n += d.schema.Bytes()
	}
	if d.workflow != nil {
		n += d.workflow.Bytes()
	}
	return n
}

// digest is the skill's sha256: of all that decides what it does and may do, so
// that a grant for one is none for another.
func (d *definition) digest() string {
	capabilities := slices.Clone(d.capabilities)
	slices.Sort(capabilities)
	canonical, err := json.Marshal(struct {
		Kind         string          `json:"kind"`
		Code         string          `json:"code"`
		Steps        json.RawMessage `json:"steps"` // jsonb prints the same value the same way
		Parameters   json.RawMessage `json:"parameters"`
		Capabilities []string        `json:"capabilities"`
		Limits       json.RawMessage `json:"limits"`
	}{d.skill.Kind, hex.EncodeToString(d.codeSum), d.steps, d.parameters, slices.Compact(capabilities), d.limits})
	if err != nil {
		panic(err) // it was JSON in the database
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}

// Where definitions are: the newest in the skill's row, checked ones in
// skill_versions, where the description is one jsonb.
const definitionRows = `(
	select s.user_id, coalesce(s.visibility, 'private') as visibility, coalesce(s.content_rev, 0) as content_rev, s.sha256,
		coalesce(s.status, 'pending') as status, s.kind, s.wasm_bytecode, s.source, nullif(s.steps, 'null') as steps,
		nullif(s.parameters, 'null') as parameters, array(select coalesce(c, '') from unnest(s.capabilities) c) as capabilities, nullif(s.limits, 'null') as limits, coalesce(s.version, '') as version
	from public.skills s where s.id = $1 and $2 = ''
	union all
	select s.user_id, coalesce(s.visibility, 'private') as visibility, coalesce(s.content_rev, 0) as content_rev, s.sha256, coalesce(s.status, 'pending') as status, v.definition ->> 'kind', v.wasm_bytecode, v.definition ->> 'source', nullif(v.definition -> 'steps', 'null'),
		nullif(v.definition -> 'parameters', 'null'), array(select coalesce(c, '') from jsonb_array_elements_text(v.definition -> 'capabilities') c),
		nullif(v.definition -> 'limits', 'null'), coalesce(v.version, '')
	from public.skills s join public.skill_versions v on v.skill_id = s.id where s.id = $1 and v.sha256 = $2) d`

// code of d: bytes, whatever the kind is.
const codeColumn = "case d.kind when 'wasm' then d.wasm_bytecode when 'javascript' then convert_to(d.source, 'UTF8') end"

// load reads a skill's definition; active is that of the row, "" for the newest.
// It gives nil when the skill, or that version of it, is not there.
func (s *Service) load(ctx context.Context, id uuid.UUID, active string) (*definition, error) {
	d := &definition{active: active}
	d.skill.ID = id
	var owner *uuid.UUID
	var steps, parameters, limits *string
	err := patiently(ctx, func() error {
		return s.pool.QueryRow(ctx, `select d.user_id, d.visibility, d.content_rev, d.sha256, d.status, d.kind, d.version,
			sha256(`+codeColumn+`), coalesce(octet_length(`+codeColumn+`), 0), d.steps::text, d.parameters::text, d.capabilities, d.limits::text
		from `+definitionRows, id, active).Scan(&owner, &d.skill.Visibility, &d.rev, &d.checked, &d.status, &d.skill.Kind, &d.version,
			&d.codeSum, &d.codeSize, &steps, &parameters, &d.capabilities, &limits)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read a skill: %w", err)
	}
	if owner != nil {
		d.skill.Owner = *owner
	}
	d.steps, d.parameters, d.limits = raw(steps), raw(parameters), raw(limits)
	d.skill.SHA256 = d.digest()
	return d, nil
}

func raw(text *string) json.RawMessage {
	if text == nil {
		return nil
	}
	return json.RawMessage(*text)
}

// codePart is how much code is in memory at a time, in bytes.
const codePart = 1 << 20

// errChanged says that a skill's code is not what it was when its definition was read.
var errChanged = errors.New("the skill was changed meanwhile")

// program gives a definition's code to the sandbox.
func (s *Service) program(d *definition) sandbox.Program {
	p := sandbox.Program{Kind: d.skill.Kind, Code: func(_ context.Context, write func([]byte) error) error { return write(d.code) }}
	copy(p.SHA256[:], d.codeSum)
	if d.skill.ID == uuid.Nil {
		return p
	}
	id, active, rev, size := d.skill.ID, d.active, d.rev, d.codeSize
	p.Code = func(ctx context.Context, write func([]byte) error) error {
		for at := 0; at < size; at += codePart {
			var part []byte
			err := patiently(ctx, func() error {
				return s.pool.QueryRow(ctx, "select substring("+codeColumn+" from $3 for $4) from "+definitionRows+
					" where d.content_rev = $5 or $2 <> ''", id, active, at+1, codePart, rev).Scan(&part)
			})
			if errors.Is(err, pgx.ErrNoRows) {
				return errChanged
			}
			if err != nil {
				return fmt.Errorf("read a skill's code: %w", err)
			}
			if err := write(part); err != nil {
				return err
			}
		}
		return nil
	}
	return p
}

// inline reads the definition in a run.
func inline(column json.RawMessage) (*definition, *Error) {
	var in struct {
		Kind         string          `json:"kind"`
		Bytecode     string          `json:"wasm_bytecode"` // base64, or \x and hex
		Source       string          `json:"source"`
		Steps        json.RawMessage `json:"steps"`
		Parameters   json.RawMessage `json:"parameters"`
		Capabilities []string        `json:"capabilities"`
		Limits       json.RawMessage `json:"limits"`
		Version      string          `json:"version"`
	}
	if err := json.Unmarshal(column, &in); err != nil {
		return nil, errorf(CodeDefinitionInvalid, "definition is not an object like a row of skills: %s.", jsonFault(err))
	}
	d := &definition{version: in.Version, steps: present(in.Steps), parameters: present(in.Parameters), capabilities: in.Capabilities,
		limits: present(in.Limits), status: statusPending}
	d.skill.Visibility = "private"
	switch d.skill.Kind = in.Kind; in.Kind {
	case sandbox.KindWASM:
		var err error
		if digits, ok := strings.CutPrefix(in.Bytecode, `\x`); ok {
			d.code, err = hex.DecodeString(digits)
		} else {
			d.code, err = base64.StdEncoding.DecodeString(in.Bytecode)
		}
		if err != nil {
			return nil, &Error{Code: CodeDefinitionInvalid, Pointer: "/wasm_bytecode", Message: `wasm_bytecode is neither base64 nor \x and hex digits.`}
		}
	case sandbox.KindJavaScript:
		d.code = []byte(in.Source)
	case kindComposite:
	default:
		return nil, &Error{Code: CodeDefinitionInvalid, Pointer: "/kind", Message: "kind is not wasm, javascript or composite."}
	}
	if in.Kind != kindComposite {
		sum := sha256.Sum256(d.code)
		d.codeSum, d.codeSize = sum[:], len(d.code)
	}
	d.skill.SHA256 = d.digest()
	return d, nil
}

// present is nil for JSON's null.
func present(column json.RawMessage) json.RawMessage {
	if string(column) == "null" {
		return nil
	}
	return column
}

// cacheBytes bounds the definitions that are kept in memory.
const cacheBytes = 8 << 20

// definitions keeps what ran lately. What does not fit pushes out any other.
type definitions struct {
	mu    sync.Mutex
	bytes int
	all   map[cacheKey]*definition
}

type cacheKey struct {
	skill  uuid.UUID // Nil of an inline one
	sha256 string
}

func newDefinitions() *definitions { return &definitions{all: map[cacheKey]*definition{}} }

func (c *definitions) get(k cacheKey) *definition {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all[k]
}

func (c *definitions) put(k cacheKey, d *definition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.all[k]; old != nil {
		c.bytes -= old.bytes()
		delete(c.all, k)
	}
	for other, old := range c.all {
		if c.bytes+d.bytes() <= cacheBytes {
			break
		}
		c.bytes -= old.bytes()
		delete(c.all, other)
	}
	if d.bytes() <= cacheBytes {
		c.all[k] = d
		c.bytes += d.bytes()
	}
}
