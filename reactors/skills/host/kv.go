package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills/rights"
	"github.com/helixd/helixd/reactors/skills/schema"
)

// Bounds of what a skill keeps for one user.
const (
	maxKeys    = 1000
	maxKey     = 512          // bytes
	maxValue   = 64 << 10     // bytes of JSON
	maxPrinted = 2 * maxValue // bytes of it as jsonb prints it: 1e1000 has a thousand and one, and spaces are put in
	keysAtOnce = 100          // unless a limit is given
)

// mayKeep gives the skill whose keys they are: one that is a row.
func (c *call) mayKeep() (uuid.UUID, error) {
	if err := c.require(rights.Capability{Kind: rights.KV}); err != nil {
		return uuid.Nil, err
	}
	if c.subject.Skill.ID == uuid.Nil {
		return uuid.Nil, sandbox.Errorf(InvalidRequest, "a definition in a run keeps nothing: it is no skill")
	}
	return c.subject.Skill.ID, nil
}

// keyed reads a request that names a key, and gives the skill whose key it is.
func (c *call) keyed(request any, key *string) (skill uuid.UUID, err error) {
	if skill, err = c.mayKeep(); err != nil {
		return skill, err
	}
	if err := c.read(request); err != nil {
		return skill, err
	}
	return skill, c.key(*key)
}

func (c *call) key(key string) error {
	c.event.KeyBytes = len(key)
	if len(key) == 0 || len(key) > maxKey {
		return sandbox.Errorf(InvalidRequest, "a key has 1 to %d bytes", maxKey)
	}
	return noNUL(key)
}

func kvGet(ctx context.Context, c *call) ([]byte, error) {
	var r struct{ Key string }
	skill, err := c.keyed(&r, &r.Key)
	if err != nil {
		return nil, err
	}
	var value []string
	err = c.services.query(ctx, func(tx pgx.Tx) (err error) {
		rows, err := tx.Query(ctx, "select value::text from helix.skill_kv where user_id = $1 and skill_id = $2 and key = $3", c.subject.User, skill, r.Key)
		if err != nil {
			return err
		}
		value, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err != nil {
		return nil, c.rowError(err)
	}
	value = append(value, "null")
	return fmt.Appendf(nil, `{"value":%s}`, value[0]), nil
}

func kvSet(ctx context.Context, c *call) ([]byte, error) {
	var r struct {
		Key   string
		Value json.RawMessage
	}
	skill, err := c.keyed(&r, &r.Key)
	if err != nil {
		return nil, err
	}
	if len(r.Value) == 0 || len(r.Value) > maxValue {
		return nil, sandbox.Errorf(InvalidRequest, "a value is JSON of %d bytes at the most", maxValue)
	}
	// jsonb keeps 1e99999 in a few bytes and prints 100,000: the answer to kv.get
	// would be a gigabyte.
	if err := schema.Check(r.Value); err != nil {
		return nil, sandbox.Errorf(InvalidRequest, "the value of kv.set: %v", err)
	}
	// The count may be passed by as many as write at once: it is a bound on space.
	var printed int
	err = c.services.write(ctx, "helix.skill_kv", func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `insert into helix.skill_kv (user_id, skill_id, key, value) select $1, $2, $3, $4::text::jsonb
			where exists (select from helix.skill_kv where user_id = $1 and skill_id = $2 and key = $3)
				or (select count(*) from helix.skill_kv where user_id = $1 and skill_id = $2) < $5
			on conflict (user_id, skill_id, key) do update set value = excluded.value, updated_at = now()
			returning octet_length(value::text)`,
			c.subject.User, skill, r.Key, string(r.Value), maxKeys).Scan(&printed)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return sandbox.Errorf(InvalidRequest, "a skill keeps %d keys at the most", maxKeys)
		case err == nil && printed > maxPrinted:
			return sandbox.Errorf(InvalidRequest, "the value's numbers have too many digits when they are written out")
		}
		return err
	})
	if err != nil {
		return nil, c.rowError(err)
	}
	return []byte(`{}`), nil
}

func kvDelete(ctx context.Context, c *call) ([]byte, error) {
	var r struct{ Key string }
	skill, err := c.keyed(&r, &r.Key)
	if err != nil {
		return nil, err
	}
	err = c.services.write(ctx, "helix.skill_kv", func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "delete from helix.skill_kv where user_id = $1 and skill_id = $2 and key = $3", c.subject.User, skill, r.Key)
		return err
	})
	if err != nil {
		return nil, c.rowError(err)
	}
	return []byte(`{}`), nil
}

func kvList(ctx context.Context, c *call) ([]byte, error) {
	skill, err := c.mayKeep()
	if err != nil {
		return nil, err
	}
	var r struct {
		Prefix string
		Limit  *int
	}
	if err := c.read(&r); err != nil {
		return nil, err
	}
	c.event.KeyBytes = len(r.Prefix)
	if len(r.Prefix) > maxKey {
		return nil, sandbox.Errorf(InvalidRequest, "a prefix has %d bytes at the most", maxKey)
	}
	if err := noNUL(r.Prefix); err != nil {
		return nil, err
	}
	limit, err := bounded(r.Limit, keysAtOnce, maxKeys)
	if err != nil {
		return nil, err
	}
	answer := struct {
		Keys []string `json:"keys"`
	}{}
	err = c.services.query(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `select key from helix.skill_kv where user_id = $1 and skill_id = $2 and starts_with(key, $3)
			order by key limit $4`, c.subject.User, skill, r.Prefix, limit)
		if err != nil {
			return err
		}
		answer.Keys, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err != nil {
		return nil, c.rowError(err)
	}
	return json.Marshal(answer)
}
