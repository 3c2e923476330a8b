package host

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills/host/audit"
	"github.com/helixd/helixd/reactors/skills/rights"
)

const (
	// MaxDepth is how deep skills may call skills: the run's own is at 1.
	MaxDepth = 8
	// maxCalls bounds the host calls of a run with all skills that it calls. Each
	// call of a program has a bound of its own (sandbox.Limits.HostCalls).
	maxCalls = 1000
	// maxNested bounds the skills that a run calls, in all. Steps of workflows call
	// them without a host call, and each step may call a workflow again.
	maxNested = 1000
	// maxEntries bounds what the audit has of a run: nested skills add denials.
	maxEntries = 5000
)

// Subject is who runs what.
type Subject struct {
	Run     uuid.UUID
	User    uuid.UUID // the runner
	Skill   rights.Skill
	May     rights.Set
	Denials []rights.Denial
}

// SkillRun serves skill.run: the caller's Nested gives the Run of the skill that
// the request names.
type SkillRun func(ctx context.Context, caller *Run, request []byte) (response []byte, err error)

// Run serves the host calls of one skill in one run, any number at a time. It is
// the sandbox.Host of the skill's Calls.
type Run struct {
	services *Services
	tree     *tree
	subject  Subject
	depth    int
	part     *part
}

// part is a part of a run that is tried again as a whole: the run itself, a step
// of a workflow, a nested skill.
type part struct {
	key   string
	mu    sync.Mutex
	times map[[sha256.Size]byte]int // a request came before
}

func newPart(key string) *part { return &part{key: key, times: map[[sha256.Size]byte]int{}} }

// tree is what a run has in common with all that it calls.
type tree struct {
	skills SkillRun

	mu      sync.Mutex
	entries []audit.Entry
	calls   int
	nested  int
}

var _ sandbox.Host = (*Run)(nil)

// Run begins a run. What it is denied is noted. Skills may be nil: then it calls
// no others.
func (s *Services) Run(subject Subject, skills SkillRun) *Run {
	r := &Run{services: s, subject: subject, depth: 1, part: newPart(""), tree: &tree{skills: skills}}
	r.noteDenials()
	return r
}

// Nested begins the run of a skill that this one calls: it may do no more than
// this one, and fails with TooDeep, or HostCallLimit when there were too many.
func (r *Run) Nested(ctx context.Context, skill rights.Skill, asked []string) (*Run, error) {
	if r.depth >= MaxDepth {
		return nil, sandbox.Errorf(TooDeep, "skills call skills %d deep at the most", MaxDepth)
	}
	r.tree.mu.Lock()
	r.tree.nested++
	tooMany := r.tree.nested > maxNested || len(r.tree.entries) > maxEntries
	r.tree.mu.Unlock()
	if tooMany {
		return nil, sandbox.Errorf(sandbox.HostCallLimit, "a run calls %d skills at the most, and fewer when they are denied much", maxNested)
	}
	may, denials, err := r.services.Decide(ctx, r.subject.User, skill, asked, &r.subject.May)
	if err != nil {
		return nil, err
	}
	subject := Subject{Run: r.subject.Run, User: r.subject.User, Skill: skill, May: may, Denials: denials}
	id := r.once("skill.run", skill.ID[:])
	n := &Run{services: r.services, tree: r.tree, subject: subject, depth: r.depth + 1, part: newPart(id.String())}
	n.noteDenials()
	return n, nil
}

// Step gives the run as one attempt of a workflow's step has it. The outside
// effects of its calls have the same keys as those of an attempt before, or of a
// process before, that made the same calls in a step of this name.
func (r *Run) Step(name string) *Run {
	step := *r
	step.part = newPart(r.part.key + "\x00" + name)
	return &step
}

// Subject says who runs what.
func (r *Run) Subject() Subject { return r.subject }

// Depth is 1 of the run's own skill, 2 of one that it calls, and so on.
func (r *Run) Depth() int { return r.depth }

// Calls is how many host calls the run and all that it calls have made.
func (r *Run) Calls() int {
	r.tree.mu.Lock()
	defer r.tree.mu.Unlock()
	return r.tree.calls
}

