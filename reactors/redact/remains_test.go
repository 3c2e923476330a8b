package redact_test

import (
	"math/big"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// These detectors are written for the tests alone, from the standards and not from the package. They know the usual
// forms in ASCII.

var (
	emailForm = regexp.MustCompile(`[A-Za-z0-9а-я][A-Za-z0-9а-я._%+-]*@(?:[A-Za-z0-9а-я-]+\.)+[A-Za-zа-я]{2,}`)
	runForm   = regexp.MustCompile(`\d+(?:[ -]\d+)*`)
	ibanForm  = regexp.MustCompile(`[A-Za-z]{2}\d{2}`)
	ssnForm   = regexp.MustCompile(`\b(\d{3})-(\d{2})-(\d{4})\b`)
	cpfForm   = regexp.MustCompile(`\b\d{3}\.\d{3}\.\d{3}-\d{2}\b`)
	dniForm   = regexp.MustCompile(`\b(\d{8})-?([A-Za-z])\b`)
	ninoForm  = regexp.MustCompile(`(?i)\b[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]\b`)
	plusForm  = regexp.MustCompile(`\+[1-9]\d{8,14}\b`)
	nanpForm  = regexp.MustCompile(`(?:^|[^\d.,:/-])\(?[2-9]\d{2}\)?[-. ][2-9]\d{2}[-. ]\d{4}\b`)
	tokenForm = regexp.MustCompile(`[0-9A-Fa-f:.]+`)
	taken     = regexp.MustCompile(`\[(?:NAME|EMAIL|PHONE|CARD|IBAN|ID|IP|TEXT)_[A-Z]+(?:_[A-Z]+)?\]`)
)

var ibanForms = map[string]*regexp.Regexp{
	"DE": regexp.MustCompile(`^DE\d{20}`), "GB": regexp.MustCompile(`^GB\d{2}[A-Z]{4}\d{14}`), "NL": regexp.MustCompile(`^NL\d{2}[A-Z]{4}\d{10}`),
	"FR": regexp.MustCompile(`^FR\d{12}[A-Z0-9]{11}\d{2}`), "ES": regexp.MustCompile(`^ES\d{22}`), "BE": regexp.MustCompile(`^BE\d{14}`),
}

// remains gives what of personal data a text has, where what is not seen joins what
// is beside it and, where a space may be meant, where it parts it.
func remains(text string, names []string) []string {
	all := remainsOf(text, names)
	if spaced := strings.NewReplacer("\u200b", " ", "\u2060", " ", "\ufeff", " ").Replace(text); spaced != text {
		all = append(all, remainsOf(spaced, names)...)
	}
	return all
}

func remainsOf(text string, names []string) (all []string) {
	text = strings.Map(func(r rune) rune {
		switch {
		case r >= utf8.RuneSelf && unicode.IsDigit(r):
			return '7' // any: it makes a number longer
		case unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, text)
	all = append(all, emailForm.FindAllString(text, -1)...)
	all = append(all, cards(text)...)
	all = append(all, ibans(text)...)
	all = append(all, ids(text)...)
	for _, p := range plusForm.FindAllString(text, -1) {
		if !strings.HasSuffix(p, "000000") {
			all = append(all, p)
		}
	}
	all = append(all, nanpForm.FindAllString(text, -1)...)
	all = append(all, addresses(text)...)
	return append(all, named(text, names)...)
}

func luhnTest(digits string) bool {
	sum, double := 0, false
	for i := len(digits) - 1; i >= 0; i-- {
		n := int(digits[i] - '0')
		if double {
			n = n*2/10 + n*2%10
		}
		sum, double = sum+n, !double
	}
	return sum%10 == 0
}

var issuers = regexp.MustCompile(`^(?:4\d{12}|4\d{15}|4\d{18}|5[1-5]\d{14}|3[47]\d{13}|6011\d{12}|3[068]\d{12}|35[3-8]\d{13})$`)

func cards(text string) (all []string) {
	for _, run := range runForm.FindAllString(text, -1) {
		groups := strings.FieldsFunc(run, func(r rune) bool { return r == ' ' || r == '-' })
		for i := range groups {
			for _, lengths := range [][]int{{0}, {4, 4, 4, 4}, {4, 6, 5}} {
				number := ""
				for k, n := range lengths {
					if i+k < len(groups) && (n == 0 || len(groups[i+k]) == n) {
						number += groups[i+k]
					}
				}
				if issuers.MatchString(number) && luhnTest(number) {
					all = append(all, number)
				}
			}
		}
	}
	return all
}

func ibans(text string) (all []string) {
	for _, at := range ibanForm.FindAllStringIndex(text, -1) {
		tail := strings.ToUpper(text[at[0]:min(len(text), at[0]+60)])
		form := ibanForms[tail[:2]]
		if form == nil {
			continue
		}
		iban := form.FindString(strings.NewReplacer(" ", "", "-", "").Replace(tail))
		if iban == "" {
			continue
		}
		var number strings.Builder
		for _, r := range iban[4:] + iban[:4] {
			n, _ := strconv.ParseInt(string(r), 36, 64)
			number.WriteString(strconv.FormatInt(n, 10))
		}
		n, _ := new(big.Int).SetString(number.String(), 10)
		if n.Mod(n, big.NewInt(97)).Int64() == 1 {
			all = append(all, iban)
		}
	}
	return all
}

func ids(text string) (all []string) {
	text = strings.Map(func(r rune) rune { // what is not ASCII ends no word here
		switch {
		case unicode.IsMark(r) || unicode.Is(unicode.Cf, r):
			return -1
		case r >= utf8.RuneSelf && unicode.IsLetter(r):
			return 'x'
		}
		return r
	}, norm.NFKD.String(text))
	for _, m := range ssnForm.FindAllStringSubmatch(text, -1) {
		if m[1] != "000" && m[1] != "666" && m[1] < "900" && m[2] != "00" && m[3] != "0000" {
			all = append(all, m[0])
		}
	}
	for _, m := range cpfForm.FindAllString(text, -1) {
		d := strings.NewReplacer(".", "", "-", "").Replace(m)
		check := func(n int) byte {
			sum := 0
			for i := range n {
				sum += int(d[i]-'0') * (n + 1 - i)
			}
			return byte('0' + sum*10%11%10)
		}
		if strings.Count(d, d[:1]) < 11 && check(9) == d[9] && check(10) == d[10] {
			all = append(all, m)
		}
	}
	for _, m := range dniForm.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[1])
		if "TRWAGMYFPDXBNJZSQVHLCKE"[n%23] == strings.ToUpper(m[2])[0] {
			all = append(all, m[0])
		}
	}
	for _, m := range ninoForm.FindAllString(text, -1) {
		if p := strings.ToUpper(m[:2]); !strings.Contains("BG GB KN NK NT TN ZZ", p) {
			all = append(all, m)
		}
	}
	return all
}

func addresses(text string) (all []string) {
	for _, at := range tokenForm.FindAllStringIndex(text, -1) {
		before, _ := utf8.DecodeLastRuneInString(text[:at[0]])
		after, _ := utf8.DecodeRuneInString(text[at[1]:])
		if near := string([]rune{before, after}); strings.ContainsFunc(near, func(r rune) bool {
			return r == '_' || r >= 0x80 && r != utf8.RuneError || unicode.IsLetter(r)
		}) {
			continue
		}
		token := strings.Trim(text[at[0]:at[1]], ".")
		if a, err := netip.ParseAddr(token); err == nil && !a.IsUnspecified() && strings.ContainsAny(token, "0123456789") {
			all = append(all, token)
		}
	}
	return all
}

// named finds names in compatibility form, as runs of letters, or several of them with a space between.
func named(text string, names []string) (all []string) {
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(text))
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
	for _, name := range names {
		name = norm.NFKD.String(name)
		for _, w := range words {
			if utf8.RuneCountInString(w) > 1 && strings.EqualFold(w, name) {
				all = append(all, w)
			}
		}
		if words := strings.Fields(name); len(words) > 1 && strings.Contains(strings.ToLower(text), strings.ToLower(words[0])) && regexp.MustCompile(`(?i)(?:^|[^\p{L}\p{M}])`+regexp.QuoteMeta(name)+`(?:$|[^\p{L}\p{M}])`).MatchString(text) {
			all = append(all, name)
		}
	}
	return all
}
