package llm

import (
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/helixd/helixd/reactors/outbound"
)

// dialect is what a server that speaks almost OpenAI's protocol is not asked:
// parameters that it has refused, until helixd starts again. Without response_format
// the schema is in the system's text, and max_completion_tokens is max_tokens.
type dialect struct {
	mu      sync.Mutex
	refused map[string]bool
}

// now is a copy.
func (d *dialect) now() map[string]bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.refused)
}

// adapt makes of the refusal of one of the parameters, of a request that left out
// some, the next request's other form.
func (d *dialect) adapt(without map[string]bool, err error, parameters ...string) error {
	var refused *outbound.Error
	if !errors.As(err, &refused) {
		return err
	}
	for _, p := range parameters {
		if without[p] || !refused.Unknown(p) {
			continue
		}
		d.mu.Lock()
		if d.refused == nil {
			d.refused = map[string]bool{}
		}
		d.refused[p] = true
		d.mu.Unlock()
		return otherwise(refused, fmt.Sprintf("the server does not know %s; it is asked again without it", p))
	}
	return err
}

// adapted is the Error of a request whose next one has another form: it is no
// failure that another would have to wait after. A server can cause no more of them
// than there are parameters to refuse.
type adapted struct{ of *outbound.Error }

func (a adapted) Error() string { return a.of.Error() }
func (a adapted) Unwrap() error { return a.of }

func otherwise(e *outbound.Error, message string) error {
	return adapted{of: &outbound.Error{Code: outbound.BadAnswer, Message: message, Status: e.Status, RequestID: e.RequestID, Retry: true, Sent: true}}
}
