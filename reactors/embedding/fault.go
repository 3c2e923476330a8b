package embedding

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/helixd/helixd/reactors/outbound"
	"github.com/helixd/helixd/reactors/usage"
)

// Codes of reasons, beside those of package outbound.
const (
	CodeNotConfigured = "provider_not_configured"
	CodeOptedOut      = "opted_out"
	CodeBudget        = "budget_spent"
	CodeRate          = "rate_reached"
	CodeDimensions    = "embedding_dimensions"
	CodeColumn        = "embedding_column"
	CodeNotStored     = "embedding_refused"
	CodeHeld          = "memory_locked"
)

// fault is why a memory, or all of a user's, wait.
type fault struct {
	Code      string `json:"code"`
	Message   string `json:"message"` // one sentence a person can act on
	Retryable bool   `json:"retryable"`
}

func (f *fault) json() *string {
	if f == nil {
		return nil
	}
	b, err := json.Marshal(f)
	if err != nil {
		panic(err) // strings
	}
	s := string(b)
	return &s
}

var (
	errNotConfigured = &fault{CodeNotConfigured, "No embedding provider is configured: set EMBEDDINGS_API_KEY or EMBEDDINGS_URL, and start helixd again; memories wait until then.", true}
	errOptedOut      = &fault{CodeOptedOut, "The user has opted out in privacy_settings: memories.content is sent to nobody.", true}
	errHeld          = &fault{CodeHeld, "Another transaction held the memory's row for too long: its embedding is asked for again.", true}
	errRate          = &fault{CodeRate, "As many texts as HELIX_EMBEDDINGS_RATE permits were sent in this minute; the others wait.", true}
)

func spent(e *usage.Spent) *fault { return &fault{CodeBudget, outbound.Sentence(e.Error()), true} }

func notStored(state string) *fault {
	return &fault{CodeNotStored, fmt.Sprintf("The database refused the embedding (SQLSTATE %s): look for constraints and triggers on memories.", state), true}
}

// asked is what a request came to that brought no vectors.
type asked struct {
	fault  fault
	pause  time.Duration // the whole provider is to be left alone for so long
	misfit bool          // the vectors are of another number of dimensions, whoever asks
	text   bool          // it is for what was sent, which will not be taken another time
	sent   bool
}

func (a *asked) Error() string { return a.fault.Code + ": " + a.fault.Message }

// whyNot makes an asked of the provider's error, nil where err is something else.
func (s *Service) whyNot(err error) *asked {
	var e *outbound.Error
	if !errors.As(err, &e) {
		return nil
	}
	a := &asked{fault: fault{string(e.Code), outbound.Sentence(e.Message), true}, sent: e.Sent}
	switch e.Code {
	case outbound.PaymentRequired, outbound.RateLimited:
		a.pause = max(e.After, leastPause)
	case outbound.Unauthorized, outbound.NotFound: // an operator has to mend it
		if e.Status == http.StatusForbidden { // or it is of what was sent
			a.text = true
			break
		}
		a.pause = max(e.After, mendedPause)
	case outbound.Rejected, outbound.TooLarge, outbound.Refused, outbound.Truncated:
		a.text = true
	case outbound.BadAnswer:
		a.misfit = !e.Retry
	default:
		if !e.Sent {
			a.pause = max(e.After, leastPause)
		}
	}
	if at := time.Until(s.embedder.Ready()); a.pause > 0 && at > a.pause {
		a.pause = at
	}
	return a
}

const (
	leastPause  = time.Second
	mendedPause = 5 * time.Minute
	mostBackoff = 10 * time.Minute
	mostAside   = 6 * time.Hour
	mostTries   = 3 // of a text that is refused: its next one is when it has changed
)

// backoff is the wait after so many failures: it grows, and is spread, so that
// what failed together does not come back together.
func backoff(first time.Duration, tries int, most time.Duration) time.Duration {
	wait := min(first<<min(max(tries, 0), 20), most)
	return wait/2 + rand.N(wait/2)
}
