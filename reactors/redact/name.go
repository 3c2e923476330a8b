package redact

import (
	"unicode"
	"unicode/utf8"
)

const (
	longestName = 128 // characters
	mostWords   = 16  // of a name
	// shortestOwner is from where on a capitalised name with an s, "Annas", is that of an owner.
	shortestOwner = 3
)

// names are a list of them as a trie of words: at each word of a text there are at most mostWords steps, however many
// names there are.
type names struct {
	words map[string]int32
	steps map[step]int32
	ends  map[int32]bool
}

type step struct{ node, word int32 }

// token is a word of a text. CJK characters and syllables are a word each, since nothing stands between words there,
// and so are those of Thai and its neighbours.
type token struct {
	lo, hi int
	word   int32 // 0: in no name
	stem   int32 // the word without an s of possession
}

func newNames(list []string) *names {
	n := &names{words: map[string]int32{}, steps: map[step]int32{}, ends: map[int32]bool{}}
	nodes := int32(0)
	for _, name := range list {
		sh := newShadow(name, false)
		if len(sh.r) > longestName {
			continue
		}
		var words []token
		signs := 0
		for t, ok := nextToken(sh.r, 0, len(sh.r)); ok; t, ok = nextToken(sh.r, t.hi, len(sh.r)) {
			words = append(words, t)
			signs += t.hi - t.lo
		}
		if signs < 2 || len(words) > mostWords {
			continue
		}
		node := int32(0)
		for _, t := range words {
			w := string(sh.r[t.lo:t.hi])
			if n.words[w] == 0 {
				n.words[w] = int32(len(n.words) + 1)
			}
			s := step{node, n.words[w]}
			if n.steps[s] == 0 {
				nodes++
				n.steps[s] = nodes
			}
			node = n.steps[s]
		}
		n.ends[node] = true
	}
	return n
}

// nextToken gives the next word of s[i:hi]; one that began may end after hi. Digits are words apart from letters.
func nextToken(s []rune, i, hi int) (token, bool) {
	for i < hi && !isLetter(s[i]) && !isDigit(s[i]) {
		i++
	}
	if i >= hi {
		return token{}, false
	}
	t := token{lo: i, hi: i + 1}
	switch {
	case single(s[i]):
		for t.hi < len(s) && s[t.hi] >= utf8.RuneSelf && unicode.IsMark(s[t.hi]) {
			t.hi++
		}
	case isDigit(s[i]):
		for t.hi < len(s) && isDigit(s[t.hi]) {
			t.hi++
		}
	default:
		for t.hi < len(s) && isLetter(s[t.hi]) && !single(s[t.hi]) {
			t.hi++
		}
	}
	return t, true
}

// single says whether a character is a word by itself.
func single(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// find finds the longest name at each word. Names that overlap become one.
func (n *names) find(v *view, found []span) []span {
	if len(n.words) == 0 {
		return found
	}
	at := v.lo
	for at > 0 && at < v.hi && isLetter(v.s[at-1]) && isLetter(v.s[at]) && !single(v.s[at]) {
		at++ // not in the middle of one
	}
	var tokens []token
	var w []byte
	for t, ok := nextToken(v.s, at, v.hi); ok; t, ok = nextToken(v.s, t.hi, v.hi) {
		if t.hi-t.lo <= longestName {
			w = w[:0]
			for _, r := range v.s[t.lo:t.hi] {
				w = utf8.AppendRune(w, r)
			}
			t.word = n.words[string(w)]
			if last := len(w) - 1; last >= shortestOwner && w[last] == 's' && v.capital(t.lo) {
				t.stem = n.words[string(w[:last])]
			}
		}
		tokens = append(tokens, t)
	}
	for i := range tokens {
		if hi := n.longest(v, tokens[i:]); hi > 0 {
			found = append(found, span{lo: tokens[i].lo, hi: hi})
		}
	}
	return found
}

// longest says where the longest name ends that begins with the first of tokens; 0 if none does.
func (n *names) longest(v *view, tokens []token) int {
	hi, node := 0, int32(0)
	for i, t := range tokens {
		if i > 0 && !linked(v.s[tokens[i-1].hi:t.lo]) {
			break
		}
		if t.stem != 0 && n.ends[n.steps[step{node, t.stem}]] {
			hi = t.hi - 1
		}
		if t.word == 0 {
			break
		}
		if node = n.steps[step{node, t.word}]; node == 0 {
			break
		}
		if n.ends[node] {
			hi = t.hi
		}
	}
	return hi
}

// linked says whether what is between two words leaves them one name.
func linked(between []rune) bool {
	if len(between) > widest {
		return false
	}
	for _, r := range between {
		switch r {
		case ' ', '\n', '-', '\'', '.', '_':
		default:
			return false
		}
	}
	return true
}

// capital says whether the text has a capital letter at i.
func (v *view) capital(i int) bool {
	r, _ := utf8.DecodeRuneInString(v.sh.text[v.sh.at[i]:])
	return unicode.IsUpper(r)
}
