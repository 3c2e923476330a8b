package audit

import (
	"time"

	"github.com/google/uuid"
)

// Entry is one of a user's chain before it is in it.
type Entry struct {
	User  uuid.UUID
	At    time.Time // kept to the microsecond
	Run   uuid.UUID // Nil: not of a run
	Skill uuid.UUID // Nil: an inline definition's
	Event Event
}

// Kinds of events.
const (
	Granted  = "granted"
	Revoked  = "revoked"
	Denied   = "denied"
	HostCall = "host_call"
)

// Event is what happened.
type Event struct {
	Kind string `json:"event"`

	Capability string `json:"capability,omitempty"` // granted, revoked or denied
	SHA256     string `json:"sha256,omitempty"`     // of the code that it was granted to, or taken from
	Message    string `json:"message,omitempty"`    // of a denial

	Call     string `json:"call,omitempty"`   // name of a host call
	Target   string `json:"target,omitempty"` // host[:port] of http.fetch
	Method   string `json:"method,omitempty"` // of http.fetch
	Status   int    `json:"status,omitempty"` // HTTP status
	KeyBytes int    `json:"key_bytes,omitempty"`

	Secrets []string `json:"secrets,omitempty"` // names of those that http.fetch used

	Sent       int   `json:"bytes_sent,omitempty"` // of the request
	Received   int   `json:"bytes_received,omitempty"`
	DurationMS int64 `json:"duration_ms,omitempty"`

	Outcome string `json:"outcome,omitempty"` // "ok" or the code of the error
}

// OK is the outcome of what succeeded.
const OK = "ok"
