package redact

import "slices"

const (
	longestLocal  = 64
	longestDomain = 253
)

// findEmails finds addresses: what stands before an @, or the %40 of links, in quotes too, and a domain of at least two
// parts, or an IP address in brackets. More than 64 characters before the @ are no address any more: the last 64 are taken.
func findEmails(v *view, found []span) []span {
	for i := v.lo; i < v.hi; i++ {
		at := i // after the sign, where one is
		switch {
		case v.s[i] == '@':
			at = i + 1
		case v.s[i] == '%' && v.at(i+1) == '4' && v.at(i+2) == '0':
			at = i + 3
		}
		if at > i {
			lo := v.local(i)
			if hi := v.domain(at); lo < i && hi > 0 {
				found = append(found, span{lo: lo, hi: hi})
			}
		}
		if v.s[i] == 'a' && v.at(i+1) == 't' {
			found = v.spelled(i, found)
		}
	}
	return found
}

// inLocal says whether r may stand in the unquoted part before an @.
func inLocal(r rune) bool {
	switch r {
	case '.', '!', '#', '$', '%', '&', '\'', '*', '+', '/', '=', '?', '^', '_', '`', '{', '|', '}', '~', '-':
		return true
	}
	return isDigit(r) || isLetter(r)
}

// local says where the part before the @ at i begins; i if there is none.
func (v *view) local(i int) int {
	if v.at(i-1) == '"' {
		for lo := i - 2; lo >= 0 && i-lo <= longestLocal && v.s[lo] != barrier && v.s[lo] != '\n'; lo-- {
			if v.s[lo] == '"' {
				return lo
			}
		}
		return i
	}
	lo := i
	for lo > 0 && i-lo < longestLocal && inLocal(v.s[lo-1]) {
		lo--
	}
	for lo < i && !isDigit(v.s[lo]) && !isLetter(v.s[lo]) && v.s[lo] != '_' {
		lo++
	}
	return lo
}

func inDomain(r rune) bool {
	return isDigit(r) || isLetter(r) || r == '-' || r == '_'
}

// domain says where the domain at i ends; 0 if there is none.
func (v *view) domain(i int) int {
	if v.at(i) == '[' {
		for hi := i + 1; hi-i < longestIP6+len("[ipv6:]"); hi++ {
			switch r := v.at(hi); {
			case r == ']' && hi > i+2:
				return hi + 1
			case !isAlnum(r) && r != ':' && r != '.':
				return 0
			}
		}
		return 0
	}
	parts, letter := 0, false
	end := 0
	for p := i; p-i <= longestDomain; {
		from := p
		letter = false
		for p-i <= longestDomain && inDomain(v.at(p)) {
			letter = letter || isLetter(v.s[p])
			p++
		}
		if p == from {
			break
		}
		parts++
		if parts > 1 && letter {
			end = p
		}
		if v.at(p) != '.' {
			break
		}
		p++
	}
	for end > 0 && (v.s[end-1] == '-' || v.s[end-1] == '_') {
		end--
	}
	return end
}

// spoken are the domains that "dot" stands before in prose; those that are words are left out.
var spoken = []string{
	"com", "org", "net", "edu", "gov", "info", "io", "co", "eu", "de", "uk", "fr", "es", "nl", "ch", "se", "dk", "fi", "pl", "pt", "ru",
	"jp", "cn", "br", "au", "ca", "nz", "ie", "be", "cz", "gr", "app", "dev", "ai", "biz",
}

// spelled finds "jane at example dot com", where the "at" begins at i, and the same with brackets around "at" and "dot".
func (v *view) spelled(i int, found []span) []span {
	lo, hi, bracket := v.word(i, i+2)
	if lo == i && hi == i+2 {
		return found
	}
	from := lo
	for from > 0 && lo-from < longestLocal && inLocal(v.s[from-1]) {
		from--
	}
	if from == lo {
		return found
	}
	p, dots := hi, 0
	last, end := 0, 0 // of the last part
	for p-hi <= longestDomain {
		part := p
		for inDomain(v.at(p)) && p-hi <= longestDomain {
			p++
		}
		if p == part {
			break
		}
		if dots > 0 && slices.ContainsFunc(v.s[part:p], isLetter) {
			last, end = part, p
		}
		next, ok := v.dot(p, bracket)
		if !ok {
			break
		}
		dots++
		p = next
	}
	if end > 0 && !bracket { // the domain may be followed by a script that has no spaces
		for end = last; isAlnum(v.at(end)); {
			end++
		}
	}
	if end > 0 && (bracket || slices.Contains(spoken, string(v.s[last:end]))) {
		found = append(found, span{lo: from, hi: end})
	}
	return found
}

// dot goes over a "dot" that begins at p, or over the sign where the "at" was in brackets.
func (v *view) dot(p int, bracket bool) (int, bool) {
	if v.at(p) == '.' && bracket {
		return p + 1, true
	}
	d := p
	for d-p < widest && (v.at(d) == ' ' || opening(v.at(d))) {
		d++
	}
	if d == p || v.at(d) != 'd' || v.at(d+1) != 'o' || v.at(d+2) != 't' {
		return 0, false
	}
	_, hi, _ := v.word(d, d+3)
	return hi, hi > d+3
}

// word widens the word s[lo:hi] by the spaces and brackets around it; not at all unless they are on both sides.
func (v *view) word(lo, hi int) (from, to int, bracket bool) {
	from, to = lo, hi
	for lo-from < widest && (v.at(from-1) == ' ' || opening(v.at(from-1))) {
		from--
		bracket = bracket || v.s[from] != ' '
	}
	closed := false
	for to-hi < widest && (v.at(to) == ' ' || v.at(to) == ')' || v.at(to) == ']' || v.at(to) == '}' || v.at(to) == '>') {
		closed = closed || v.s[to] != ' '
		to++
	}
	if from == lo || to == hi || bracket != closed {
		return lo, hi, false
	}
	return from, to, bracket
}

func opening(r rune) bool {
	return r == '(' || r == '[' || r == '{' || r == '<'
}
