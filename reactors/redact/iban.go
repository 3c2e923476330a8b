package redact

import "strings"

// formats are the account numbers behind the country and the check digits, of SWIFT's registry: n digits, a letters,
// c either.
const formats = `AD 8n12c|AE 19n|AL 8n16c|AT 16n|AZ 4a20c|BA 16n|BE 12n|BG 4a6n8c|BH 4a14c|BI 23n|BR 23n1a1c|BY 4c4n16c|
CH 5n12c|CR 18n|CY 8n16c|CZ 20n|DE 18n|DJ 23n|DK 14n|DO 4c20n|EE 16n|EG 25n|ES 20n|FI 14n|FK 2a12n|FO 14n|FR 10n11c2n|
GB 4a14n|GE 2a16n|GI 4a15c|GL 14n|GR 7n16c|GT 4c20c|HN 4a20n|HR 17n|HU 24n|IE 4a14n|IL 19n|IQ 4a15n|IS 22n|IT 1a10n12c|
JO 4a4n18c|KW 4a22c|KZ 3n13c|LB 4n20c|LC 4a24c|LI 5n12c|LT 16n|LU 3n13c|LV 4a13c|LY 21n|MC 10n11c2n|MD 2c18c|ME 18n|
MK 3n10c2n|MN 16n|MR 23n|MT 4a5n18c|MU 4a19n3a|NI 4a20n|NL 4a10n|NO 11n|OM 3n16c|PK 4a16c|PL 24n|PS 4a21c|PT 21n|
QA 4a21c|RO 4a16c|RS 18n|RU 14n15c|SA 2n18c|SC 4a20n3a|SD 14n|SE 20n|SI 15n|SK 20n|SM 1a10n12c|SO 19n|ST 21n|SV 4a20n|
TL 19n|TN 20n|TR 6n16c|UA 6n19c|VA 18n|VG 4a16n|XK 16n|YE 4a4n18c`

// accounts are the formats written out, one sign a place, by the country's two letters.
var accounts = func() map[[2]rune]string {
	made := map[[2]rune]string{}
	for entry := range strings.SplitSeq(strings.ReplaceAll(formats, "\n", ""), "|") {
		country, parts, _ := strings.Cut(strings.ToLower(entry), " ")
		var b strings.Builder
		n := 0
		for _, c := range parts {
			if isDigit(c) {
				n = n*10 + int(c-'0')
				continue
			}
			b.WriteString(strings.Repeat(string(c), n))
			n = 0
		}
		made[[2]rune{rune(country[0]), rune(country[1])}] = b.String()
	}
	return made
}()

// someDigits is how many digits an account number has at least, where its format would do with none: prose has fewer.
const someDigits = 6

// findIBANs finds international bank account numbers with any spaces and dashes in them, also beside other letters and
// digits: country, form and checksum together are hardly met by chance.
func findIBANs(v *view, found []span) []span {
	for i := v.lo; i+3 < v.hi; i++ {
		if !isAlpha(v.s[i]) || !isAlpha(v.s[i+1]) {
			continue
		}
		form, ok := accounts[[2]rune{v.s[i], v.s[i+1]}]
		if !ok {
			continue
		}
		if hi := v.iban(i, form); hi > 0 {
			found = append(found, span{lo: i, hi: hi})
		}
	}
	return found
}

// iban says where the one at i ends; 0 if there is none. The remainder is reckoned in the order of the checksum: the
// account, the country, the check digits.
func (v *view) iban(i int, form string) int {
	p := i + 2
	var check [2]rune
	for n := range check {
		if p = v.past(p); !isDigit(v.at(p)) {
			return 0
		}
		check[n] = v.s[p]
		p++
	}
	mod, digits := 0, 0
	add := func(r rune) {
		if isDigit(r) {
			mod = (mod*10 + int(r-'0')) % 97
		} else {
			mod = (mod*100 + int(r-'a') + 10) % 97
		}
	}
	for _, c := range form {
		p = v.past(p)
		switch r := v.at(p); {
		case isDigit(r) && c != 'a':
			digits++
			add(r)
		case isAlpha(r) && c != 'n':
			add(r)
		default:
			return 0
		}
		p++
	}
	for _, r := range []rune{v.s[i], v.s[i+1], check[0], check[1]} {
		add(r)
	}
	if mod != 1 || digits < someDigits {
		return 0
	}
	return p
}

// past goes over what may stand between the parts of a number.
func (v *view) past(p int) int {
	for n := 0; n < widest; n++ {
		switch v.at(p) {
		case ' ', '-', '.', '\n', '_':
			p++
		default:
			return p
		}
	}
	return p
}
