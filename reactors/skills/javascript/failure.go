package javascript

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/tetratelabs/wazero/sys"

	"github.com/helixd/helixd/reactors/sandbox"
)

// said is what the prelude's describe says of an exception. All of it is the
// tool's word, but for the code.
type said struct {
	Name    string       `json:"name"`
	Message string       `json:"message"`
	Stack   string       `json:"stack"`
	Code    sandbox.Code `json:"code"` // of a host call that failed
}

// trapped is the error of a host function that ended the engine, or the
// *sandbox.Error of an engine that ended itself.
func trapped(err error) error {
	var host hostFailure
	if errors.As(err, &host) {
		return host.error
	}
	var exit *sys.ExitError
	if errors.As(err, &exit) {
		return sandbox.Errorf(sandbox.Cancelled, "The call was ended from outside.")
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	if strings.Contains(first, "stack overflow") {
		return sandbox.Errorf(sandbox.StackOverflow, "The tool calls too deeply.")
	}
	return sandbox.Errorf(sandbox.Trap, "The JavaScript engine stopped: %s.", bounded(first, 300))
}

// failure makes what the caller of a tool sees of an error: of an exception, an
// *Error that says where it was thrown.
func (s *isolate) failure(err error, describe value, prefix int) error {
	var exception *thrown
	if !errors.As(err, &exception) {
		return err
	}
	what, err := s.describe(exception, describe)
	if err != nil {
		return err
	}
	located := what.located(prefix)
	if located.Code == sandbox.MemoryExceeded && s.limit > 0 {
		located.Message = fmt.Sprintf("The tool needs more than %d MB of memory.", s.limit>>20)
	}
	return located
}

func (s *isolate) describe(exception *thrown, describe value) (said, error) {
	var what said
	text, err := s.call(describe, exception.value)
	var again *thrown
	if errors.As(err, &again) {
		return said{Message: "an exception that cannot be described"}, nil
	}
	if err != nil {
		return what, err
	}
	content, err := s.copied(text)
	if err != nil {
		return what, err
	}
	if isNull, err := s.do("qjs_is_null", uint64(exception.value)); err != nil || isNull != 0 && int64(s.mem.Size()) > s.limit/2 {
		// The engine throws null when there is no memory for an error.
		return said{Name: "InternalError", Message: "out of memory"}, err
	}
	if json.Unmarshal(content, &what) != nil {
		return said{Message: "an exception that cannot be described"}, nil
	}
	return what, nil
}

// frame is a line of a stack that is in the tool's source.
var frame = regexp.MustCompile(`(?m)^ +at (?:(.*) \()?` + regexp.QuoteMeta(toolFile) + `:(\d+)(?::(\d+))?\)?$`)

func (what said) located(prefix int) *sandbox.Error {
	e := &sandbox.Error{Code: what.code(), Message: bounded(what.Message, 2000)}
	if what.Name != "" {
		e.Message = bounded(what.Name, 100)
		if what.Message != "" {
			e.Message += ": " + bounded(what.Message, 2000)
		}
	}
	if e.Message == "" {
		e.Message = "an exception without a message"
	}
	if m := frame.FindStringSubmatch(what.Stack); m != nil {
		e.Function = bounded(m[1], 200)
		e.Line, _ = strconv.Atoi(m[2])
		e.Column, _ = strconv.Atoi(m[3])
		if e.Line == 1 && e.Column > 0 {
			e.Column = max(1, e.Column-prefix)
		}
	}
	return e
}

func (what said) code() sandbox.Code {
	switch {
	case what.Code != "":
		return what.Code
	case what.Name == "InternalError" && what.Message == "out of memory":
		return sandbox.MemoryExceeded
	case strings.Contains(what.Message, "stack size exceeded"), what.Name == "InternalError" && what.Message == "stack overflow":
		return sandbox.StackOverflow
	}
	return sandbox.Exception
}

// bounded is text of the tool, at most n bytes, as valid UTF-8 without NUL.
func bounded(text string, n int) string {
	if len(text) > n {
		text = text[:n] + "…"
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")
}
