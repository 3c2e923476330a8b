// Package command does what a user wants done with a transcript: a memory, where
// the recording asks for one, and a run of a skill, where the transcript is one of
// the user's voice commands.
//
// A transcript is one command at most: of the phrases that it is, the one of which
// most words were said, and of those the oldest. Dictation is none: what has more
// than a thousand words.
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

// What an Action is.
const (
	Memory  = "memory"
	Command = "command"
)

// Error is why an action was not taken.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"` // one sentence a person can act on
}

// Codes of an Error. Those of skills are the ones of their runs.
const (
	CodeSkillNotFound = "skill_not_found"
	CodeSkillDisabled = "skill_disabled"
	CodeRowRefused    = "row_refused"
)
