package llm

import "io"

// Limits, for tests that go past them.
const (
	MaxLine   = maxLine
	MaxEvent  = maxEvent
	MaxAnswer = maxAnswer
)

// Event is one of a stream.
type Event struct{ Kind, Data string }

// Events reads all of a stream.
func Events(r io.Reader) (all []Event, err error) {
	for e, err := range events(r) {
		if err != nil {
			return all, err
		}
		all = append(all, Event{e.kind, string(e.data)})
	}
	return all, nil
}

// Object and Strict are for fuzzing.
var (
	Object = object
	Strict = strict
)
