// Package local analyses conversations without any model: it looks for the words in
// which people tell of what they feel, want, fear and are to each other. The same
// texts give the same findings.
//
// It reads English, and only what the user says of themselves: in a conversation the
// lines after "User:", "Me:", "Human:" or "I:", without quotations, code, fiction,
// jokes, questions and suppositions. In another language it finds nothing.
//
// A text is read once, as sentences of words (read); a cue is a pattern over these
// words, like a regular expression, that is tried only where one of its rarer words is.
// A detector makes statements of the cues that it finds, and findings of the statements
// that are about the same thing. All of it takes time linear in the texts, of each of
// which the first 64 KiB are read. A text is foreign: what is shown of it is letters,
// digits and commas, in one line, at most 80 characters.
//
// The confidence of a finding is 1 - Π(1 - p) over its texts, with p = 0.6 for a clear
// statement. On the planted conversations of testdata nearly every cited text is right;
// p is lower, since people tell of themselves in more ways than these. It says how much
// was told, and is no measure of the person.
package local

import "time"

// Text is one conversation or memory.
type Text struct {
	ID      string
	Text    string
	Time    time.Time // zero: not known
	Valence *float64  // -1..1; nil: not known
}

// Finding is a pattern of memory_patterns, and what might be done about it.
type Finding struct {
	Type           string         // pattern_type
	Description    string         // one sentence to the user, in the second person
	Evidence       []string       // ids of the texts that show it, in their order, none twice
	Confidence     float64        // 0..1
	Content        map[string]any // of the type: see the detector
	Recommendation string         // one sentence; "": none
}
