package redact

const (
	fewestDigits = 7  // of a telephone number
	mostDigits   = 15 // E.164
)

// phoneWords are what stands before a number that has no other sign of being one.
var phoneWords = []string{
	"phone", "telephone", "tel", "mobile", "cell", "cellphone", "landline", "call", "calls", "called", "calling", "fax", "whatsapp",
	"signal", "sms", "text", "texted", "dial", "dialled", "dialed", "ring", "rang", "voicemail", "hotline", "extension", "pager",
	"my number", "his number", "her number", "their number", "your number", "our number",
	"telefon", "telefonnummer", "handy", "handynummer", "rufnummer", "anrufen", "mobil", "telefono", "movil", "celular", "telefone",
	"telemovel", "cellulare", "portable", "telefoon", "mobiel", "telefonu", "puhelin", "тел", "моб", "电话", "手机", "電話", "携帯", "전화",
	"휴대폰", "फोन", "هاتف", "טלפון",
}

// findPhones finds telephone numbers: with + or 00 and a country code; with a trunk 0; in the forms of North America,
// Russia, China, India and Brazil; with an area code in brackets; and others of 7 to 15 digits after a word such as
// "phone". Dates are none. Whether a number is assigned does not matter: the list of those is long, is never up to
// date, and lets through what somebody mistyped.
func findPhones(v *view, found []span) []span {
	end := 0 // of the last one: what follows it at once continues nothing, once it is replaced
	for i := range v.groups {
		if v.date(i) {
			continue
		}
		if lo, last := v.phone(i, end); last >= 0 {
			end = v.groups[last].hi
			found = append(found, span{lo: lo, hi: end})
		}
	}
	return found
}

// phone says where the number begins that group i is the first of, and which group is its last; -1: none. The one before
// ends at end.
func (v *view) phone(i, end int) (lo, last int) {
	g := v.groups[i]
	lo = g.lo
	if v.at(lo-1) == '(' {
		lo--
	}
	for p := lo - 1; p >= lo-2; p-- {
		if v.at(p) == '+' {
			if v.at(p-1) == '(' {
				return p - 1, v.international(i, 0)
			}
			return p, v.international(i, 0)
		}
		if v.at(p) != ' ' {
			break
		}
	}
	d := v.digits[g.first:]
	if g.len() >= 3 && d[0] == '0' && d[1] == '0' && d[2] != '0' {
		if last = v.international(i, 2); last >= 0 {
			return lo, last
		}
	}
	if g.lo-1 == end || !v.within(i) {
		for _, form := range [...]func(int) int{v.shaped, v.trunk, v.bracketed} {
			if last = form(i); last >= 0 {
				return lo, last
			}
		}
	}
	if last = v.extend(i, fewestDigits, 13); last >= 0 && v.said(g.lo) {
		return lo, last
	}
	return lo, -1
}

// within says whether group i continues something else: a decimal, a time, a date or a longer number.
func (v *view) within(i int) bool {
	lo := v.groups[i].lo
	switch v.at(lo - 1) {
	case '.', '-', '/', ',', ':':
		return isDigit(v.at(lo - 2))
	}
	return false
}

// extend gives the last of the groups that make one number with group i, of which there are least to most digits; -1 if
// there are fewer. One group may be longer, up to what E.164 allows.
func (v *view) extend(i, least, most int) int {
	last, n := i, v.groups[i].len()
	if n > mostDigits+2 {
		return -1
	}
	for last+1 < len(v.groups) {
		g := v.groups[last+1]
		if g.joint == 0 || g.joint == '\n' || n+g.len() > most || v.at(g.lo-1) == '+' || v.date(last+1) && g.joint == ' ' {
			break
		}
		n += g.len()
		last++
	}
	if n < least {
		return -1
	}
	return last
}

