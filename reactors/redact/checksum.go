package redact

// Checks of numbers that have digits only. Each gets as many digits as its shapes have.

// weighted is the sum of the digits times their weights.
func weighted(d []byte, weights ...int) int {
	sum := 0
	for i, w := range weights {
		sum += int(d[i]-'0') * w
	}
	return sum
}

// mod is the remainder of a number of any length.
func mod(d []byte, by int) int {
	rest := 0
	for _, c := range d {
		rest = (rest*10 + int(c-'0')) % by
	}
	return rest
}

// day says whether there is such a day in some year.
func day(month, day int) bool {
	return 1 <= month && month <= 12 && 1 <= day && day <= [...]int{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]
}

// isSSN leaves out what the administration never gives; 9xx are the taxpayer numbers of those who have none.
func isSSN(d []byte) bool {
	area, group := number(d[:3]), number(d[3:5])
	switch {
	case area == 0 || area == 666 || group == 0 || number(d[5:]) == 0:
		return false
	case area >= 900:
		return 50 <= group && group <= 65 || 70 <= group && group <= 88 || 90 <= group && group <= 92 || group >= 94
	}
	return true
}

// iso7064 is MOD 11,10.
func iso7064(d []byte) bool {
	p := 10
	for _, c := range d[:len(d)-1] {
		if p = (p + int(c-'0')) % 10; p == 0 {
			p = 10
		}
		p = p * 2 % 11
	}
	return (11-p)%10 == int(d[len(d)-1]-'0')
}

// isSteuerID: of the first ten digits one or two are missing, and one is there two or three times.
func isSteuerID(d []byte) bool {
	var times [10]int
	missing := 0
	for _, c := range d[:10] {
		times[c-'0']++
	}
	for _, n := range times {
		if n == 0 {
			missing++
		}
		if n > 3 {
			return false
		}
	}
	return d[0] != '0' && (missing == 1 || missing == 2) && iso7064(d)
}

func isOIB(d []byte) bool { return iso7064(d) }

// isNIR is a French number, with its key or without, where the form has to do.
func isNIR(d []byte) bool {
	month := number(d[3:5])
	if d[0] != '1' && d[0] != '2' && d[0] != '3' && d[0] != '4' && d[0] != '7' && d[0] != '8' ||
		!(1 <= month && month <= 12 || 20 <= month && month <= 42 || month >= 50) {
		return false
	}
	return len(d) == 13 || 97-mod(d[:13], 97) == number(d[13:])
}

func isBSN(d []byte) bool {
	return number(d) > 0 && (weighted(d, 9, 8, 7, 6, 5, 4, 3, 2)-int(d[8]-'0'))%11 == 0
}

func isTFN(d []byte) bool {
	return weighted(d, 1, 4, 3, 7, 5, 8, 6, 9, 10)%11 == 0
}

func isNIF(d []byte) bool {
	return d[0] != '0' && (11-weighted(d, 9, 8, 7, 6, 5, 4, 3, 2)%11)%11%10 == int(d[8]-'0')
}

func isPESEL(d []byte) bool {
	month := number(d[2:4])
	return month <= 92 && day(month%20, number(d[4:6])) && weighted(d, 1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)%10 == 0
}

// isPersonnummer also takes coordination numbers, whose day is 60 more.
func isPersonnummer(d []byte) bool {
	if len(d) == 12 {
		if century := number(d[:2]); century < 18 || century > 20 {
			return false
		}
		d = d[2:]
	}
	return day(number(d[2:4]), number(d[4:6])%60) && luhn(d)
}

// isCPR is only a date: the checksum has not been kept to since 2007.
func isCPR(d []byte) bool {
	return day(number(d[2:4]), number(d[:2]))
}

// isFodselsnummer also takes D-numbers, whose day is 40 more, and H-numbers, whose month is.
func isFodselsnummer(d []byte) bool {
	return day(number(d[2:4])%40, number(d[:2])%40) &&
		weighted(d, 3, 7, 6, 1, 8, 9, 4, 5, 2, 1)%11 == 0 && weighted(d, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1)%11 == 0
}

func isCPF(d []byte) bool {
	first := weighted(d, 10, 9, 8, 7, 6, 5, 4, 3, 2) * 10 % 11 % 10
	second := weighted(d, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2) * 10 % 11 % 10
	return !same(d) && first == int(d[9]-'0') && second == int(d[10]-'0')
}

func same(d []byte) bool {
	for _, c := range d {
		if c != d[0] {
			return false
		}
	}
	return true
}

// isAadhaar is Verhoeff's checksum, in the dihedral group of order ten.
func isAadhaar(d []byte) bool {
	if d[0] < '2' {
		return false
	}
	permutation := [10]int{1, 5, 7, 6, 2, 8, 3, 0, 9, 4}
	c := 0
	for i := range d {
		n := int(d[len(d)-1-i] - '0')
		for range i % 8 {
			n = permutation[n]
		}
		c = dihedral(c, n)
	}
	return c == 0
}

