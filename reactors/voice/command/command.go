// Package command does what a user wants done with a transcript: a memory, and a
// run of a skill for each voice command that it is.
package command

import (
	"time"

	"github.com/google/uuid"
)

// Recording is one whose transcript has come.
type Recording struct {
	ID         uuid.UUID
	UserID     uuid.UUID
	Transcript string
	Memo       bool // asks for a memory
	CreatedAt  time.Time
}

// Action is one entry of voice_recordings.actions.
type Action struct {
	Action    string     `json:"action"`               // "memory" or "command"
	ID        *uuid.UUID `json:"id,omitempty"`         // of the row that was made, in memories or skill_runs
	CommandID *uuid.UUID `json:"command_id,omitempty"` // of the voice_commands row
	Error     *Error     `json:"error,omitempty"`      // why there is no row
}

// Error is why an action was not taken.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"` // one sentence a person can act on
}
