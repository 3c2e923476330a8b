package analysis

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Codes of errors on rows, beside those of package outbound.
const (
	CodeConversations = "conversations_invalid"
	CodeType          = "synthesis_type_unknown"
	CodeNotStored     = "analysis_refused"
	CodeInterrupted   = "interrupted"
	CodeInternal      = "internal"
)

// Error is the error column of a row.
type Error struct {
	Code      string     `json:"code"`
	Message   string     `json:"message"` // one sentence a person can act on
	Retryable bool       `json:"retryable"`
	NextTry   *time.Time `json:"next_try,omitempty"` // it waits until then, by itself
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

func invalid(format string, args ...any) *Error {
	return &Error{Code: CodeConversations, Message: fmt.Sprintf(format, args...)}
}

// json gives the column's value.
func (e *Error) json() string {
	plain := *e
	plain.Message = clip(e.Message, 1000)
	b, err := json.Marshal(plain)
	if err != nil {
		panic(err) // strings and a time
	}
	return string(b)
}

// clip makes one line of printable text, of at most so many bytes.
func clip(text string, most int) string {
	text = strings.Join(strings.Fields(strings.Map(printable, strings.ToValidUTF8(text, " "))), " ")
	if len(text) <= most {
		return text
	}
	cut := most - len("…")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strings.TrimSpace(text[:cut]) + "…"
}
