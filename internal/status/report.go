// Package status reads from Postgres how a project's helixd is: all of its processes
// together, whoever asks, and whether any is there at all.
package status

import "time"

// Report is what is known. Whatever could not be read, since the schema lacks it, is
// nil or empty.
type Report struct {
	At          time.Time   `json:"at"`
	Version     string      `json:"version"` // of the helixd that has read this
	Healthy     bool        `json:"healthy"` // no Problem is critical
	Problems    []Problem   `json:"problems"`
	Leader      *Process    `json:"leader"`
	Standbys    []string    `json:"standbys"`
	Workers     []Process   `json:"workers"`
	Slot        *Slot       `json:"slot"`
	Checkpoint  *Checkpoint `json:"checkpoint"`
	Publication Publication `json:"publication"`
	Reactors    []Reactor   `json:"reactors"`
	Queues      []Queue     `json:"queues"`
	DeadLetters []Letters   `json:"dead_letters"`
	InboxRows   int64       `json:"inbox_rows"`
	Paused      []Pause     `json:"paused"`
	Providers   []Provider  `json:"providers"`
	Costs       []Cost      `json:"costs_today"`
	Migrations  Migrations  `json:"migrations"`
}

// Process is one that leads or works jobs.
type Process struct {
	Holder           string  `json:"holder"` // host, pid and what no other process has
	HeartbeatSeconds float64 `json:"heartbeat_age_seconds"`
	Left             bool    `json:"left,omitempty"` // it has ended in order
}

// lives reports whether the process gave a sign lately.
func (p *Process) lives() bool { return p != nil && !p.Left && p.HeartbeatSeconds < alive }

const alive = 10 // seconds: as helix.status() has it

// Slot is the replication slot.
type Slot struct {
	Name          string `json:"name"`
	Active        bool   `json:"active"`
	WALStatus     string `json:"wal_status"`         // reserved, extended, unreserved or lost
	LagBytes      int64  `json:"lag_bytes"`          // of the write-ahead log, not confirmed
	RetainedBytes int64  `json:"retained_wal_bytes"` // that the server keeps for it
	SafeBytes     *int64 `json:"safe_wal_bytes"`     // that may be written until it is lost; null: any
	LimitBytes    *int64 `json:"max_wal_bytes"`      // max_slot_wal_keep_size; null: none
}

// Checkpoint is how far changes are applied.
type Checkpoint struct {
	LSN          string  `json:"lsn"`
	AgeSeconds   float64 `json:"age_seconds"` // it grows where there is nothing to do, too
	LagSeconds   float64 `json:"lag_seconds"`
	Transactions int64   `json:"transactions"`
	Changes      int64   `json:"changes"`
	Repair       string  `json:"repair,omitempty"` // why the next leader reads all rows
}

// Publication is what the slot carries.
type Publication struct {
	Name  string `json:"name"`
	OK    bool   `json:"ok"`
	Fault string `json:"fault,omitempty"`
}

// Reactor is a row of helix_status.
type Reactor struct {
	Name       string  `json:"reactor"`
	Running    bool    `json:"running"`
	Healthy    bool    `json:"healthy"`
	LagSeconds float64 `json:"lag_seconds"`
	QueueDepth int64   `json:"queue_depth"` // to 10,000
	Reason     string  `json:"reason,omitempty"`
	Off        string  `json:"off,omitempty"` // why it has nothing to do its work with, as it was set up
}

// Queue is one of River's.
type Queue struct {
	Name          string           `json:"queue"`
	Jobs          map[string]int64 `json:"jobs"`               // by state; those that have ended well are none
	OldestSeconds float64          `json:"oldest_age_seconds"` // since the job that waits for longest could have been worked
}

// Pause is what an operator holds: the stream, or a reactor.
type Pause struct {
	What   string     `json:"what"`
	Since  time.Time  `json:"since"`
	Until  *time.Time `json:"until"` // null: until it is resumed
	By     string     `json:"by"`
	Reason string     `json:"reason,omitempty"`
}

// Letters are dead letters with the same cause.
type Letters struct {
	Reactor string    `json:"reactor"`
	Code    string    `json:"code"` // SQLSTATE, or "reactor": its own error
	Count   int64     `json:"count"`
	Newest  time.Time `json:"newest_at"`
}

// Provider is what a reactor asks, as its workers tell.
type Provider struct {
	Reactor string `json:"reactor"`
	Name    string `json:"provider,omitempty"` // none: it is off
	Healthy bool   `json:"healthy"`
	Reason  string `json:"reason,omitempty"`
}

// Cost is what was asked of a provider today, in UTC.
type Cost struct {
	Provider string   `json:"provider"`
	Purpose  string   `json:"purpose"`
	Requests int64    `json:"requests"`
	Tokens   int64    `json:"tokens"`
	Dollars  *float64 `json:"dollars"` // null: no price is set
}

// Migrations are those of the schema.
type Migrations struct {
	Applied int      `json:"applied"`
	Pending []string `json:"pending"`
}
