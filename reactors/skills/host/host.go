package host

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/internal/turn"
	"github.com/helixd/helixd/reactors/skills/host/broker"
	"github.com/helixd/helixd/reactors/skills/host/secrets"
	"github.com/helixd/helixd/reactors/skills/rights"
)

// Options are what Services are made of.
type Options struct {
	Policy  *rights.Policy
	Broker  *broker.Broker // nil: one to the Internet
	Secrets *secrets.Store // nil: Supabase Vault's only
	Model   Model          // nil: none is configured
}

// Services serve the host calls of all runs.
type Services struct {
	pool *pgxpool.Pool
	// A user has one large body in the daemon's memory at a time. With all copies,
	// until its program has read it, that takes four times MaxBody, and a user's
	// programs can ask for 36 at once.
	large turn.Turns[uuid.UUID]
	Options
}

// New makes Services.
func New(pool *pgxpool.Pool, o Options) *Services {
	if o.Broker == nil {
		o.Broker = broker.New(broker.Options{})
	}
	if o.Secrets == nil {
		o.Secrets = secrets.WithoutKey(pool)
	}
	return &Services{pool: pool, Options: o}
}

// Decide says what a skill may do for a runner, by the grants that the runner has
// made. Caller is what the skill that calls it may do, nil when none does.
func (s *Services) Decide(ctx context.Context, runner uuid.UUID, skill rights.Skill, asked []string, caller *rights.Set) (rights.Set, []rights.Denial, error) {
	// The guard lets nobody write a longer list than a person would: the bound is
	// against what came about otherwise.
	rows, err := s.pool.Query(ctx, `select sha256, capability from public.skill_grants
		where user_id = $1 and skill_id = $2 and sha256 = $3 order by capability limit 1000`, runner, skill.ID, skill.SHA256)
	if err != nil {
		return rights.Set{}, nil, fmt.Errorf("read skill_grants: %w", err)
	}
	grants, err := pgx.CollectRows(rows, pgx.RowToStructByPos[rights.Grant])
	if err != nil {
		return rights.Set{}, nil, fmt.Errorf("read skill_grants: %w", err)
	}
	set, denials := s.Policy.Decide(rights.Request{Runner: runner, Skill: skill, Asked: asked, Granted: grants, Caller: caller})
	return set, denials, nil
}
