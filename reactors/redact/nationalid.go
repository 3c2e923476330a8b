package redact

import "strings"

// rule is one country's number that has digits only.
type rule struct {
	shapes string // the groups that it is written in, such as "3.2.4 9"; one group stands by itself, not in a word
	valid  func(d []byte) bool
	words  []string // one of them has to be near, if there are any
	bare   bool     // words are asked for only where it is one group
}

// The words beside a number are written as a shadow has them: without accents, in small letters.
var (
	taxWords    = []string{"tax", "tin", "steuer", "steuernummer", "steuer-id", "idnr", "nif", "contribuinte", "fiscal", "tfn", "ird"}
	socialWords = []string{
		"ssn", "social security", "sin", "social insurance", "sozialversicherung", "sozialversicherungsnummer", "svnr",
		"versicherungsnummer", "bsn", "burgerservicenummer", "sofinummer", "sofi",
	}
	identityWords = []string{
		"national id", "identity number", "id number", "id no", "personal number", "identification number", "aadhaar",
		"aadhar", "uidai", "cpr", "teudat zehut", "my number", "mynumber", "oib", "cpf", "dni", "nhs", "curp", "egn",
		"personnummer", "rodne cislo", "cnp", "pesel", "ת.ז", "תעודת זהות", "マイナンハー", "マイナンバー", "個人番号", "आधार", "инн", "рнокпп",
	}
	anyWords = append(append(append([]string{}, taxWords...), socialWords...), identityWords...)
)

// rules are those numbers. A checksum that a tenth of all numbers pass is weak: there a word is asked for, or a form
// that nothing else has.
var rules = []rule{
	{shapes: "3.2.4 9", valid: isSSN, words: anyWords, bare: true},                                         // US, ITIN too
	{shapes: "11 2.3.3.3", valid: isSteuerID},                                                              // DE
	{shapes: "15 1.2.2.2.3.3.2 13.2 1.2.2.2.3.3", valid: isNIR},                                            // FR
	{shapes: "9 3.3.3 4.2.3", valid: isBSN, words: anyWords},                                               // NL
	{shapes: "9 3.3.3", valid: luhn, words: anyWords},                                                      // CA, IL
	{shapes: "9 3.3.3", valid: isTFN, words: anyWords},                                                     // AU
	{shapes: "9 3.3.3", valid: isNIF, words: anyWords},                                                     // PT
	{shapes: "11 6.5", valid: isPESEL},                                                                     // PL
	{shapes: "10 6.4 12 8.4", valid: isPersonnummer},                                                       // SE
	{shapes: "6.4 10", valid: isCPR, words: anyWords, bare: true},                                          // DK
	{shapes: "11 6.5", valid: isFodselsnummer},                                                             // NO
	{shapes: "11 3.3.3.2 9.2", valid: isCPF},                                                               // BR
	{shapes: "12 4.4.4", valid: isAadhaar, words: anyWords, bare: true},                                    // IN
	{shapes: "11 6.3.2 2.2.2.3.2", valid: isRijksregister},                                                 // BE
	{shapes: "13 3.4.4.2", valid: isAHV},                                                                   // CH
	{shapes: "10 4.6", valid: isSVNR, words: anyWords},                                                     // AT
	{shapes: "10 3.3.4", valid: isNHS, words: anyWords},                                                    // UK
	{shapes: "18 6.8.4", valid: func(d []byte) bool { return isRIC(d, false) }},                            // CN
	{shapes: "6.7 13", valid: isRRN, words: anyWords, bare: true},                                          // KR
	{shapes: "12 4.4.4", valid: isMyNumber, words: anyWords},                                               // JP
	{shapes: "13 6.4.3 6.4.2.1", valid: isSouthAfrican},                                                    // ZA
	{shapes: "13", valid: isCNP},                                                                           // RO
	{shapes: "10", valid: isEGN},                                                                           // BG
	{shapes: "6.4 6.3 10", valid: isRodneCislo},                                                            // CZ, SK
	{shapes: "11", valid: isAMKA},                                                                          // GR
	{shapes: "11", valid: isTCKimlik},                                                                      // TR
	{shapes: "11", valid: isIsikukood},                                                                     // EE, LT
	{shapes: "11", valid: isOIB, words: anyWords},                                                          // HR
	{shapes: "10 12", valid: func([]byte) bool { return true }, words: []string{"инн", "рнокпп"}},          // RU, UA
	{shapes: "8.1 2.3.3.1 1.3.3.1 7.1", valid: func(d []byte) bool { return isRUT(d, rune(d[len(d)-1])) }}, // CL
}

