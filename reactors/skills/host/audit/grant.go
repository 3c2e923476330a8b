package audit

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// Grant gives the entry of a row of skill_grants that was inserted, or else
// deleted: by its runner, with its skill, or with other rows. The key is the row's
// in helix.inbox, {"skill_id", "sha256", "capability"}; at is when it was committed.
func Grant(user uuid.UUID, key []byte, inserted bool, at time.Time) (Entry, error) {
	var row struct {
		Skill      uuid.UUID `json:"skill_id"`
		SHA256     string    `json:"sha256"`
		Capability string    `json:"capability"`
	}
	if err := json.Unmarshal(key, &row); err != nil {
		return Entry{}, fmt.Errorf("read the key of a grant: %w", err)
	}
	e := Entry{User: user, At: at, Skill: row.Skill, Event: Event{Kind: Revoked, SHA256: row.SHA256, Capability: row.Capability}}
	if inserted {
		e.Event.Kind = Granted
	}
	return e, nil
}
