package skills

import (
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/helixd/helixd/reactors"
)

// River's queues.
const (
	queueLanes     = "skills"
	queueChecks    = "skills_check"
	queueSchedules = "skills_schedule"
)

// Lane works the queue of one user for a time slice.
type Lane struct {
	UserID string `json:"user_id"`
	Adopts bool   `json:"adopts,omitempty"` // it runs what a lane had claimed that is lost
}

// Kind implements river.JobArgs.
func (Lane) Kind() string { return "skill_lane" }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (Lane) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueLanes, MaxAttempts: 1000} // a run ends by its own interruptions
}

// Check checks a skill where it is pending.
type Check struct {
	SkillID string `json:"skill_id"`
}

// Kind implements river.JobArgs.
func (Check) Kind() string { return "skill_check" }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (Check) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: queueChecks} }

// Schedule inserts a run of a skill when its time has come, and the next
// Schedule; without At it only finds the first time. One whose Schedule is not
// the skill's any more does nothing.
type Schedule struct {
	SkillID  string    `json:"skill_id" river:"unique"`
	Schedule string    `json:"schedule" river:"unique"`
	At       time.Time `json:"at,omitzero"`
}

// Kind implements river.JobArgs.
func (Schedule) Kind() string { return "skill_schedule" }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (Schedule) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueSchedules, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: reactors.Unended}}
}

func collectText(rows pgx.Rows) ([]string, error) { return pgx.CollectRows(rows, pgx.RowTo[string]) }