// international is a number whose country code follows the first skip digits.
func (v *view) international(i, skip int) int {
	d := v.digits[v.groups[i].first+skip:]
	most := 13
	switch d[0] {
	case '0':
		return -1
	case '1', '7': // there it is always so long
		most = 11
	}
	most += skip
	if v.groups[i].len() >= 9+skip {
		most = max(most, v.groups[i].len()) // whole
	}
	last := v.extend(i, 8+skip, most)
	if last < 0 {
		return -1
	}
	of := v.of(i, last)
	zeros := 0
	for zeros < len(of) && of[len(of)-1-zeros] == '0' {
		zeros++
	}
	if zeros >= 6 || last == i && len(of) < 9+skip { // a count
		return -1
	}
	return last
}

// trunk is a number with a leading 0, as in most of Europe, Asia and Australia.
func (v *view) trunk(i int) int {
	d := v.digits[v.groups[i].first:]
	if n := v.groups[i].len(); n < 2 || n > 12 || d[0] != '0' || d[1] == '0' {
		return -1
	}
	last := v.extend(i, 9, 12)
	if last == i+1 && v.groups[last].joint == '.' && v.groups[i].len() < 3 {
		return -1 // a decimal
	}
	return last
}

// shaped is a number in a form that tells, with the first digits which it then has.
func (v *view) shaped(i int) int {
	for j := i + 1; j < len(v.groups) && j-i < 5; j++ {
		if g := v.groups[j]; g.joint == 0 || g.joint == '\n' || g.len() > 9 {
			break
		}
		d := v.of(i, j)
		switch v.shape(i, j) {
		case 334: // North America
			if d[0] >= '2' && d[3] >= '2' {
				return j
			}
		case 1334:
			if d[0] == '1' && d[1] >= '2' && d[4] >= '2' {
				return j
			}
		case 13322: // Russia
			if d[0] == '8' || d[0] == '7' {
				return j
			}
		case 344: // China
			if d[0] == '1' && d[1] >= '3' {
				return j
			}
		case 55: // India
			if d[0] >= '6' && v.groups[j].joint != '.' {
				return j
			}
		case 254, 244: // Brazil
			if d[0] != '0' && v.groups[j].joint == '-' {
				return j
			}
		}
	}
	return -1
}

// shape is the lengths of the groups i to j, a decimal digit each.
func (v *view) shape(i, j int) int {
	n := 0
	for _, g := range v.groups[i : j+1] {
		n = n*10 + g.len()
	}
	return n
}

// bracketed is a number with its area code in brackets, unless that is a year.
func (v *view) bracketed(i int) int {
	g := v.groups[i]
	if g.len() < 2 || g.len() > 5 || v.at(g.lo-1) != '(' || v.at(g.hi) != ')' || year(v.of(i, i)) {
		return -1
	}
	return v.extend(i, 8, 12)
}

func year(d []byte) bool {
	n := number(d)
	return len(d) == 4 && 1900 <= n && n < 2100
}

// date says whether a date begins with group i: a day, a month and a year in some order, with the same sign between
// them and not after them.
func (v *view) date(i int) bool {
	if i+2 >= len(v.groups) {
		return false
	}
	a, b, c := v.groups[i], v.groups[i+1], v.groups[i+2]
	if b.joint == 0 || b.joint != c.joint || b.joint == '(' || b.joint == '\n' {
		return false
	}
	if i+3 < len(v.groups) && v.groups[i+3].joint == b.joint && b.joint != ' ' {
		return false
	}
	first, middle, last := v.of(i, i), v.of(i+1, i+1), v.of(i+2, i+2)
	switch {
	case year(first):
		return b.len() <= 2 && c.len() <= 2 && day(number(middle), number(last))
	case a.len() <= 2 && b.len() <= 2 && (year(last) || c.len() == 2 && b.joint != ' '):
		return day(number(middle), number(first)) || day(number(first), number(middle))
	}
	return false
}

// said says whether a word before lo says that a number follows.
func (v *view) said(lo int) bool {
	from := lo
	letter := false
	for from > 0 && lo-from < before && v.s[from-1] != barrier {
		from--
		letter = letter || isLetter(v.s[from])
	}
	return letter && contains(string(v.s[from:lo]), phoneWords)
}
