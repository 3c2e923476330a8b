package redact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/redact"
)

func thousand() (names []string) {
	for i := range 1000 {
		names = append(names, fmt.Sprintf("%s%s %s%s", syllables[i%10], syllables[i/10%10], syllables[i/100], syllables[i%7]))
	}
	return names
}

var syllables = []string{"Ka", "Lo", "Mir", "Na", "Tes", "Ru", "Vi", "Zan", "Bel", "Dor"}

const prose = "On Tuesday I met Kalo Mirna at the station, and we talked about the 12 letters from 1987 that " +
	"grandmother kept; write to jane@example.com or call +1 202-555-0143 if you remember. It was 14:30 on 2024-01-15, " +
	"a cold day – naïve as I was, I paid 1,299.00 for the piano. "

func BenchmarkRedact(b *testing.B) {
	r, err := redact.New(redact.Rules{Kinds: redact.Kinds(), Names: thousand()})
	if err != nil {
		b.Fatal(err)
	}
	for name, unit := range hard {
		text := strings.Repeat(unit, 1<<20/len(unit))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				r.Session("").Redact(text)
			}
		})
	}
}

// hard are texts that would take long if anything were looked at again and again.
var hard = map[string]string{
	"prose": prose, "ones": "1 ", "digits": "7", "at": "@", "ats": "at ", "a@": "a@", "colons": ":", "hex": "1:", "double": "1::", "dots": "1.",
	"letters": "a", "pairs": "de20 ", "plus": "+1 ", "names": "Kalo ", "cards": "4111 1111 1111 1111 ", "mails": "a@b.co ", "glued": "a@b.co", "brackets": "[",
	"open": "[EMAIL_A", "literals": "[EMAIL_A]", "call": "call 1 2 ", "dot": "a at a dot ", "quotes": "\"@", "zeros": "00", "accents": "e\u0301",
	"marks": "\u0301", "invisible": "1\u200b", "han": "张", "bytes": "\xff", "ids": "ssn 1 ", "chain": "1.1.1.1-", "phones": "202-555-0143", "triples": "123 456 789 ",
}
