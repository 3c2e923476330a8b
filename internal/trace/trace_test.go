package trace_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/helixd/helixd/internal/trace"
)

// TestOff: where nobody collects, nothing is made.
func TestOff(t *testing.T) {
	ctx, at := t.Context(), time.Now()
	failed := errors.New("failed")
	if n := testing.AllocsPerRun(100, func() {
		apply := trace.Apply(ctx, at)
		inner, span := trace.Start(apply.In(ctx), "react", "sync")
		if inner != ctx {
			t.Error("there is another context")
		}
		span.Count("helixd.rows", 3)
		child := span.Child("commit")
		child.End(nil)
		span.End(failed)
		apply.Text("helixd.lsn", "0/1")
		apply.End(nil)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if next := http.DefaultTransport; trace.On() || trace.Jobs() != nil || trace.Commits() != nil || trace.Transport(next) != next {
		t.Error("something is made where nobody collects")
	}
}
