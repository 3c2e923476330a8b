package phrase

import (
	"embed"
	"path"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"
)

// language is one of those that are told apart by their stop words. On a tie the first one wins.
type language int

var languages = [...]struct {
	name string
	stem func(*snowballstem.Env) bool
}{
	{"english", english.Stem}, {"german", german.Stem}, {"french", french.Stem}, {"spanish", spanish.Stem},
	{"italian", italian.Stem}, {"portuguese", portuguese.Stem}, {"dutch", dutch.Stem}, {"russian", russian.Stem},
	{"swedish", swedish.Stem}, {"danish", danish.Stem}, {"norwegian", norwegian.Stem}, {"finnish", finnish.Stem},
	{"hungarian", hungarian.Stem}, {"turkish", turkish.Stem},
}

//go:embed stopwords
var files embed.FS

// stopwords is the lists: for each word, a bit for each language of the table, and those of scripts that tell the
// language themselves.
type stopwords struct {
	of             map[string]uint16
	other, chinese map[string]bool
}

var lists = sync.OnceValue(func() stopwords {
	s := stopwords{of: map[string]uint16{}, other: map[string]bool{}, chinese: map[string]bool{}}
	read := func(name string) []string {
		content, err := files.ReadFile(path.Join("stopwords", name+".txt"))
		if err != nil {
			panic(err) // it is embedded
		}
		return strings.Fields(string(content))
	}
	for i, l := range languages {
		for _, w := range read(l.name) {
			s.of[w] |= 1 << i
		}
	}
	for _, w := range read("more/english") {
		s.of[w] |= 1
	}
	for _, name := range []string{"more/arabic", "more/hebrew"} {
		for _, w := range read(name) {
			s.other[w] = true
		}
	}
	for _, w := range read("more/chinese") {
		s.chinese[w] = true
	}
	return s
})

// reader knows in which languages a corpus is written, and remembers stems.
type reader struct {
	share [len(languages)]float64 // of the stop words found, those of each language
	stems [len(languages) + 2]map[string]string
	env   *snowballstem.Env
}

const (
	inRussian = 7 // of the table
	inArabic  = len(languages)
	inTamil   = len(languages) + 1
)

// newReader reads a corpus for its languages.
func newReader(corpus ...[]word) *reader {
	r := &reader{env: snowballstem.NewEnv("")}
	for i := range r.stems {
		r.stems[i] = map[string]string{}
	}
	all := 0
	for _, words := range corpus {
		for i, n := range count(words) {
			r.share[i] += float64(n)
			all += n
		}
	}
	for i := range r.share {
		r.share[i] /= float64(max(all, 1))
	}
	return r
}

// count counts the stop words of each language.
func count(words []word) (found [len(languages)]int) {
	for _, w := range words {
		for bits, i := w.stops, 0; bits != 0; bits, i = bits>>1, i+1 {
			found[i] += int(bits & 1)
		}
	}
	return found
}

// language guesses in which language a text is: that of most of its stop words. What its user mostly writes weighs as
// much as two of them, since few decide about a short text.
func (r *reader) language(words []word) language {
	best, most := language(0), -1.0
	for i, n := range count(words) {
		if score := float64(n) + 2*r.share[i]; score > most {
			best, most = language(i), score
		}
	}
	return best
}

// stem gives what the forms of a word share, or "" for a word that says nothing: a stop word, a letter or a digit.
func (r *reader) stem(w word, l language) string {
	switch w.kind {
	case pair, symbol, reference:
		return w.form
	case number:
		if utf8.RuneCountInString(w.form) < 2 {
			return ""
		}
		return w.form
	case letters:
		if utf8.RuneCountInString(w.form) < 2 {
			return ""
		}
	}
	first := rune(w.form[0])
	if first >= utf8.RuneSelf {
		first, _ = utf8.DecodeRuneInString(w.form)
	}
	with, by := languages[l].stem, int(l)
	switch {
	case unicode.Is(unicode.Latin, first) || unicode.IsNumber(first):
		if w.stops&(1<<l) != 0 {
			return ""
		}
	case unicode.Is(unicode.Cyrillic, first):
		if with, by = russian.Stem, inRussian; w.stops&(1<<inRussian) != 0 {
			return ""
		}
	case lists().other[w.form]:
		return ""
	case unicode.Is(unicode.Arabic, first):
		with, by = arabic.Stem, inArabic
	case unicode.Is(unicode.Tamil, first):
		with, by = tamil.Stem, inTamil
	case unicode.Is(unicode.Hangul, first):
		return korean(w.form)
	default:
		return w.form
	}
	stem, known := r.stems[by][w.form]
	if !known {
		r.env.SetCurrent(w.form)
		with(r.env)
		if stem = r.env.Current(); stem == "" {
			stem = w.form
		}
		r.stems[by][w.form] = stem
	}
	return stem
}

// korean leaves out the particle at a noun's end, the commonest of them: Korean has no Snowball stemmer.
func korean(form string) string {
	last, size := utf8.DecodeLastRuneInString(form)
	if utf8.RuneCountInString(form) > 2 && strings.ContainsRune("은는이가을를에의로와과도만", last) {
		return form[:len(form)-size]
	}
	return form
}
