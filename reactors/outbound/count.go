package outbound

import (
	"time"

	"github.com/helixd/helixd/internal/metric"
)

// Count counts a request that was made, in the process's metrics: an answer (ok), an
// error of the provider, or neither, where it was called off.
func Count(provider, purpose string, took time.Duration, ok bool, e *Error) {
	outcome := metric.Cancelled
	switch {
	case ok:
		outcome = metric.OK
	case e != nil:
		outcome = string(e.Code)
	}
	metric.Asked(provider, purpose, outcome, took)
}
