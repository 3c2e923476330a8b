package skills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills/workflow"
)

// Codes of errors on rows, beside those of package sandbox.
const (
	CodeNotFound          = "skill_not_found"
	CodeDisabled          = "skill_disabled"
	CodeInvalid           = "skill_invalid"
	CodeDefinitionInvalid = "definition_invalid"
	CodeInputInvalid      = "input_invalid"
	CodeInputTooLarge     = "input_too_large"
	CodeCycle             = "cycle"
	CodeTooDeep           = "too_deep"
	CodeInvalidSchedule   = "invalid_schedule"
	CodeCancelled         = "cancelled"
	CodeInterrupted       = "interrupted"
	CodeQueueFull         = "queue_full"
	CodeRefused           = "run_refused"
	CodeInternal          = "internal"
)

// Error is the error column of a skill or a run.
type Error struct {
	Code      string `json:"code"`
	Message   string `json:"message"` // one sentence a person can act on
	Retryable bool   `json:"retryable"`
	Pointer   string `json:"pointer,omitempty"` // JSON pointer into the input or the definition
	Step      string `json:"step,omitempty"`
	Function  string `json:"function,omitempty"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	Offset    int64  `json:"offset,omitempty"`
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

func errorf(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// errGone says that the row was deleted meanwhile: the work is dropped.
var errGone = errors.New("the row was deleted")

// errStopping says that this process ends: the run goes back to the queue.
var errStopping = errors.New("helixd stops")

// errCancelled is a user's wish.
var errCancelled = errors.New("cancelled by the user")

// rowError makes what a row says of err, nil where err is helixd's own trouble,
// of which a user can do nothing.
func rowError(err error) *Error {
	var own *Error
	var boxed *sandbox.Error
	var flow *workflow.Error
	switch {
	case errors.As(err, &flow):
		return &Error{Code: flow.Code, Message: flow.Message, Step: flow.Step, Pointer: flow.Pointer, Retryable: flow.Retryable()}
	case errors.As(err, &own):
		return own
	case errors.As(err, &boxed):
		return &Error{Code: string(boxed.Code), Message: boxed.Message, Retryable: boxed.Retryable(),
			Function: boxed.Function, Line: boxed.Line, Column: boxed.Column, Offset: boxed.Offset}
	case errors.Is(err, errCancelled):
		return &Error{Code: CodeCancelled, Message: "The run was cancelled."}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: string(sandbox.WallTimeExceeded), Message: "The run took longer than its limit allows."}
	}
	return nil
}

// statusOf is a run's status with an error.
func statusOf(e *Error) string {
	switch e.Code {
	case string(sandbox.WallTimeExceeded), string(sandbox.CPUTimeExceeded):
		return statusTimedOut
	case CodeCancelled:
		return statusCancelled
	}
	return statusFailed
}

// json gives the column's value; nil is null.
func (e *Error) json() []byte {
	if e == nil {
		return nil
	}
	plain := *e
	plain.Message, plain.Step, plain.Function, plain.Pointer = clean(e.Message, 2000), clean(e.Step, 200), clean(e.Function, 500), clean(e.Pointer, 500)
	b, err := json.Marshal(plain)
	if err != nil {
		panic(err) // strings and numbers
	}
	return b
}

// clean makes text that Postgres takes, of at most so many bytes.
func clean(s string, most int) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "")
	}
	return s
}
