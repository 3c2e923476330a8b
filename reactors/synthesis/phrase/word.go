package phrase

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// kind says what a word is made of.
type kind uint8

const (
	letters   kind = iota
	number         // no letter in it
	pair           // two characters of a script without spaces
	symbol         // an emoji
	reference      // a link's host, an e-mail address, a @mention
)

// word is a piece of a clean text.
type word struct {
	from, to int    // its bytes in the text
	form     string // lower case, without what is written or left out at will (Arabic and Hebrew points, skin tones)
	kind     kind
	clause   int    // words between which punctuation or a line's end stands have different ones
	stops    uint16 // the languages of the table, a bit each, in which it is a stop word
}

const (
	// longestWord is how many characters a word may have; what is longer is data, not language.
	longestWord = 64
	// mostWords bounds the words of a text.
	mostWords = 4096
)

// split finds the words of a clean text by the Unicode Standard's annex 29, and pairs of characters where it has no
// words: Lucene's way (CJKBigramFilter), for Chinese, Japanese, Thai, Lao, Khmer and Burmese.
func split(text string) []word {
	s := splitter{lists: lists(), text: text, kana: strings.ContainsFunc(text, isKana)}
	for from := 0; from < len(text) && len(s.words) < mostWords; {
		to := from
		for to < len(text) && text[to] != ' ' && text[to] != '\n' {
			to++
		}
		if from < to {
			s.field(from, to)
		}
		if to < len(text) && text[to] == '\n' {
			s.clause++
		}
		from = to + 1
	}
	return s.words[:min(len(s.words), mostWords)]
}

type splitter struct {
	lists  stopwords
	text   string
	kana   bool // Japanese
	words  []word
	clause int
	run    []int // where the characters of the present run without spaces begin, and where it ends
}

// field splits what stands between two spaces.
func (s *splitter) field(from, to int) {
	field := s.text[from:to]
	if alphanumeric(field) { // most of them
		s.letters(from, to)
		return
	}
	if host, at := link(field); at >= 0 {
		s.clause++
		s.add(from+at, from+at+len(host), strings.ToLower(host), reference)
		s.clause++
		return
	}
	if who, at := mention(field); at >= 0 {
		s.add(from+at, from+at+len(who), strings.ToLower(who), reference)
		return
	}
	for segments := words.FromString(field); segments.Next(); {
		s.segment(from+segments.Start(), from+segments.End())
	}
	s.endRun()
}

func (s *splitter) segment(from, to int) {
	text := s.text[from:to]
	r, _ := utf8.DecodeRuneInString(text)
	if unspaced(r) {
		if s.breaksRun(text) {
			s.endRun()
			return
		}
		if len(s.run) == 0 {
			s.run = append(s.run, from)
		}
		s.run = append(s.run, to)
		return
	}
	s.endRun()
	switch {
	case unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_':
		for from < to { // at apostrophes: don't, l'eau, Anna's
			end := to
			next := to
			if i := strings.IndexAny(s.text[from:to], "'’"); i >= 0 {
				end = from + i
				_, size := utf8.DecodeRuneInString(s.text[end:])
				next = end + size
			}
			s.letters(from, end)
			from = next
		}
	case emoji(r):
		form := strings.Map(func(r rune) rune {
			if tone(r) || r == colourful {
				return -1
			}
			return r
		}, text)
		if form != "" {
			s.add(from, to, form, symbol)
		}
	case !strings.ContainsRune("-‐/&+'’", r):
		s.clause++
	}
}

func (s *splitter) letters(from, to int) {
	form := strings.ToLower(s.text[from:to])
	for _, r := range form {
		if r >= 0x590 && r < 0x780 { // Hebrew, Arabic, Syriac: points are left out at will
			form = strings.Map(unpointed, form)
			break
		}
	}
	k := number
	if strings.ContainsFunc(form, unicode.IsLetter) {
		k = letters
	}
	if strings.ContainsFunc(form, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		s.add(from, to, form, k)
	}
}

