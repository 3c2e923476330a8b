package local

// What is told of coping over a text: something done, a bad feeling, and what became of
// it. All three say it for certain, two only beside another text about the same doing.

// errand is words of coping that mean something else.
var errand = cue(`took the (?:tram|bus|train|metro|tube|taxi|lift)|(?:ran|run|running) (?:out of|into|late|over|low)|(?:lay|lie) awake|before i (?:dive|jump|blow|go under)|talk(?:ed)? (?:to|with) the
		(?:bank|plumber|landlord|builder)|read the (?:manual|meter|instructions)`)

// coped gives the words of something that the user did which people do with feelings,
// and of what kind it is.
func coped(sentences []sentence) (do, strategy string) {
	for i := range sentences {
		s := &sentences[i]
		if aside(s) || errand.in(s) || s.anywhere(technical) || s.anywhere(kitchen) || s.anywhere(medicine) || s.anywhere(shopping) || s.anywhere(planned) {
			continue
		}
		good, bad := s.anywhere(adaptive), s.anywhere(maladaptive)
		if (good || bad) && !s.has(another, 0, 2) {
			return around(sentences, i), either(good && !s.anywhere(hard), "adaptive", "maladaptive")
		}
	}
	return "", ""
}

// hurt says that a sentence has a sign of a bad feeling.
func hurt(s sentence) bool {
	for _, e := range signs(&s) {
		if negative[e.family] {
			return true
		}
	}
	return false
}

// eased says that a sentence tells what became of a feeling.
func eased(s sentence) bool {
	if aside(&s) {
		return false
	}
	m, ok := first(effects, &s)
	if !ok {
		m, ok = first(relief, &s)
	}
	return ok && !s.denied(m.from) && (!s.has(another, s.start(m.from), m.from) || s.has(wordSetMe, m.from, m.to))
}
