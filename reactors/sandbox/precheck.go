package sandbox

import (
	"errors"
	"io"

	"github.com/helixd/helixd/reactors/sandbox/precheck"
)

// precheckModule refuses a module that could harm a decoder.
func precheckModule(r io.ReaderAt, size int64) error {
	err := precheck.Check(r, size)
	var found *precheck.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &found):
		return &Error{Code: Code(found.Code), Message: clip(found.Message, maxMessage), Offset: found.Offset}
	}
	return Errorf(Unavailable, "read the code: %v", err)
}