func dihedral(a, b int) int {
	switch {
	case a < 5 && b < 5:
		return (a + b) % 5
	case a < 5:
		return (a+b-5)%5 + 5
	case b < 5:
		return (a-5-b+5)%5 + 5
	}
	return (a - b + 5) % 5
}

func isRijksregister(d []byte) bool {
	month, key := number(d[2:4])%20, number(d[9:])
	return (month == 0 || day(month, max(1, number(d[4:6])))) && number(d[:9]) > 0 &&
		(97-mod(d[:9], 97) == key || 97-mod(append([]byte{'2'}, d[:9]...), 97) == key)
}

// isAHV is an EAN-13 of Switzerland's.
func isAHV(d []byte) bool {
	return number(d[:3]) == 756 && weighted(d, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1)%10 == 0
}

func isSVNR(d []byte) bool {
	return weighted(d, 3, 7, 9, 0, 5, 8, 4, 2, 1, 6)%11 == int(d[3]-'0') && number(d[6:8]) <= 15
}

func isNHS(d []byte) bool {
	return (11-weighted(d, 10, 9, 8, 7, 6, 5, 4, 3, 2)%11)%11 == int(d[9]-'0')
}

// isRIC is a Chinese number; the last sign may be an X, for ten.
func isRIC(d []byte, x bool) bool {
	sum := weighted(d, 7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
	last := 10
	if !x {
		last = int(d[17] - '0')
	}
	year := number(d[6:10])
	return 1800 <= year && year < 2200 && day(number(d[10:12]), number(d[12:14])) && (sum+last)%11 == 1
}

// isRRN is a date and a century: numbers since 2020 have no checksum.
func isRRN(d []byte) bool {
	return day(number(d[2:4]), number(d[4:6]))
}

func isMyNumber(d []byte) bool {
	rest := weighted(d, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2) % 11
	if rest <= 1 {
		return d[11] == '0'
	}
	return 11-rest == int(d[11]-'0')
}

func isSouthAfrican(d []byte) bool {
	return day(number(d[2:4]), number(d[4:6])) && d[10] <= '2' && luhn(d)
}

func isCNP(d []byte) bool {
	check := weighted(d, 2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9) % 11
	if check == 10 {
		check = 1
	}
	return d[0] != '0' && day(number(d[3:5]), number(d[5:7])) && check == int(d[12]-'0')
}

// isEGN: the month is 20 more for those born before 1900, 40 more from 2000 on.
func isEGN(d []byte) bool {
	month := number(d[2:4])
	return month <= 52 && day(month%20, number(d[4:6])) && weighted(d, 2, 4, 8, 5, 10, 9, 7, 3, 6)%11%10 == int(d[9]-'0')
}

// isRodneCislo: the month is 50 more for women, and 20 more where a day's numbers did not do. Those of before 1954
// have nine digits and no checksum.
func isRodneCislo(d []byte) bool {
	month := number(d[2:4])
	if !day(month%50%20, number(d[4:6])) {
		return false
	}
	return len(d) == 9 && number(d[:2]) < 54 || len(d) == 10 && (mod(d, 11) == 0 || mod(d[:9], 11) == 10 && d[9] == '0')
}

func isAMKA(d []byte) bool {
	return day(number(d[2:4]), number(d[:2])) && luhn(d)
}

func isTCKimlik(d []byte) bool {
	odd := weighted(d, 1, 0, 1, 0, 1, 0, 1, 0, 1)
	even := weighted(d, 0, 1, 0, 1, 0, 1, 0, 1)
	tenth := (odd*7 - even + 100) % 10
	return d[0] != '0' && tenth == int(d[9]-'0') && (odd+even+tenth)%10 == int(d[10]-'0')
}

func isIsikukood(d []byte) bool {
	if d[0] < '1' || d[0] > '8' || !day(number(d[3:5]), number(d[5:7])) {
		return false
	}
	check := weighted(d, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1) % 11
	if check == 10 {
		check = weighted(d, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3) % 11 % 10
	}
	return check == int(d[10]-'0')
}

// isRUT takes the number with any last sign, of which only the digits before it count.
func isRUT(d []byte, last rune) bool {
	sum, weight := 0, 2
	for i := len(d) - 2; i >= 0; i-- {
		sum += int(d[i]-'0') * weight
		if weight++; weight > 7 {
			weight = 2
		}
	}
	switch check := 11 - sum%11; check {
	case 11:
		return last == '0'
	case 10:
		return last == 'k'
	default:
		return last == rune('0'+check)
	}
}
