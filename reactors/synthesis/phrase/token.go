package phrase

// Token is a word that says something.
type Token struct {
	Text string // as it is shown: what was written, in NFKC
	Stem string // what its forms share, in lower case
}

// Tokens gives the words of a text in their order, without stop words, at most 4,096 of its first 32 KiB: words by the
// Unicode Standard's annex 29, folded by NFKC and lower-cased, with stems by Snowball in the language that most of the
// text's stop words are of; pairs of characters in scripts without spaces; each emoji by itself, whatever its skin tone;
// numbers of two digits and more; the host of a link; e-mail addresses and @mentions whole.
func Tokens(text string) []Token {
	a := analyse([]string{text})[0]
	tokens := make([]Token, len(a.terms))
	for i, t := range a.terms {
		tokens[i] = Token{Text: a.text[t.from:t.to], Stem: t.stem}
	}
	return tokens
}

// term is a token in its place.
type term struct {
	from, to int // bytes of the clean text
	at       int // its number among all words, stop words too
	clause   int
	kind     kind
	stem     string
}

// analysis is a text that has been read.
type analysis struct {
	text  string // clean
	terms []term
}

// analyse reads the texts of one corpus.
func analyse(texts []string) []analysis {
	read := make([]analysis, len(texts))
	corpus := make([][]word, len(texts))
	for i, text := range texts {
		read[i].text = clean(text)
		corpus[i] = split(read[i].text)
	}
	r := newReader(corpus...)
	for i, words := range corpus {
		l := r.language(words)
		terms := make([]term, 0, len(words))
		for at, w := range words {
			if stem := r.stem(w, l); stem != "" {
				terms = append(terms, term{w.from, w.to, at, w.clause, w.kind, stem})
			}
		}
		read[i].terms = terms
		corpus[i] = nil
	}
	return read
}
