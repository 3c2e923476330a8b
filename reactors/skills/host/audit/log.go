package audit

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// Log gives entries as a run's audit_log, an array of the events with "at" and
// "skill_id".
func Log(entries []Entry) ([]byte, error) {
	type line struct {
		At    time.Time  `json:"at"`
		Skill *uuid.UUID `json:"skill_id,omitempty"`
		Event
	}
	lines := make([]line, 0, len(entries))
	for _, e := range entries {
		lines = append(lines, line{e.At.UTC().Truncate(time.Microsecond), optional(e.Skill), e.Event})
	}
	b, err := json.Marshal(lines)
	if err != nil {
		return nil, fmt.Errorf("write the audit log: %w", err)
	}
	return b, nil
}
