// Package outbound is what asking any service on another machine has in common:
// why there is no answer, whose turn it is, when to ask again and when not to ask at
// all, whether a request has reached the service, where that is, and what may be
// shown of its words.
package outbound

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Code says why there is no answer. It is the code of the error on a row.
type Code string

// Codes of an Error, and whether they are retried.
const (
	Rejected        Code = "provider_rejected"         // 400 and the like: never
	Unauthorized    Code = "provider_unauthorized"     // 401, 403: never, until an operator mends it
	NotFound        Code = "provider_not_found"        // 404, 405: no such address or model; as above
	PaymentRequired Code = "provider_payment_required" // 402: all requests pause, and this one is made again
	TooLarge        Code = "provider_too_large"        // 413, and more than a model takes at once: never
	RateLimited     Code = "provider_rate_limited"     // 429: yes
	Unavailable     Code = "provider_unavailable"      // 408, 409, 5xx, network, time-out: yes
	BadAnswer       Code = "provider_answer_invalid"   // 200 with what is no answer: yes
	Refused         Code = "provider_refused"          // a model declines to answer: never
	Truncated       Code = "provider_answer_truncated" // the answer is longer than it may be: never
)

// Error is why there is no answer.
type Error struct {
	Code      Code
	Message   string        // one sentence a person can act on; never the key, never what was sent
	Status    int           // of HTTP, 0: there was none
	RequestID string        // the service's, where it told
	After     time.Duration // of Retry-After, 0: not told
	Retry     bool          // asking again may help
	Sent      bool          // false: the request certainly did not reach the service
	Ours      bool          // what was to be sent could not be read: it says nothing of the service

	public string // Message without the service's words; "": it has none
	param  string // of the request, that the service complains about
	said   string // what the service says
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

// Public is Message without the service's own words, which may repeat what one
// user sent: it is for logs, and for what other users see.
func (e *Error) Public() string {
	if e.public == "" {
		return e.Message
	}
	return e.public
}

// withoutWords is an Error that says no more than Public.
func (e *Error) withoutWords() *Error {
	plain := *e
	plain.Message, plain.public, plain.param, plain.said = e.Public(), "", "", ""
	return &plain
}

// Names reports whether the service complains about one of these parameters of the
// request, in whatever words.
func (e *Error) Names(parameters ...string) bool {
	for _, p := range parameters {
		if strings.Contains(e.param, p) || strings.Contains(e.said, p) {
			return true
		}
	}
	return false
}

// unknown are words for what a service does not know, or does not do.
var unknown = []string{"unknown", "unsupported", "unrecogni", "unexpected", "support", "permitted", "allowed", "extra", "additional", "invalid", "not compatible", "unavailable", "use '"}

// Unknown reports whether the service does not know a parameter of the request,
// and would perhaps answer without it.
func (e *Error) Unknown(parameter string) bool {
	if e.Status != 400 && e.Status != 422 {
		return false
	}
	if root, _, _ := strings.Cut(e.param, "."); root == parameter {
		return true
	}
	words := strings.FieldsFunc(e.said, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	said := strings.ToLower(e.said)
	return slices.Contains(words, parameter) && slices.ContainsFunc(unknown, func(u string) bool { return strings.Contains(said, u) })
}
