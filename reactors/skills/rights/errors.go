package rights

import "fmt"

// Code says why something is denied. It is the code of the error on a row.
type Code string

// The codes of denials.
const (
	Refused    Code = "capability_refused"     // no such capability, or the operator's policy does not permit it
	NotGranted Code = "capability_not_granted" // by the runner, or by the caller of a nested skill
)

// Error is why a capability cannot be had.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"` // one sentence that a person can act on
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

func refused(format string, args ...any) *Error {
	return &Error{Code: Refused, Message: fmt.Sprintf(format, args...)}
}

// Denial is a capability that a skill asks for and does not get.
type Denial struct {
	Capability string `json:"capability"` // as it was asked for, where it cannot be read; cut off at 300 bytes
	Error
}
