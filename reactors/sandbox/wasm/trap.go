package wasm

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/tetratelabs/wazero/sys"

	"github.com/helixd/helixd/reactors/sandbox"
)

// traps says what wazero's errors mean; it does not export them.
var traps = map[string]string{
	"unreachable":                   "unreachable code reached",
	"invalid table access":          "indirect call of an element that the table does not have",
	"indirect call type mismatch":   "indirect call of a function of another type",
	"integer divide by zero":        "integer divided by zero",
	"invalid conversion to integer": "a float that is no number converted to an integer",
}

// frame is a line of wazero's stack trace, after the module's name and a dot:
// function(types) types.
var frame = regexp.MustCompile(`^(.*?)\([a-z0-9,]*\)(?: \S+| \([a-z0-9,]*\))?$`)

// failure turns what ended a run of the module of that name into an
// *sandbox.Error.
func (c *call) failure(err error, module string) *sandbox.Error {
	var known *sandbox.Error
	if errors.As(err, &known) {
		return known
	}
	if ctxErr := c.Context.Err(); ctxErr != nil && errors.Is(err, ctxErr) {
		if errors.Is(err, context.DeadlineExceeded) {
			return c.tooLong()
		}
		return sandbox.Errorf(sandbox.Cancelled, "the call was cancelled")
	}
	if c.memory.refused {
		return c.memory.exceeded()
	}
	var exit *sys.ExitError
	if errors.As(err, &exit) {
		return sandbox.Errorf(sandbox.ExitStatus, "the module ended with exit status %d", exit.ExitCode())
	}

	text, trace, _ := strings.Cut(err.Error(), "\nwasm stack trace:\n\t")
	if strings.HasSuffix(text, "stack overflow") { // it comes without a trace, after "start function[0] failed: " of one
		return sandbox.Errorf(sandbox.StackOverflow, "the module trapped: stack overflow, its functions call too deep")
	}
	_, reason, found := strings.Cut(text, "wasm error: ")
	if !found {
		// A table, data or element segment that does not fit, at instantiation.
		return trap("", "the module trapped: "+bounded(text))
	}
	if known, ok := traps[reason]; ok {
		reason = known
	}
	function := ""
	line, _, _ := strings.Cut(strings.TrimPrefix(trace, module+"."), "\n")
	if m := frame.FindStringSubmatch(line); m != nil {
		function = bounded(m[1])
	}
	message := "the module trapped: " + bounded(reason)
	if function != "" {
		message += " in function " + function
	}
	return trap(function, message)
}

func (c *call) tooLong() *sandbox.Error {
	return sandbox.Errorf(sandbox.WallTimeExceeded, "the call took longer than %s", c.env.Limits.Wall)
}

func trap(function, message string) *sandbox.Error {
	return &sandbox.Error{Code: sandbox.Trap, Message: message, Function: function}
}
