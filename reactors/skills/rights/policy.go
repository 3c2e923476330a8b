package rights

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"

	"github.com/cedar-policy/cedar-go"
	"github.com/google/uuid"
)

// DefaultPolicy is the policy of an operator who has none, in Cedar
// (https://docs.cedarpolicy.com).
//
//go:embed default.cedar
var DefaultPolicy []byte

// Policy is what the operator permits.
type Policy struct {
	rules *cedar.PolicySet
	hosts []Capability // the operator's list
}

// NewPolicy reads a policy in Cedar, and the operator's list of hosts, each
// host[:port], which network:https without a host stands for.
func NewPolicy(text []byte, hosts []string) (*Policy, error) {
	rules, err := cedar.NewPolicySetFromBytes("", text)
	if err != nil {
		return nil, fmt.Errorf("read the policy: %w", err)
	}
	empty := true
	for range rules.All() {
		empty = false
	}
	if empty {
		return nil, errors.New("read the policy: it has no rule (to permit nothing, forbid everything)")
	}
	p := &Policy{rules: rules}
	for _, address := range hosts {
		host, port, err := ParseHost(address)
		if err != nil {
			return nil, fmt.Errorf("read the list of hosts: %w", err)
		}
		p.hosts = append(p.hosts, Capability{Kind: Network, Host: host, Port: port})
	}
	return p, nil
}

// Skill is whose code asks.
type Skill struct {
	ID         uuid.UUID // Nil: an inline definition
	Owner      uuid.UUID // Nil: built in, if it is not inline
	SHA256     string    // of the code, in hex as on the row
	Kind       string    // wasm, javascript or composite
	Visibility string    // private or public
}

func (s Skill) inline() bool  { return s.ID == uuid.Nil }
func (s Skill) builtIn() bool { return !s.inline() && s.Owner == uuid.Nil }

// grantedBy reports whether the runner has granted what the skill asks for by
// making it: it is their own, or in the run itself. That it is public too is
// nothing to its owner, who runs what they wrote.
func (s Skill) grantedBy(runner uuid.UUID) bool {
	return s.inline() || runner != uuid.Nil && s.Owner == runner
}

const use = "use"

// permits asks the rules. A rule that fails denies: a forbid must not lapse
// because of a spelling.
func (p *Policy) permits(runner uuid.UUID, skill Skill, c Capability) *Error {
	user := cedar.NewEntityUID("User", cedar.String(runner.String()))
	id := cedar.NewEntityUID("Skill", cedar.String(skill.ID.String()))
	thing := cedar.NewEntityUID("Capability", cedar.String(c.String()))
	is := cedar.RecordMap{"kind": cedar.String(c.Kind)}
	switch c.Kind {
	case Network:
		is["host"], is["port"] = cedar.String(c.Host), cedar.Long(c.Port)
		is["listed"] = cedar.Boolean(slices.Contains(p.hosts, c))
	case Secrets:
		is["name"] = cedar.String(c.Name)
	}
	of := cedar.RecordMap{
		"sha256": cedar.String(skill.SHA256), "kind": cedar.String(skill.Kind), "visibility": cedar.String(skill.Visibility),
		"built_in": cedar.Boolean(skill.builtIn()), "inline": cedar.Boolean(skill.inline()),
	}
	switch {
	case skill.inline():
		of["owner"] = user
	case !skill.builtIn():
		of["owner"] = cedar.NewEntityUID("User", cedar.String(skill.Owner.String()))
	}
	entities := cedar.EntityMap{
		user:  {UID: user},
		id:    {UID: id, Attributes: cedar.NewRecord(of)},
		thing: {UID: thing, Attributes: cedar.NewRecord(is)},
	}
	decision, found := cedar.Authorize(p.rules, entities, cedar.Request{
		Principal: user, Action: cedar.NewEntityUID("Action", use), Resource: thing,
		Context: cedar.NewRecord(cedar.RecordMap{"skill": id}),
	})
	switch {
	case len(found.Errors) > 0:
		return refused("the operator's policy fails for %s: %s", c, found.Errors[0].Message)
	case decision != cedar.Allow:
		return refused("the operator's policy does not permit %s", c)
	}
	return nil
}
