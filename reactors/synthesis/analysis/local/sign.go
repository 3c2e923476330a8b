package local

// signs gives what a sentence may tell of the user's feelings: those told for certain,
// or else the first word for one that stands where it may well be meant so. Such a
// weaker sign counts only beside others.
func signs(s *sentence) []emotion {
	if len(s.felt) > 0 || s.apart {
		return s.felt
	}
	if e, ok := sign(s); ok {
		return []emotion{e}
	}
	return nil
}

// longestFragment is how many words a sentence has that may do without "I".
const longestFragment = 8

// sign gives a word for a feeling, in a sentence about the user or in a fragment of one.
func sign(s *sentence) (emotion, bool) {
	if len(s.words) > longestFragment && !s.anywhere(firstPerson) {
		return emotion{}, false
	}
	if s.anywhere(technical) || s.anywhere(kitchen) {
		return emotion{}, false
	}
	for i := range s.words {
		f, ok := felt.any[s.words[i].text]
		if !ok || f.level < 2 || uncertain[s.words[i].text] || feelOnly[s.words[i].text] || bodily[s.words[i].text] {
			continue
		}
		if i+1 < len(s.words) && panics[s.words[i+1].text] || s.denied(i) || s.has(mild, i-3, i) {
			continue
		}
		if s.has(another, s.start(i), i) && !s.has(firstPerson, max(s.start(i), i-5), i+1) {
			continue
		}
		return emotion{feeling: f, words: s.words[i].text, from: i, to: i + 1}, true
	}
	return emotion{}, false
}
