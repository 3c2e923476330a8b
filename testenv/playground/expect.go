package main

import (
	"fmt"
	"reflect"
	"strings"
)

// difference is an expectation that was not met.
type difference struct {
	what             string
	expected, actual any
}

// differences collects them while a thing is checked.
type differences []difference

func (d *differences) check(what string, expected, actual any) {
	if !reflect.DeepEqual(expected, actual) {
		*d = append(*d, difference{what, expected, actual})
	}
}

// err is nil when all was as expected.
func (d differences) err(about string) error {
	if len(d) == 0 {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: not as expected", about)
	for _, x := range d {
		fmt.Fprintf(&b, "\n   %s\n      expected  %v\n      actual    %v", x.what, x.expected, x.actual)
	}
	return &mismatch{b.String()}
}

// mismatch says what differs.
type mismatch struct{ text string }

func (m *mismatch) Error() string { return m.text }
