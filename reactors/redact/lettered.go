package redact

import (
	"slices"
	"strings"
)

// Checks of numbers that have letters. Each gets what its pattern fits, in small letters.

func digitsOf(id []rune) []byte {
	d := make([]byte, len(id))
	for i, r := range id {
		d[i] = byte(r)
	}
	return d
}

// isNINO leaves out the prefixes that are not given.
func isNINO(id []rune) bool {
	prefix := string(id[:2])
	return !strings.ContainsRune("dfiquv", id[0]) && !strings.ContainsRune("dfiquvo", id[1]) && id[8] <= 'd' &&
		!slices.Contains([]string{"bg", "gb", "kn", "nk", "nt", "tn", "zz"}, prefix)
}

const dniLetters = "trwagmyfpdxbnjzsqvhlcke"

func isDNI(id []rune) bool {
	return rune(dniLetters[number(digitsOf(id[:8]))%23]) == id[8]
}

func isNIE(id []rune) bool {
	first := strings.IndexRune("xyz", id[0])
	if first < 0 {
		return false
	}
	d := digitsOf(id[:8])
	d[0] = byte('0' + first)
	return rune(dniLetters[number(d)%23]) == id[8]
}

// isRUTK is a Chilean number that ends in K.
func isRUTK(id []rune) bool {
	return id[len(id)-1] == 'k' && isRUT(digitsOf(id), 'k')
}

// isCodice is the Italian tax code; letters may stand for digits where two people would have the same.
func isCodice(id []rune) bool {
	odd := [...]int{1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23}
	for _, i := range []int{6, 7, 9, 10, 12, 13, 14} {
		if !isDigit(id[i]) && !strings.ContainsRune("lmnpqrstuv", id[i]) {
			return false
		}
	}
	if !strings.ContainsRune("abcdehlmprst", id[8]) {
		return false
	}
	sum := 0
	for i, r := range id[:15] {
		n := int(r - 'a')
		if isDigit(r) {
			n = int(r - '0')
		}
		if i%2 == 0 {
			n = odd[n]
		}
		sum += n
	}
	return rune('a'+sum%26) == id[15]
}

// isPAN is an Indian tax number: its fourth letter says whose it is. There is no public checksum.
func isPAN(id []rune) bool {
	return strings.ContainsRune("pchfatbljg", id[3])
}

func isCURP(id []rune) bool {
	const alphabet = "0123456789abcdefghijklmn\u00f1opqrstuvwxyz"
	sum, i := 0, 18
	for _, r := range id[:17] {
		n := strings.IndexRune(alphabet, r)
		if r > 'n' {
			n-- // ñ has two bytes
		}
		sum += n * i
		i--
	}
	return day(number(digitsOf(id[6:8])), number(digitsOf(id[8:10]))) && strings.ContainsRune("hmx", id[10]) &&
		(10-sum%10)%10 == int(id[17]-'0')
}

func isPPS(id []rune) bool {
	sum := weighted(digitsOf(id[:7]), 8, 7, 6, 5, 4, 3, 2)
	if len(id) == 9 {
		if !strings.ContainsRune("abhtwx", id[8]) {
			return false
		}
		if id[8] <= 'h' {
			sum += int(id[8]-'a'+1) * 9
		}
	}
	return rune("wabcdefghijklmnopqrstuv"[sum%23]) == id[7]
}

func isRICX(id []rune) bool {
	return id[17] == 'x' && isRIC(digitsOf(id), true)
}

// isCorsican is a French number of 2A or 2B, which count as 19 and 18.
func isCorsican(id []rune) bool {
	d := digitsOf(id)
	switch {
	case id[5] != '2':
		return false
	case id[6] == 'a':
		d[5], d[6] = '1', '9'
	case id[6] == 'b':
		d[5], d[6] = '1', '8'
	default:
		return false
	}
	return isNIR(d)
}

const hetuLetters = "0123456789abcdefhjklmnprstuvwxy"

func isHETU(id []rune) bool {
	return strings.ContainsRune("abcdefuvwxy", id[6]) && isHETUDash(slices.Concat(id[:6], id[7:]))
}

func isHETUDash(id []rune) bool {
	d := digitsOf(id[:9])
	return day(number(d[2:4]), number(d[:2])) && rune(hetuLetters[number(d)%31]) == id[9]
}
