package skills

import (
	"context"
	crand "crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills/host"
)

// Each depth of skills that programs call has workers of its own beside those of
// runs: a caller keeps its worker while it waits, and who waits for a deeper one is
// never waited for by that. One user has half of a depth's at the most, so that
// skills which call slow ones hold up nobody else's.
const (
	nestedPerDepth = 4
	nestedPerUser  = 2
	// NestedWorkers is how many a Runner has more than Config.Workers.
	NestedWorkers = nestedPerDepth * (host.MaxDepth - 1)
)

// berths are the workers of one depth.
type berths struct {
	mu      sync.Mutex
	taken   map[uuid.UUID]int // by user
	all     int
	waiting []*berth // the first came first
}

type berth struct {
	user uuid.UUID
	got  chan struct{} // closed when it is
}

// take waits for a worker, which the caller gives back with leave.
func (b *berths) take(ctx context.Context, user uuid.UUID) (leave func(), err error) {
	own := &berth{user, make(chan struct{})}
	b.mu.Lock()
	b.waiting = append(b.waiting, own)
	b.assign()
	b.mu.Unlock()
	leave = func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.all--
		if b.taken[user]--; b.taken[user] == 0 {
			delete(b.taken, user)
		}
		b.assign()
	}
	select {
	case <-own.got:
		return leave, nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	i := slices.Index(b.waiting, own)
	if i >= 0 {
		b.waiting = slices.Delete(b.waiting, i, i+1)
	}
	b.mu.Unlock()
	if i < 0 { // it came at the same time
		leave()
	}
	return nil, context.Cause(ctx)
}

// assign serves those who wait and may have one; mu is held.
func (b *berths) assign() {
	b.waiting = slices.DeleteFunc(b.waiting, func(w *berth) bool {
		if b.all == nestedPerDepth || b.taken[w.user] == nestedPerUser {
			return false
		}
		b.all++
		b.taken[w.user]++
		close(w.got)
		return true
	})
}

// nested serves skill.run: {skill: id or name, input} → {output}.
func (s *Service) nested(ctx context.Context, caller *host.Run, request []byte) ([]byte, error) {
	var in struct {
		Skill string          `json:"skill"`
		Input json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(request, &in); err != nil {
		return nil, sandbox.Errorf(host.InvalidRequest, "skill.run takes {\"skill\": an id or a name, \"input\": ...}")
	}
	result, err := s.callSkill(ctx, caller, in.Skill, in.Input, false)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]json.RawMessage{"output": result.Output})
}

// callSkill runs a skill that another one calls; free says that the run's own
// worker is.
func (s *Service) callSkill(ctx context.Context, caller *host.Run, ref string, input json.RawMessage, free bool) (result sandbox.Result, err error) {
	for range maxChecks {
		if result, err = s.callSkillAsItIs(ctx, caller, ref, input, free); !errors.Is(err, errChanged) {
			break
		}
	}
	return result, err
}

func (s *Service) callSkillAsItIs(ctx context.Context, caller *host.Run, ref string, input json.RawMessage, free bool) (result sandbox.Result, err error) {
	subject := caller.Subject()
	st, err := s.find(ctx, subject.User, namer(subject.Skill, subject.User), ref)
	if err != nil {
		return result, err
	}
	d, _, err := s.resolve(ctx, subject.User, st)
	if err != nil {
		return result, boxed(err)
	}
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	if fault := d.takes(input); fault != nil {
		return result, boxed(fault)
	}
	callee, err := caller.Nested(ctx, d.skill, d.capabilities)
	if err != nil {
		return result, err
	}
	var seed [32]byte
	_, _ = crand.Read(seed[:]) // it never fails
	if d.skill.Kind == kindComposite {
		return s.callWorkflow(ctx, d, callee, input, seed)
	}
	if !free {
		leave, err := s.nesting[callee.Depth()].take(ctx, subject.User)
		if err != nil {
			return result, err
		}
		defer leave()
	}
	return s.runner.Run(ctx, sandbox.Call{Tenant: subject.User.String(), Program: s.program(d), Input: input,
		Limits: d.bounds, Seed: seed, Now: time.Now(), Host: callee})
}

// boxed makes an error of a run one of a host call, which the calling skill sees.
func boxed(err error) error {
	if own := (*Error)(nil); errors.As(err, &own) {
		return sandbox.Errorf(sandbox.Code(own.Code), "%s", own.Message)
	}
	return err
}
