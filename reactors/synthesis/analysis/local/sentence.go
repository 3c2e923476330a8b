package local

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/helixd/helixd/internal/parallel"
)

// Bounds of what is read: the rest of a text is ignored, a longer sentence is cut.
const (
	longestText     = 64 << 10
	longestSentence = 80
	longestWord     = 40
)

// word is one of a sentence, made even: lower case, straight apostrophes, contractions
// spelled out ("i am", "do not"). A comma, colon, dash or bracket is the word ",".
type word struct {
	text   string
	number int32 // of the lexicon; 0: no cue knows it
}

// sentence is one that the user wrote about their own life, as far as can be told: not
// what somebody else says in the conversation, not quoted, not code, not fiction.
type sentence struct {
	of       int // index of its Text
	words    []word
	question bool
	wakes    set // cues that it may have

	felt  []emotion // see emotions
	apart bool      // see aside
}

// text gives some of its words.
func (s *sentence) text(from, to int) string {
	var b strings.Builder
	for i := max(from, 0); i < min(to, len(s.words)); i++ {
		if i > from && s.words[i].text != "," {
			b.WriteByte(' ')
		}
		b.WriteString(s.words[i].text)
	}
	return b.String()
}

// document is what detectors look at.
type document struct {
	texts     []Text
	sentences []sentence // in the order of the texts
}

// read gives the sentences of texts. Those that are not English, or not about a person,
// have none.
func read(texts []Text) *document {
	ready()
	parts := make([]document, len(texts))
	parallel.Each(len(texts), func(i int) {
		parts[i].texts = texts
		parts[i].read(i)
	})
	n := 0
	for i := range parts {
		n += len(parts[i].sentences)
	}
	d := &document{texts: texts, sentences: make([]sentence, 0, n)}
	for i := range parts {
		d.sentences = append(d.sentences, parts[i].sentences...)
	}
	return d
}

func (d *document) read(i int) {
	text := d.texts[i].Text
	if len(text) > longestText {
		text = text[:longestText]
	}
	var n tally
	for _, part := range own(text) {
		d.split(i, part, &n)
	}
	if n.words >= 12 && n.english*100 < 12*n.words || n.words >= 150 && n.personal*125 < n.words {
		d.sentences = nil
		return
	}
	for k := range d.sentences {
		s := &d.sentences[k]
		if fiction.is(s) {
			d.sentences = d.sentences[:k]
			return
		}
		s.know()
	}
}

// tally is words of a text: all, those of English, and those of the first person.
// Without 12% of English, or in a long text less than 0.8% of the first person, it is
// not read: it is in another language, or a document about something else.
type tally struct{ words, english, personal int }

// split adds the sentences of a part of a text.
func (d *document) split(text int, part string, n *tally) {
	words := make([]word, 0, 16)
	finish := func(question bool) {
		if len(words) > 0 {
			d.add(text, words, question, n)
		}
		words = make([]word, 0, 16)
	}
	part = strings.ToLower(part)
	from := -1
	flush := func(to int) {
		if from >= 0 {
			words = spell(words, part[from:to])
			from = -1
		}
	}
	for at := 0; at < len(part); {
		r, size := utf8.DecodeRuneInString(part[at:])
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), apostrophe(r):
			if from < 0 {
				from = at
			}
		case r == '.' || r == '!' || r == '?' || r == ';' || r == '…' || r == '\n' || r == '。' || r == '？' || r == '！':
			flush(at)
			next, _ := utf8.DecodeRuneInString(part[at+size:])
			if r != '.' || !unicode.IsLetter(next) && !unicode.IsDigit(next) {
				finish(r == '?' || r == '？')
			}
		default:
			flush(at)
			if pause(r) || r == '-' && at > 0 && part[at-1] == ' ' {
				if n := len(words); n > 0 && words[n-1].text != "," {
					words = append(words, word{text: ","})
				}
			}
		}
		at += size
		if len(words) >= longestSentence {
			flush(at)
			finish(false)
		}
	}
	flush(len(part))
	finish(false)
}

func apostrophe(r rune) bool { return r == '\'' || r == '’' || r == '‘' || r == '´' || r == '`' }