func (s *splitter) add(from, to int, form string, k kind) {
	if len(form) > longestWord && utf8.RuneCountInString(form) > longestWord || to-from > 4*longestWord {
		s.clause++
		return
	}
	s.words = append(s.words, word{from: from, to: to, form: form, kind: k, clause: s.clause, stops: s.lists.of[form]})
}

// endRun makes pairs of the characters gathered so far, or a word of a single one.
func (s *splitter) endRun() {
	run := s.run
	s.run = s.run[:0]
	if len(run) == 2 {
		s.add(run[0], run[1], s.text[run[0]:run[1]], pair)
	}
	for i := 0; i+2 < len(run); i++ {
		from, to := run[i], run[i+2]
		// In Japanese a word begins with Hiragana only if it is written so throughout; else it is the ending of the one
		// before, or a particle.
		first, _ := utf8.DecodeRuneInString(s.text[from:])
		last, _ := utf8.DecodeRuneInString(s.text[run[i+1]:])
		if unicode.Is(unicode.Hiragana, first) && !unicode.Is(unicode.Hiragana, last) {
			continue
		}
		s.add(from, to, s.text[from:to], pair)
	}
}

// breaksRun says that a character is a function word of its own.
func (s *splitter) breaksRun(character string) bool {
	if s.kana {
		return character == "を"
	}
	return s.lists.chinese[character]
}

// alphanumeric says that there are only letters and digits of ASCII, which are one word.
func alphanumeric(field string) bool {
	for i := range len(field) {
		if c := field[i] | ' '; (c < 'a' || c > 'z') && (field[i] < '0' || field[i] > '9') {
			return false
		}
	}
	return true
}

// link gives the host of a URL and where it begins, or -1.
func link(field string) (host string, at int) {
	scheme := strings.Index(field, "://")
	if scheme >= 0 {
		at = scheme + len("://")
	} else if at = strings.Index(field, "www."); at < 0 {
		return "", -1
	}
	host = field[at:]
	if end := strings.IndexAny(host, `/?#)]>"'`); end >= 0 {
		host = host[:end]
	}
	if user := strings.LastIndexByte(host, '@'); user >= 0 {
		host, at = host[user+1:], at+user+1
	}
	if port := strings.IndexByte(host, ':'); port >= 0 {
		host = host[:port]
	}
	if strings.HasPrefix(host, "www.") {
		host, at = host[4:], at+4
	}
	host = strings.TrimRight(host, ".,;!")
	for _, r := range host {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && r != '.' && r != '-' {
			return "", -1
		}
	}
	if host == "" {
		return "", -1
	}
	return host, at
}

// mention gives a @name or an e-mail address and where it begins, or -1.
func mention(field string) (who string, at int) {
	at = strings.IndexFunc(field, func(r rune) bool { return r == '@' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) })
	if at < 0 {
		return "", -1
	}
	who = strings.TrimRightFunc(field[at:], func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_' })
	sign := strings.IndexByte(who, '@')
	if sign < 0 || sign == len(who)-1 {
		return "", -1
	}
	for _, r := range who[:sign] + who[sign+1:] {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && !strings.ContainsRune("._+-", r) {
			return "", -1
		}
	}
	return who, at
}

// unspaced says that a rune is of a script that puts no spaces between words. (Katakana is, too, but a run of it is
// mostly one word, and annex 29 keeps it together; Korean has spaces.)
func unspaced(r rune) bool {
	return r >= 0xe00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) && unicode.IsLetter(r)
}

func isKana(r rune) bool { return r >= 0x3040 && r <= 0x30ff }

// unpointed leaves out the points of Hebrew and Arabic and the stretching of Arabic.
func unpointed(r rune) rune {
	if unicode.Is(unicode.Mn, r) || r == '\u0640' {
		return -1
	}
	return r
}