// Audit gives the entries so far, of the run and of all that it calls, in the
// order in which they ended.
func (r *Run) Audit() []audit.Entry {
	r.tree.mu.Lock()
	defer r.tree.mu.Unlock()
	return slices.Clone(r.tree.entries)
}

// Call serves a host call. Of its errors an *sandbox.Error is for the skill to see.
func (r *Run) Call(ctx context.Context, name string, request []byte) (response []byte, err error) {
	serve, known := calls[name]
	if !known {
		return nil, sandbox.Errorf(UnknownHostCall, "there is no host call %.40q", name)
	}
	r.tree.mu.Lock()
	r.tree.calls++
	tooMany := r.tree.calls > maxCalls || len(r.tree.entries) > maxEntries
	r.tree.mu.Unlock()
	if tooMany { // what is not served is not noted either: the chain is bounded too
		return nil, sandbox.Errorf(sandbox.HostCallLimit, "a run makes %d host calls at the most, with all skills that it calls", maxCalls)
	}
	began := time.Now()
	c := &call{Run: r, request: request, event: audit.Event{Kind: audit.HostCall, Call: name, Sent: len(request), Outcome: audit.OK}}
	response, err = serve(ctx, c)
	c.event.Received, c.event.DurationMS = len(response), time.Since(began).Milliseconds()
	if err != nil {
		c.event.Outcome = string(codeOf(err))
	}
	r.note(c.event)
	return response, err
}

// call is a host call while it is served; event is what the audit will have.
type call struct {
	*Run
	request []byte
	event   audit.Event
}

// calls are the host calls by name.
var calls = map[string]func(context.Context, *call) ([]byte, error){
	"http.fetch":      httpFetch,
	"memories.search": memoriesSearch,
	"memories.list":   memoriesList,
	"memories.write":  memoriesWrite,
	"kv.get":          kvGet,
	"kv.set":          kvSet,
	"kv.delete":       kvDelete,
	"kv.list":         kvList,
	"llm.complete":    llmComplete,
	"skill.run": func(ctx context.Context, c *call) ([]byte, error) {
		if c.tree.skills == nil {
			return nil, sandbox.Errorf(UnknownHostCall, "no skills can be called here")
		}
		// Skills that are called at once come in any order: the request tells them apart.
		return c.tree.skills(ctx, c.Step(c.once(c.event.Call, c.request).String()), c.request)
	},
}

// require says why a capability may not be used.
func (c *call) require(needed rights.Capability) error {
	if c.subject.May.Has(needed) {
		return nil
	}
	c.event.Capability = needed.String()
	for _, d := range c.subject.Denials {
		if d.Capability == c.event.Capability {
			return sandbox.Errorf(sandbox.Code(d.Code), "%s", d.Message)
		}
	}
	return sandbox.Errorf(sandbox.Code(rights.NotGranted), "the skill does not ask for %s in its capabilities", needed)
}

// once gives an id for an outside effect: the same when this part of the run is
// tried again and asks for the same, for as many times as before.
func (r *Run) once(name string, request []byte) uuid.UUID {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s", r.part.key, name, request))
	r.part.mu.Lock()
	n := r.part.times[sum]
	r.part.times[sum]++
	r.part.mu.Unlock()
	return uuid.NewSHA1(r.subject.Run, fmt.Appendf(sum[:], "\x00%d", n))
}

func (r *Run) noteDenials() {
	for _, d := range r.subject.Denials {
		r.note(audit.Event{Kind: audit.Denied, Capability: d.Capability, Message: d.Message, Outcome: string(d.Code)})
	}
}

func (r *Run) note(e audit.Event) {
	entry := audit.Entry{User: r.subject.User, At: time.Now(), Run: r.subject.Run, Skill: r.subject.Skill.ID, Event: e}
	r.tree.mu.Lock()
	r.tree.entries = append(r.tree.entries, entry)
	r.tree.mu.Unlock()
}

// codeOf gives the code by which the audit knows an error.
func codeOf(err error) sandbox.Code {
	var known *sandbox.Error
	if errors.As(err, &known) {
		return known.Code
	}
	return "internal"
}
