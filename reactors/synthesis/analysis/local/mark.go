package local

import "strings"

// mark is a way of speaking that shows a pattern only along with others: somebody wants
// something, it is of a life's size, it is to be by next year.
type mark uint32

// score is the cues of a mark, and how much it says.
type score struct {
	mark   mark
	weight int
	cues   []*pattern
}

// scores is those of a type.
type scores []score

// of gives the marks of a sentence that are of the user: not what is said of another, or
// denied; but those that are free may be of anybody.
func (all scores) of(s *sentence, free mark) mark {
	var of mark
	for _, sign := range all {
		for _, c := range sign.cues {
			if m, ok := c.find(s); ok && (free&sign.mark != 0 || !s.ofOther(m.from) && !s.negated(m.from)) {
				of |= sign.mark
				break
			}
		}
	}
	return of
}

// weight gives the sum of what marks say.
func (all scores) weight(of mark) int {
	sum := 0
	for _, sign := range all {
		if of&sign.mark != 0 {
			sum += sign.weight
			of &^= sign.mark
		}
	}
	return sum
}

// ofOther says that the clause of a word is about somebody else: one is named before it,
// and the user is not.
func (s *sentence) ofOther(at int) bool {
	from := s.start(at)
	return (s.has(another, from, at) || s.has(persons, from, at)) && !s.has(selfSubject, from, at+1)
}

var selfSubject = wordSet("i we me us myself")

// personal says that the user is the subject of a sentence: named, or left out, as in
// "Passed the first test".
func personal(s *sentence) bool {
	w := s.words[0].text
	return s.anywhere(firstPerson) || telegram[w] || len(w) > 4 && strings.HasSuffix(w, "ed")
}

var telegram = wordSet(`wrote got did made went told sent met saw read ran swam sold put left sat built took spent gave bought kept won spoke said
		cut paid sang rode
	drew still another only today day week now`)

// persons is who may be the subject instead of the user.
var persons = wordSet(`mum mother dad father parents sister brother wife husband partner boyfriend girlfriend son daughter kid kids children child
	grandma grandmother grandpa grandfather aunt uncle cousin niece nephew friend friends boss colleague colleagues ex roommate flatmate
	neighbour neighbours neighbor neighbors teacher lady man woman guy girl boy intern trainee team company town council government
	minister president mayor author actor actress singer striker player hero heroine detective character novel film movie series book play
	study survey article paper headline news poster radio documentary app manual forecast label driver clerk nurse doctor vet landlord postman
	stranger passenger cat dog`)

// topics tells whether passages are about the same thing: by the stems of their words, or by
// a field of life.
type topics struct {
	about  []string
	fields []fieldSet
	stems  map[string]int // the first passage with it
}

func (t *topics) add(passage, about string) {
	if t.stems == nil {
		t.stems = map[string]int{}
	}
	for _, stem := range stemsOf(passage) {
		if _, ok := t.stems[stem]; !ok && !shared[stem] {
			t.stems[stem] = len(t.about)
		}
	}
	t.about = append(t.about, about)
	t.fields = append(t.fields, fieldsOf(passage))
}

// find gives the passage that is about the same as another one.
func (t *topics) find(passage string) (int, bool) {
	if i, ok := t.stem(passage); ok {
		return i, true
	}
	fields := fieldsOf(passage)
	for i, f := range t.fields {
		if f&fields != 0 {
			return i, true
		}
	}
	return 0, false
}

// stem is find by the stems of words only.
func (t *topics) stem(passage string) (int, bool) {
	for _, stem := range stemsOf(passage) {
		if i, ok := t.stems[stem]; ok {
			return i, true
		}
	}
	return 0, false
}

// shared is stems that texts share without being about the same.
var shared = wordSet(`goal aim target plan work tri start need mean use take put come keep look see find tell say ask give help new good great best
		better last next
	first second third nice old big small long short right left sure realli probabl littl morn even night tonight today tomorrow week month
	year hour minut hous home room door work job call word line place point part end final stop set turn run read write number show bring
	talk sit stand walk three four five six seven eight nine ten half hundr thousand life live person man woman peopl user done enough still yet
	els alreadi finish hope hold hand head open close pass leav`)
