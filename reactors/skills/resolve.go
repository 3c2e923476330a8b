package skills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors/skills/rights"
)

// find looks up a skill by its id or name, as far as the user may run it. A name
// means what it means to who wrote it: one of the namer's own, which comes before
// one that is built in. So a public skill calls its author's, and never one of its
// runner's that happens to have the name. Others are found by their ids alone, since
// anybody may take any name.
func (s *Service) find(ctx context.Context, user, namer uuid.UUID, ref string) (*skillState, error) {
	if strings.ContainsRune(ref, 0) {
		return nil, nil // Postgres has no such name
	}
	into, state := scanState()
	sql, args := "s.name = $2 and (s.user_id = $3 and (s.user_id = r.user_id or s.visibility = 'public') or s.user_id is null)", []any{user, ref, namer}
	if id, err := uuid.Parse(ref); err == nil {
		sql, args = "s.id = $2 and (s.user_id = r.user_id or s.user_id is null or s.visibility = 'public')", []any{user, id}
	}
	err := patiently(ctx, func() error {
		return s.pool.QueryRow(ctx, "select "+stateColumns+" from (select $1::uuid as user_id) r join public.skills s on "+sql+
			" order by s.user_id is null, s.created_at, s.id limit 1", args...).Scan(into...)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find a skill: %w", err)
	}
	return state(), nil
}

// namer is whose names a skill calls others by: its owner's, nobody's of one that
// is built in, and the user's of a definition in a run.
func namer(skill rights.Skill, user uuid.UUID) uuid.UUID {
	if skill.ID == uuid.Nil {
		return user
	}
	return skill.Owner
}

// resolve gives what a skill's row says to run; the row is as it was a moment ago.
// One that is pending is checked first, so that nobody waits for a queue.
func (s *Service) resolve(ctx context.Context, user uuid.UUID, st *skillState) (*definition, *skillState, error) {
	again := true
	for range maxChecks {
		if st == nil {
			return nil, nil, errorf(CodeNotFound, "There is no such skill that you may run.")
		}
		active := deref(st.Active)
		switch {
		case !st.Enabled:
			return nil, nil, errorf(CodeDisabled, "The skill is disabled; set enabled to run it.")
		case st.Status == statusInvalid && active == "" && again && st.Error != nil && st.Error.Code == CodeNotFound:
			// What it calls may be there by now.
			again = false
			_, err := s.pool.Exec(ctx, "update public.skills set status = 'pending' where id = $1 and content_rev = $2 and status = 'invalid'", st.ID, st.Rev)
			if err != nil {
				return nil, nil, fmt.Errorf("check a skill again: %w", err)
			}
			st.Status = statusPending
			continue
		case st.Status == statusInvalid && active == "":
			fault := errorf(CodeInvalid, "The skill is invalid.")
			if st.Error != nil {
				fault.Message = fmt.Sprintf("The skill is invalid: %s: %s", st.Error.Code, st.Error.Message)
				fault.Line, fault.Column, fault.Step, fault.Pointer = st.Error.Line, st.Error.Column, st.Error.Step, st.Error.Pointer
			}
			return nil, nil, fault
		case st.Status == statusPending && active == "":
			if err := patiently(ctx, func() error { return s.check(ctx, st.ID) }); err != nil {
				return nil, nil, err
			}
			var err error
			if st, err = s.find(ctx, user, user, st.ID.String()); err != nil {
				return nil, nil, err
			}
			continue
		}
		// By its content: a skill that is deleted and inserted again has the same id
		// and the same revision, and may be somebody else's.
		key := cacheKey{skill: st.ID, sha256: active}
		if active == "" {
			key.sha256 = deref(st.SHA256)
		}
		if d := s.cache.get(key); d != nil {
			return s.current(d, st), st, nil
		}
		d, err := s.load(ctx, st.ID, active)
		if err != nil {
			return nil, nil, err
		}
		if d == nil || d.rev != st.Rev || deref(d.checked) != deref(st.SHA256) { // it changed between the two
			if st, err = s.find(ctx, user, user, st.ID.String()); err != nil {
				return nil, nil, err
			}
			continue
		}
		if fault := s.prepare(d); fault != nil {
			return nil, nil, fault
		}
		if key.sha256 != "" {
			s.cache.put(key, d)
		}
		return s.current(d, st), st, nil
	}
	return nil, nil, fmt.Errorf("read a skill: %w, again and again", errChanged)
}

// current is the definition with what its row may change without a new revision.
func (s *Service) current(d *definition, st *skillState) *definition {
	owner := uuid.Nil
	if st.Owner != nil {
		owner = *st.Owner
	}
	if d.skill.Owner == owner && d.skill.Visibility == st.Visibility {
		return d
	}
	now := *d
	now.skill.Owner, now.skill.Visibility = owner, st.Visibility
	return &now
}

// inline gives the definition in a run, checked.
func (s *Service) inline(ctx context.Context, user uuid.UUID, column json.RawMessage) (*definition, error) {
	d, fault := inline(column)
	if fault != nil {
		return nil, fault
	}
	key := cacheKey{sha256: d.skill.SHA256}
	if known := s.cache.get(key); known != nil {
		own := *known // which may be of another user's run
		own.version = d.version
		return &own, nil
	}
	_, fault, err := s.validate(ctx, d, user)
	if err != nil {
		return nil, err
	}
	if fault != nil {
		return nil, fault
	}
	s.cache.put(key, d)
	return d, nil
}

// decide says what a skill may do in a run. Its runner's grants came with its row.
func (s *Service) decide(user uuid.UUID, d *definition, granted []string) (rights.Set, []rights.Denial) {
	if len(d.capabilities) == 0 {
		return rights.Set{}, nil
	}
	grants := make([]rights.Grant, len(granted))
	for i, capability := range granted {
		grants[i] = rights.Grant{SHA256: d.skill.SHA256, Capability: capability}
	}
	return s.host.Policy.Decide(rights.Request{Runner: user, Skill: d.skill, Asked: d.capabilities, Granted: grants})
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
