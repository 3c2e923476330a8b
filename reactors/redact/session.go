package redact

import (
	"hash/fnv"
	"maps"
	"strings"
	"unicode/utf8"
)

// tags are what placeholders are called.
var tags = map[Kind]string{
	Name: "NAME", Email: "EMAIL", Phone: "PHONE", Card: "CARD", IBAN: "IBAN", NationalID: "ID", IP: "IP", Literal: "TEXT",
}

// tagged are the tags.
var tagged = func() map[string]bool {
	made := map[string]bool{}
	for _, tag := range tags {
		made[tag] = true
	}
	return made
}()

const (
	longestTag = len("PHONE_")
	// longestLabel is how many letters number a placeholder at most: 26^6 are enough.
	longestLabel = 6
	// longestValue is how many bytes one placeholder stands for at most; for more there are several in a row. It bounds
	// what an answer can grow to that repeats a placeholder.
	longestValue = 1 << 10
)

// Session gives placeholders such as [EMAIL_A], the same one for the same value in all texts, and takes them back.
// Another spelling of a value, in case or in spaces, has its own, [EMAIL_A_B], so that Restore is exact and a reader
// still sees that they are one. A Session is not safe for concurrent use.
type Session struct {
	r      *Redactor
	first  int
	given  map[value]string  // the placeholder of a value
	meant  map[string]string // the value of a placeholder
	things map[value]*thing  // by kind and folded spelling
	next   map[Kind]int      // how many things there are of a kind
	counts map[Kind]int
}

type value struct {
	kind Kind
	text string
}

type thing struct {
	label     string
	spellings int
}

// Session begins one. Placeholders are numbered in the order in which values are first seen, so the same texts in the
// same order have the same. Where salt is not empty, numbers begin at a place that it gives, between AA and ZZ, so
// that an answer which belongs to another session hardly ever names a placeholder of this one.
func (r *Redactor) Session(salt string) *Session {
	first := 0
	if salt != "" {
		h := fnv.New32a()
		h.Write([]byte(salt))
		first = 26 + int(h.Sum32()%(26*26))
	}
	return &Session{
		r: r, first: first, given: map[value]string{}, meant: map[string]string{}, things: map[value]*thing{},
		next: map[Kind]int{}, counts: map[Kind]int{},
	}
}

// Counts says how often something of each kind was replaced.
func (s *Session) Counts() map[Kind]int {
	return maps.Clone(s.counts)
}

// Redact replaces what the rules name. Any string is allowed, also one that is not valid UTF-8.
func (s *Session) Redact(text string) string {
	if len(s.r.finders) == 0 {
		return text
	}
	plain := []rune(nil)
	found := s.r.find(text)
	if len(found) == 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	done := 0
	for _, p := range found {
		b.WriteString(text[done:p.from])
		done = p.to
		s.counts[p.kind]++
		for v := range pieces(text[p.from:p.to]) {
			plain = s.write(&b, value{p.kind, v}, plain)
		}
	}
	b.WriteString(text[done:])
	return b.String()
}

// pieces cuts what is too long for one placeholder, not within a character.
func pieces(v string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for len(v) > longestValue {
			n := longestValue
			for back := 0; back < utf8.UTFMax-1 && !utf8.RuneStart(v[n]); back++ {
				n--
			}
			if !yield(v[:n]) {
				return
			}
			v = v[n:]
		}
		yield(v)
	}
}

// write puts the placeholder of a value, a new one if it is new.
func (s *Session) write(b *strings.Builder, v value, scratch []rune) []rune {
	p, ok := s.given[v]
	if !ok {
		v.text = strings.Clone(v.text) // not to keep the whole text
		scratch = canonical(scratch[:0], v)
		same := value{v.kind, string(scratch)}
		t := s.things[same]
		if t == nil {
			t = &thing{label: letters(s.first + s.next[v.kind])}
			s.next[v.kind]++
			s.things[same] = t
		}
		p = "[" + tags[v.kind] + "_" + t.label
		if t.spellings > 0 {
			p += "_" + letters(t.spellings)
		}
		p += "]"
		t.spellings++
		s.given[v], s.meant[p] = p, v.text
	}
	b.WriteString(p)
	return scratch
}

// canonical is what the spellings of one value have in common: letters and digits, and for those where they matter
// also the signs between them.
func canonical(to []rune, v value) []rune {
	for _, r := range newShadow(v.text, false).r {
		switch {
		case isDigit(r), isLetter(r), v.kind == Email || v.kind == IP || v.kind == Literal:
			to = append(to, r)
		}
	}
	if v.kind == Literal {
		return append(to, []rune(v.text)...) // their case may mean something
	}
	return to
}

// letters counts A, B, ... Z, AA, AB: there are no digits in a placeholder, so it makes no pattern with what is beside it.
func letters(n int) string {
	var b [16]byte
	i := len(b)
	for n++; n > 0; n = (n - 1) / 26 {
		i--
		b[i] = byte('A' + (n-1)%26)
	}
	return string(b[i:])
}

// formAt says where what looks like a placeholder at i ends, or -1.
func formAt(text string, i int) int {
	tag, _, ok := strings.Cut(text[i+1:min(len(text), i+1+longestTag)], "_")
	if !ok || !tagged[tag] {
		return -1
	}
	after, ok := cutLabel(text[i+len("[")+len(tag)+len("_"):])
	if !ok {
		return -1
	}
	if spelling, more := strings.CutPrefix(after, "_"); more {
		if after, ok = cutLabel(spelling); !ok {
			return -1
		}
	}
	if !strings.HasPrefix(after, "]") {
		return -1
	}
	return len(text) - len(after) + 1
}

func cutLabel(s string) (string, bool) {
	n := 0
	for n < len(s) && n <= longestLabel && 'A' <= s[n] && s[n] <= 'Z' {
		n++
	}
	return s[n:], 0 < n && n <= longestLabel
}

// Restore puts the values back. It is the exact inverse of Redact, whatever the text was. Of an answer it restores
// the placeholders that this session gave, letter for letter; others stay as they are.
func (s *Session) Restore(text string) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(text); {
		n := strings.IndexByte(text[i:], '[')
		if n < 0 {
			break
		}
		i += n
		end := formAt(text, i)
		if end < 0 {
			i++
			continue
		}
		if v, ok := s.meant[text[i:end]]; ok {
			b.WriteString(text[done:i])
			b.WriteString(v)
			done = end
		}
		i = end
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}