func pause(r rune) bool {
	return r == ',' || r == ':' || r == '(' || r == ')' || r == '—' || r == '–' || r == '[' || r == ']'
}

// add adds a sentence, without a comma at its end.
func (d *document) add(text int, words []word, question bool, n *tally) {
	if words[len(words)-1].text == "," {
		if words = words[:len(words)-1]; len(words) == 0 {
			return
		}
	}
	wakes := make(set, known.cues>>6+1)
	copy(wakes, known.wakes[0])
	for i := range words {
		w := &words[i]
		w.number = known.number[w.text]
		for k, bits := range known.wakes[w.number] {
			wakes[k] |= bits
		}
		if w.text != "," {
			n.words++
			if function[w.text] {
				n.english++
			}
			if firstPerson[w.text] {
				n.personal++
			}
		}
	}
	d.sentences = append(d.sentences, sentence{of: text, words: words, question: question, wakes: wakes})
}

// function is words that English has in every text, and that few other languages have.
var function = wordSet(`the and of to i my is it that you for with have this be not are on at from they we his her by as
	he she do when what would about there if your which their all has will been had who more me but can how because get so
	just like them than then up out very was were am feel going really our us no did every it's`)

func wordSet(words string) map[string]bool {
	return table(func(of map[string]bool) {
		for _, w := range strings.Fields(words) {
			of[w] = true
		}
	})
}

// spellings is words that are written as one, or short.
var spellings = map[string]string{
	"cannot": "can not", "can't": "can not", "cant": "can not", "won't": "will not", "shan't": "shall not", "ain't": "is not",
	"im": "i am", "ive": "i have", "dont": "do not", "doesnt": "does not", "didnt": "did not", "isnt": "is not", "wasnt": "was not",
	"couldnt": "could not", "wouldnt": "would not", "havent": "have not", "arent": "are not", "i'd": "i would",
	"gonna": "going to", "wanna": "want to", "gotta": "got to", "kinda": "kind of", "sorta": "sort of", "gimme": "give me",
	"let's": "let us", "y'all": "you all", "cuz": "because", "'cause": "because", "cos": "because", "coz": "because",
	"everytime": "every time", "anytime": "any time", "mom": "mum", "mommy": "mum", "mummy": "mum", "dad's": "dad 's", "favour": "favor",
	"alot": "a lot", "theyll": "they will", "youll": "you will", "itll": "it will", "thats": "that is", "theres": "there is", "youre": "you are", "theyre": "they are", "u": "you", "ur": "your", "rn": "right now", "tbh": "", "idk": "i do not know", "bc": "because", "b4": "before",
}

// owners is words after which 's is "is".
var owners = wordSet("he she it that there what who here where how everything nothing something everyone everybody nobody")

// spell adds a word as it is written, or the words that it stands for.
func spell(words []word, w string) []word {
	if !plain(w) {
		w = strings.Map(func(r rune) rune {
			if apostrophe(r) {
				return '\''
			}
			return r
		}, strings.ToValidUTF8(w, ""))
	}
	if w = strings.Trim(w, "'"); w == "" {
		return words
	}
	if len(w) > longestWord {
		return append(words, word{text: "_"})
	}
	if long, ok := spellings[w]; ok {
		for _, part := range strings.Fields(long) {
			words = append(words, word{text: part})
		}
		return words
	}
	if at := strings.LastIndexByte(w, '\''); at > 0 {
		stem, tail := w[:at], ""
		switch w[at:] {
		case "'t":
			if strings.HasSuffix(stem, "n") {
				stem, tail = stem[:len(stem)-1], "not"
			}
		case "'m":
			tail = "am"
		case "'re":
			tail = "are"
		case "'ve":
			tail = "have"
		case "'ll":
			tail = "will"
		case "'d":
			tail = "would"
		case "'s":
			if owners[stem] {
				tail = "is"
			}
		}
		if tail != "" && stem != "" {
			return append(words, word{text: stem}, word{text: tail})
		}
	}
	return append(words, word{text: w})
}

func plain(w string) bool {
	for i := range len(w) {
		if w[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
