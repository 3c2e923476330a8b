package redact_test

import (
	"os"
	"strings"
	"testing"
)

// Sentences as people write them, full of years, dates, times, prices and counts, but without personal data. What is
// wrongly found in them is counted: the number is small, and it must not grow.
func TestOrdinary(t *testing.T) {
	raw, err := os.ReadFile("testdata/ordinary.txt")
	if err != nil {
		t.Fatal(err)
	}
	const bearable = 1
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	wrong, numbers := 0, 0
	for _, line := range lines {
		numbers += len(runForm.FindAllString(line, -1))
		if red := session(t, nil).Redact(line); red != line {
			wrong++
			t.Logf("%q became %q", line, red)
		}
	}
	t.Logf("%d of %d sentences with %d numbers", wrong, len(lines), numbers)
	if wrong > bearable {
		t.Errorf("%d, at most %d are bearable", wrong, bearable)
	}
	// The whole as one text: words of one sentence stand near the numbers of the next.
	if red := session(t, nil).Redact(string(raw)); strings.Count(red, "_") > bearable+1 {
		t.Errorf("%d in the whole: %s", strings.Count(red, "_"), taken.FindAllString(red, -1))
	}
}
