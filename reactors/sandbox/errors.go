package sandbox

import "fmt"

// Code says what ended a call. It is the code of the error on a skill_runs row,
// so a code never changes its meaning.
type Code string

// Of code that is not run.
const (
	InvalidModule     Code = "invalid_module"     // not WebAssembly, or not valid
	ModuleTooLarge    Code = "module_too_large"   // more than MaxModule, or than the pre-validator lets through of anything
	UnsupportedImport Code = "unsupported_import" // imports what no host gives
	MissingExport     Code = "missing_export"     // has none of the ABIs
	CompileLimit      Code = "compile_limit"      // compiling took too long or too much memory
	SyntaxError       Code = "syntax_error"       // of a script
)

// Of a call.
const (
	WallTimeExceeded Code = "wall_time_exceeded"
	CPUTimeExceeded  Code = "cpu_time_exceeded"
	MemoryExceeded   Code = "memory_exceeded"
	InputTooLarge    Code = "input_too_large"
	OutputTooLarge   Code = "output_too_large"
	HostCallLimit    Code = "host_call_limit"
	StackOverflow    Code = "stack_overflow"
	Trap             Code = "trap"           // unreachable, out of bounds, division by zero and the like
	Exception        Code = "exception"      // that a script did not catch
	ExitStatus       Code = "exit_status"    // of a WASI command, other than 0
	InvalidOutput    Code = "invalid_output" // not JSON, or not UTF-8
	Cancelled        Code = "cancelled"      // by the caller's context
	WorkerLost       Code = "worker_lost"    // the child ended and no limit says why; retryable
	Unavailable      Code = "sandbox_unavailable"
)

// Error is why a program was not run, or did not end well.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"` // one sentence a person can act on
	// Where it is in the code, as far as that is known: a function, a script's
	// line and column (from 1), an offset in a module.
	Function string `json:"function,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Offset   int64  `json:"offset,omitempty"`

	cause error // of the daemon's own, for it alone
}

// Unwrap gives the caller what it said itself, such as an error of Program.Code.
func (e *Error) Unwrap() error { return e.cause }

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

// Retryable reports whether the same call may well succeed later. The last four
// are of host calls.
func (e *Error) Retryable() bool {
	switch e.Code {
	case WorkerLost, Unavailable, "internal", "network_error", "statement_timeout", "llm_failed":
		return true
	}
	return false
}

// Errorf makes an Error.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
