package workflow

import (
	"context"
	"errors"
	"fmt"

	"github.com/helixd/helixd/reactors/skills/schema"
)

// Codes of the errors that this package makes; they stand on skill_runs rows.
const (
	DefinitionInvalid = "definition_invalid" // of Parse
	ConditionInvalid  = "condition_invalid"  // of Parse, and of a condition that fails on the data
	MappingInvalid    = "mapping_invalid"    // likewise
	StepFailed        = "step_failed"        // of a run: Inner says how the step did
	StepTimeout       = "step_timeout"
	InputInvalid      = "input_invalid"
	InvalidOutput     = "invalid_output" // a tool's output is not JSON, or breaks its bounds
	ContextTooLarge   = "context_too_large"
	Internal          = "internal" // an error of Tools that is no *Error: its text is for the log
)

// Error is why steps are not a workflow, or a run of one did not end well. Tools
// give it too: of any other error a run tells only that there was one.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`           // one sentence a person can act on
	Step    string `json:"step,omitempty"`    // stepId
	Pointer string `json:"pointer,omitempty"` // RFC 6901, into the steps
	Inner   *Error `json:"inner,omitempty"`   // of the step, where Code is step_failed

	cause error
}

func (e *Error) Error() string {
	s := e.Code + ": "
	if e.Step != "" {
		s += fmt.Sprintf("step %q: ", e.Step)
	}
	if e.Pointer != "" {
		s += e.Pointer + ": "
	}
	return s + e.Message
}

// Unwrap gives the error of Tools that this one was made of, for the log.
func (e *Error) Unwrap() error { return e.cause }

// final are the codes that a second attempt gives again.
var final = map[string]bool{
	DefinitionInvalid: true, ConditionInvalid: true, MappingInvalid: true, InputInvalid: true, ContextTooLarge: true,
	InvalidOutput:     true,
	"input_too_large": true, "output_too_large": true, "response_too_large": true,
	"skill_not_found": true, "skill_disabled": true, "skill_invalid": true, "cycle": true, "too_deep": true,
	"capability_refused": true, "capability_not_granted": true, "host_not_allowed": true, "address_forbidden": true,
	"secret_not_found": true, "secrets_unavailable": true, "cancelled": true, "llm_unavailable": true, "llm_budget_spent": true, "llm_refused": true, "tool_not_found": true, "host_call_limit": true,
	"invalid_module": true, "module_too_large": true, "unsupported_import": true, "missing_export": true,
	"compile_limit": true, "syntax_error": true, "invalid_request": true, "unknown_host_call": true,
}

// Retryable reports whether another attempt may end in another way. It looks at the
// innermost error: a nested skill's step_failed is what its step was.
func (e *Error) Retryable() bool {
	for e.Inner != nil {
		e = e.Inner
	}
	return !final[e.Code]
}

// errorOf makes an Error of what a tool gave.
func errorOf(err error) *Error {
	var known *Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, errStepTimeout), errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: StepTimeout, Message: "the step took longer than it may", cause: err}
	default:
		return &Error{Code: Internal, Message: "the tool could not be called", cause: err}
	}
}

// schemaError moves what schema says into an Error.
func schemaError(code string, err error) *Error {
	var e *schema.Error
	if errors.As(err, &e) {
		return &Error{Code: code, Message: e.Message, Pointer: e.Pointer}
	}
	return &Error{Code: code, Message: schema.Clip(err.Error())}
}
