package javascript

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/helixd/helixd/reactors/sandbox"
)

// shape is how a tool's source gives its function.
type shape string

const (
	shapeScript shape = "script" // a function execute, run or main, or module.exports
	shapeModule shape = "module" // a default export
	shapeBody   shape = "body"   // is the body of the function
)

// The body is wrapped in its first line, so that its lines keep their numbers.
const (
	bodyStart = "(async function tool(input, helix) {"
	bodyEnd   = "\n})"
)

// prefix is how many columns the first line is shifted.
func (f shape) prefix() int {
	if f == shapeBody {
		return len(bodyStart)
	}
	return 0
}

func (f shape) flags() uint64 {
	if f == shapeModule {
		return evalModule
	}
	return evalScript
}

// shebang is the first line of a script that is a command, after a byte order mark.
var shebang = regexp.MustCompile(`^(?:\x{feff})?#!`)

// source is what the engine evaluates. It knows a shebang at the very start only,
// so that is a comment here, which has as many columns.
func (f shape) source(code []byte) []byte {
	if shebang.Match(code) {
		code = shebang.ReplaceAll(code, []byte("//"))
	}
	if f == shapeBody {
		return []byte(bodyStart + string(code) + bodyEnd)
	}
	return code
}

// parse finds a tool's shape by parsing it as each, without running it. When it
// is none, the error is of the parse that came the furthest: that is what it was
// meant to be.
func (p *program) parse(ctx context.Context, code []byte) (f shape, err error) {
	s, err := p.instantiate(ctx, newWorld(time.Now(), io.Discard, refused))
	if err != nil {
		return "", err
	}
	defer func() {
		if closed := s.close(); err == nil {
			err = closed
		}
	}()
	funcs, err := s.boot(sandbox.DefaultLimits.Memory)
	if err != nil {
		return "", err
	}
	var furthest *sandbox.Error
	for _, f := range []shape{shapeScript, shapeModule, shapeBody} {
		_, err := s.eval(f.source(code), toolFile, f.flags()|evalCompileOnly)
		if err == nil {
			return f, nil
		}
		var failed *sandbox.Error
		if err = s.failure(err, funcs[funcDescribe], f.prefix()); !errors.As(err, &failed) {
			return "", err
		}
		if !strings.HasPrefix(failed.Message, "SyntaxError") {
			return "", failed // of a static import, or of memory
		}
		if furthest == nil || failed.Line > furthest.Line || failed.Line == furthest.Line && failed.Column > furthest.Column {
			furthest = failed
		}
	}
	furthest.Code = sandbox.SyntaxError
	return "", furthest
}

// find names what a script made, wherever it is bound.
const find = `typeof module === 'object' && module !== null && typeof module.exports === 'function' ? module.exports
: typeof execute === 'function' ? execute : typeof run === 'function' ? run : typeof main === 'function' ? main
: typeof module === 'object' && module !== null ? module.exports : undefined`

// adopt evaluates a tool's source and gives the prelude its function.
func (s *isolate) adopt(code []byte, f shape, funcs [numFuncs]value) error {
	if f == shapeScript {
		if _, err := s.eval([]byte("var module = { exports: {} }, exports = module.exports"), "helix.js", evalScript); err != nil {
			return err
		}
	}
	result, err := s.eval(f.source(code), toolFile, f.flags())
	if err != nil {
		return err
	}
	switch f {
	case shapeModule:
		state, err := s.work(result)
		if err != nil {
			return err
		}
		if state == promisePending {
			return sandbox.Errorf(sandbox.Exception, "the module's top level waits for what does not happen while it is evaluated: wait inside the function")
		}
		promise := result
		if result, err = s.result(promise); err != nil {
			return err
		}
		if state != promiseFulfilled {
			return &thrown{result}
		}
	case shapeScript:
		if result, err = s.eval([]byte(find), "helix.js", evalScript); err != nil {
			return err
		}
	}
	adopted, err := s.call(funcs[funcAdopt], result)
	if err != nil {
		return err
	}
	is, err := s.do("qjs_get_bool", uint64(adopted))
	if err == nil && is == 0 {
		err = sandbox.Errorf(sandbox.MissingExport,
			"no function was found: export one by default, name it execute, run or main, set module.exports, or write its body with a return")
	}
	return err
}
