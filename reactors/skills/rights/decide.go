package rights

import (
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// maxAsked is how many capabilities a skill may ask for.
const maxAsked = 100

// Grant is a row of skill_grants of the runner for the skill.
type Grant struct{ SHA256, Capability string }

// Request is a question to a Policy.
type Request struct {
	Runner  uuid.UUID
	Skill   Skill
	Asked   []string // the skill's capabilities
	Granted []Grant  // those of other code count for nothing
	Caller  *Set     // of a nested skill: what its caller may do
}

// Check reads what a skill asks for, and gives a Denial for each that no policy
// can permit: for the time when the skill is checked.
func Check(asked []string) []Denial {
	_, denials := parse(asked)
	return denials
}

// Decide gives what the skill may do, and a Denial for each thing that it asks
// for and may not.
func (p *Policy) Decide(r Request) (Set, []Denial) {
	asked, denials := parse(r.Asked)
	granted := NewSet()
	for _, g := range r.Granted {
		if c, err := Parse(g.Capability); err == nil && g.SHA256 == r.Skill.SHA256 {
			granted.add(p.expand(c)...)
		}
	}
	may := NewSet()
	deny := func(c Capability, e *Error) { denials = append(denials, Denial{Capability: c.String(), Error: *e}) }
	for _, c := range asked {
		hosts := p.expand(c)
		if len(hosts) == 0 {
			deny(c, refused("the operator lists no hosts for network:https; a skill may name its hosts, as in network:https:api.example.com"))
		}
		for _, c := range hosts {
			if may.Has(c) {
				continue
			}
			if err := p.permits(r.Runner, r.Skill, c); err != nil {
				deny(c, err)
				continue
			}
			if !r.Skill.grantedBy(r.Runner) && !granted.Has(c) {
				deny(c, &Error{NotGranted, fmt.Sprintf("the skill asks for %s: grant it in skill_grants to this version (sha256) of it", c)})
				continue
			}
			if r.Caller != nil && !r.Caller.Has(c) {
				deny(c, &Error{NotGranted, fmt.Sprintf("the skill that calls this one may not use %s itself", c)})
				continue
			}
			may.add(c)
		}
	}
	return may, denials
}

// expand puts the operator's hosts in the place of network:https.
func (p *Policy) expand(c Capability) []Capability {
	if c.Kind == Network && c.Host == "" {
		return p.hosts
	}
	return []Capability{c}
}

// parse reads what a skill asks for, each once.
func parse(asked []string) (all []Capability, denials []Denial) {
	seen := NewSet()
	for i, text := range asked {
		c, err := Parse(text)
		if i >= maxAsked {
			err = refused("a skill asks for %d capabilities at the most", maxAsked)
		}
		if err != nil {
			denials = append(denials, Denial{Capability: printable(text), Error: *err.(*Error)})
			if i >= maxAsked {
				break // one says it
			}
			continue
		}
		if !seen.Has(c) {
			seen.add(c)
			all = append(all, c)
		}
	}
	return all, denials
}

// printable makes what somebody asked for fit for a row.
func printable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text[:min(len(text), maxText)], "�"), "\x00", "")
}