const mostGroups = 7

// byShape are the rules by the lengths of their groups, five bits each.
var byShape = func() map[uint64][]rule {
	made := map[uint64][]rule{}
	for _, r := range rules {
		for shape := range strings.SplitSeq(r.shapes, " ") {
			key := uint64(0)
			for part := range strings.SplitSeq(shape, ".") {
				n := number([]byte(part))
				key = key<<5 | uint64(n)
			}
			made[key] = append(made[key], r)
		}
	}
	return made
}()

// findIDs finds the national numbers of rules, and those with letters of patterns.
func findIDs(v *view, found []span) []span {
	for i := range v.groups {
		key := uint64(0)
		for j := i; j < len(v.groups) && j-i < mostGroups; j++ {
			g := v.groups[j]
			if g.len() > 18 || j > i && (g.joint == 0 || g.joint == '\n' || g.joint == '(') {
				break
			}
			key = key<<5 | uint64(g.len())
			for _, r := range byShape[key] {
				if v.follows(r, i, j) {
					found = append(found, span{lo: v.groups[i].lo, hi: g.hi})
					break
				}
			}
		}
	}
	return v.lettered(found)
}

func (v *view) follows(r rule, i, j int) bool {
	lo, hi := v.groups[i].lo, v.groups[j].hi
	if i == j && (isAlpha(v.at(lo-1)) || isAlpha(v.at(hi))) {
		return false
	}
	if !r.valid(v.of(i, j)) {
		return false
	}
	return len(r.words) == 0 || r.bare && i != j || v.near(lo, hi, r.words)
}

// pattern is one country's number that has letters: A stands for one, 9 for a digit, * for either.
type pattern struct {
	form  string
	valid func(id []rune) bool
}

var patterns = []pattern{
	{"AA999999A", isNINO},           // UK
	{"99999999A", isDNI},            // ES
	{"99999999A", isRUTK},           // CL
	{"9999999A", isRUTK},            // CL
	{"A9999999A", isNIE},            // ES
	{"AAAAAA**A**A***A", isCodice},  // IT
	{"AAAAA9999A", isPAN},           // IN
	{"AAAA999999AAAAAA*9", isCURP},  // MX
	{"9999999A", isPPS},             // IE
	{"9999999AA", isPPS},            // IE
	{"99999999999999999A", isRICX},  // CN
	{"999999A99999999", isCorsican}, // FR
	{"999999A999*", isHETU},         // FI, written with a letter between
	{"999999999*", isHETUDash},      // FI, written with a sign between
}

const (
	longestPattern = 18
	firstDigit     = 7 // where the first one is at the latest
)

// lettered finds patterns, with at most one sign between their characters, that are not part of a longer word.
func (v *view) lettered(found []span) []span {
	var id [longestPattern]rune
	var ends [longestPattern]int
	for i := v.lo; i < v.hi; i++ {
		if !isAlnum(v.s[i]) || isAlnum(v.at(i-1)) {
			continue
		}
		n, digits := 0, 0
		for p := i; n < len(id); n++ {
			if r := v.at(p); n > 0 && (r == ' ' || r == '-' || r == '.' || r == '/' || r == '+' && n == 6) {
				p++
			}
			r := v.at(p)
			if !isAlnum(r) {
				break
			}
			if isDigit(r) {
				digits++
			}
			if n == firstDigit && digits == 0 {
				break
			}
			p++
			id[n], ends[n] = r, p
		}
		if digits == 0 {
			continue
		}
		for _, p := range patterns {
			k := len(p.form)
			if k <= n && fits(p.form, id[:k]) && !isAlnum(v.at(ends[k-1])) && p.valid(id[:k]) {
				found = append(found, span{lo: i, hi: ends[k-1]})
			}
		}
	}
	return found
}

func fits(form string, id []rune) bool {
	for i, r := range id {
		switch form[i] {
		case 'A':
			if !isAlpha(r) {
				return false
			}
		case '9':
			if !isDigit(r) {
				return false
			}
		}
	}
	return true
}
