package command

import "unicode/utf8"

// Bounds of a transcript that can be a command at all: what is longer is dictated.
const (
	mostWords = 1000
	mostBytes = 32 << 10
)

// Said is a transcript, ready to be compared with phrases.
type Said struct {
	text  string
	words []word
}

// Listen gives a transcript's words; false: it is too long to be a command, or
// empty.
func Listen(transcript string) (*Said, bool) {
	if len(transcript) > mostBytes || !utf8.ValidString(transcript) {
		return nil, false
	}
	all, bounded := words(transcript, mostWords)
	if !bounded || len(all) == 0 {
		return nil, false
	}
	return &Said{transcript, all}, true
}

// Match is how a transcript is a phrase.
type Match struct {
	Words int               // of the phrase that were said: how specific it is
	Slots map[string]string // as they were said; those that were not are left out
}

// Match compares, in time of at most the phrase's length by the transcript's: what
// did not lead to the end from one word on is not tried there again.
func (p *Phrase) Match(s *Said) (Match, bool) {
	m := matcher{Phrase: p, said: s.words, dead: make([]bool, len(p.program)*(len(s.words)+1)), spans: make([][2]int, len(p.slots))}
	if !m.from(0, 0) {
		return Match{}, false
	}
	slots := map[string]string{}
	for i, name := range p.slots {
		if span := m.spans[i]; span[1] > span[0] {
			slots[name] = trim(s.between(span[0], span[1]))
		}
	}
	return Match{m.count, slots}, true
}

// between gives the text of words, with all that stands between their neighbours.
func (s *Said) between(from, to int) string {
	start, end := 0, len(s.text)
	if from > 0 {
		start = s.words[from-1].end
	}
	if to < len(s.words) {
		end = s.words[to].start
	}
	return s.text[start:end]
}

type matcher struct {
	*Phrase
	said  []word
	dead  []bool   // by instruction and word
	spans [][2]int // of slots, in words
	count int
}

// from reports whether the phrase goes on so from an instruction and a word. It
// notes what the slots are on the way back from the end.
func (m *matcher) from(at, next int) bool {
	seen := at*(len(m.said)+1) + next
	if m.dead[seen] {
		return false
	}
	if m.follow(&m.program[at], at, next) {
		return true
	}
	m.dead[seen] = true
	return false
}

func (m *matcher) follow(i *instruction, at, next int) bool {
	left := next < len(m.said)
	switch i.op {
	case opWord:
		if left && m.said[next].folded == i.word && m.from(i.to[0], next+1) {
			m.count++
			return true
		}
	case opFirst:
		if left && m.from(i.to[0], next+1) {
			m.spans[i.slot][0] = next
			return true
		}
	case opMore:
		if m.from(i.to[0], next) {
			m.spans[i.slot][1] = next
			return true
		}
		return left && m.from(at, next+1)
	case opSkip:
		return m.from(at+1, next) || left && m.from(at, next+1)
	case opSplit:
		for _, to := range i.to {
			if m.from(to, next) {
				return true
			}
		}
	case opEnd:
		return m.openEnd || !left
	}
	return false
}
