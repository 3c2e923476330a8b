package redact

const (
	shortestCard = 13
	longestCard  = 19
)

// findCards finds payment card numbers of 13 to 19 digits: whole groups of digits with spaces, dashes or dots between
// them, or every digit by itself. Groups of one and two digits could be any numbers in a row: they are taken only
// when all of them together are the card.
func findCards(v *view, found []span) []span {
	for i := range v.groups {
		last := -1
		small := v.groups[i].len() < 3
		for j := i; j < len(v.groups); j++ {
			g := v.groups[j]
			if j > i && (g.joint == 0 || g.joint == '/' || g.joint == '(') {
				break
			}
			n := g.first + g.len() - v.groups[i].first
			if n > longestCard || small && g.len() != v.groups[i].len() {
				break
			}
			if n >= shortestCard && (!small || v.alone(i, j)) && isCard(v.of(i, j)) {
				last = j
			}
			if !small && g.len() < 3 { // only the last may be so short
				break
			}
		}
		if last >= 0 {
			found = append(found, span{lo: v.groups[i].lo, hi: v.groups[last].hi})
		}
	}
	return found
}

// alone says whether the groups i to j are not part of a longer row of such groups in a line.
func (v *view) alone(i, j int) bool {
	n := v.groups[i].len()
	joined := func(g group) bool { return g.joint != 0 && g.joint != '\n' }
	if i > 0 && joined(v.groups[i]) && v.groups[i-1].len() == n {
		return false
	}
	return j+1 == len(v.groups) || !joined(v.groups[j+1]) || v.groups[j+1].len() != n
}

// isCard says whether digits are a card of some issuer.
func isCard(d []byte) bool {
	return issued(d) && luhn(d)
}

// issued says whether an issuer's numbers begin so and are so long.
func issued(d []byte) bool {
	two, four := number(d[:2]), number(d[:4])
	switch d[0] {
	case '4', '5', '6': // Visa; Mastercard, Maestro, Elo, Verve, Dankort; Discover, UnionPay, RuPay, Maestro
		return true
	case '3':
		switch {
		case two == 34 || two == 37: // American Express
			return len(d) == 15
		case two == 30 || two == 36 || two == 38 || two == 39: // Diners Club
			return len(d) >= 14
		case 3528 <= four && four <= 3589: // JCB
			return len(d) >= 16
		}
	case '2':
		switch {
		case 2221 <= four && four <= 2720: // Mastercard
			return len(d) == 16
		case 2200 <= four && four <= 2204: // Mir
			return len(d) >= 16
		}
	case '8', '9': // UnionPay, Troy
		return len(d) >= 16 && (two == 81 || four == 9792)
	}
	return false
}

// luhn is the checksum of ISO/IEC 7812.
func luhn(d []byte) bool {
	sum := 0
	for i := range d {
		n := int(d[len(d)-1-i] - '0')
		if i%2 == 1 {
			if n *= 2; n > 9 {
				n -= 9
			}
		}
		sum += n
	}
	return sum%10 == 0
}

// number is what digits are worth; they are few.
func number(d []byte) int {
	n := 0
	for _, c := range d {
		n = n*10 + int(c-'0')
	}
	return n
}
