package redact_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/redact"
)

func session(t testing.TB, names []string, kinds ...redact.Kind) *redact.Session {
	t.Helper()
	if len(kinds) == 0 {
		kinds = redact.Kinds()
	}
	r, err := redact.New(redact.Rules{Kinds: kinds, Names: names})
	if err != nil {
		t.Fatal(err)
	}
	return r.Session("")
}

var tags = map[redact.Kind]string{
	redact.Name: "NAME", redact.Email: "EMAIL", redact.Phone: "PHONE", redact.Card: "CARD", redact.IBAN: "IBAN",
	redact.NationalID: "ID", redact.IP: "IP",
}

// Numbers are examples that authorities and issuers publish, or of ranges reserved for examples.
var found = map[redact.Kind][]string{
	redact.Email: {
		"jane@example.com", "jane.doe+news@mail.example.co.uk", "j_d-1@sub.sub.example.org", "jane@example.museum",
		"JANE@EXAMPLE.COM", "用户@例え.jp", "пётр@пример.рф", "jane@xn--bcher-kva.example", "o'hara@example.ie",
		`"jane doe"@example.com`, "jane@[192.0.2.1]", "jane＠example．com", "ja\u00adne@exam\u200bple.com",
		"jane at example dot com", "jane [at] example [dot] com", "jane(at)example.com", "jane (at) mail dot example dot org",
		"jane@example.com@example.org", "a@b.co", "jane%40example.com", "jane.doe%40mail.example.org",
	},
	redact.Card: {
		"4111111111111111", "4111 1111 1111 1111", "4111-1111-1111-1111", "4012888888881881", "4222222222222",
		"5555555555554444", "5105 1051 0510 5100", "2223003122003222", "378282246310005", "3782 822463 10005",
		"6011111111111117", "30569309025904", "3530111333300000", "6304000000000000", "6200000000000005",
		"4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "４１１１１１１１１１１１１１１１", "٤١١١١١١١١١١١١١١١", "4111\u00a01111\u202f1111\u20091111",
		"4111‑1111–1111−1111", "41\u200b11\u00ad1111\u20601111\ufeff1111", "4111 1111\n1111 1111", "4111.1111.1111.1111",
		"4111 - 1111 - 1111 - 1111", "⁴¹¹¹¹¹¹¹¹¹¹¹¹¹¹¹", "④①①①①①①①①①①①①①①①", "𝟒𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏", "4️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣1️⃣",
	},
	redact.IBAN: {
		"DE89370400440532013000", "DE89 3704 0044 0532 0130 00", "GB82 WEST 1234 5698 7654 32", "FR1420041010050500013M02606",
		"IT60X0542811101000000123456", "NL91ABNA0417164300", "BE68 5390 0754 7034", "CH93 0076 2011 6238 5295 7",
		"ES9121000418450200051332", "AT611904300234573201", "NO93 8601 1117 947", "MT84MALT011000012345MTLCAST001S",
		"de89 3704 0044 0532 0130 00", "DE89-3704-0044-0532-0130-00", "ＤＥ８９３７０４００４４０５３２０１３０００", "DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000",
		"BR1800360305000010009795493C1", "PL61109010140000071219812874", "RO49AAAA1B31007593840000", "MD24AG000225100013104168",
		"SC18SSCB11010000000000001497USD", "MU17BOMM0101101030300200000MUR",
	},
	redact.NationalID: {
		"078-05-1120", "219 09 9999", "SSN 219099999", "912-70-1234", "AB123456C", "ab 12 34 56 c", "36574261809", "36 574 261 809",
		"295109912611193", "2 95 10 99 126 111 93", "253072B07300470", "BSN 111222333", "54362315K", "54362315-K", "X2482300W", "x-2482300-w",
		"RCCMNL83S18D969H", "44051401359", "880320-0016", "8803200016", "CPR 010190-1234", "010190-1234", "15108695088", "151086 95088",
		"131052-308T", "131052A308T", "390.533.447-05", "39053344705", "Aadhaar 234123412346", "2341 2341 2346", "85 07 30 033 28", "17 07 30 033 84",
		"756.9217.0769.85", "7569217076985", "971013-9019902", "7503305044089", "1630615123457", "8032056031", "710319/2745", "01013099997",
		"17291716060", "36805280109", "OIB 33392005961", "76.086.428-5", "76086428-5", "6433435F", "6433435FT", "BOXW310820HNERXN09",
		"ABCPD1234E", "360426199101010071", "SIN 046 454 286", "TFN 123 456 782", "NHS number 943 476 5919", "078‑05‑1120", "０７８-05-1120",
		"my number is 123456789018", "ИНН 7707083893", "NIF 123456789",
	},
	redact.IP: {
		"192.0.2.1", "10.0.0.255", "http://198.51.100.7:8080/x", "198.51.100.0/24", "2001:db8::1", "[2001:db8::1]:443", "::1", "fe80::1%eth0",
		"2001:0db8:85a3:0000:0000:8a2e:0370:7334", "::ffff:192.0.2.128", "64:ff9b::192.0.2.33", "1:2:3:4:5:6:7:8", "１９２.0.2.1",
		"192.0\u200b.2.1", "IP:2001:db8::2", "2001:DB8::1.", "192.0.2.1.", "(192.0.2.1)",
	},
	redact.Phone: {
		"+1 202-555-0143", "+12025550143", "+1 (202) 555-0143", "(202) 555-0143", "202-555-0143", "202.555.0143", "202 555 0143",
		"1-202-555-0143", "+44 20 7946 0018", "020 7946 0018", "(020) 7946 0018", "07700 900123", "07700900123", "+44 (0)7700 900123",
		"0044 7700 900123", "+49 30 23125 000", "030 23125000", "030/23125000", "0151-23125000", "+33 1 99 00 12 34", "01 99 00 12 34", "01.99.00.12.34",
		"06 12 34 56 78", "+61 491 570 156", "0491 570 156", "8 (495) 123-45-67", "138 0013 8000", "98765 43210", "(11) 91234-5678",
		"call me: 5550123", "phone 555-0123", "Tel. 123 456 789", "mein Handy 15123456789", "тел. 1234567", "电话13800138000", "tel:+12025550143",
		"+1\u00a0202\u00a0555\u00a00143", "＋１２０２５５５０１４３", "+1‑202‑555‑0143", "+1202\u200b5550143", "+٩٧١٥٠١٢٣٤٥٦٧", "(+44) 20 7946 0018",
		"WhatsApp 202 5550143",
	},
	redact.Name: {
		"Anna", "ANNA", "anna", "Anna's", "Anna’s", "Annas", "Anna,", "Anna Maria Lopez", "Anna-Maria  Lopez", "ANNA\nMARIA LOPEZ", "Jos\u00e9", "Jose\u0301", "JOSE",
		"O'Brien", "O’Brien", "Straße", "STRASSE", "张伟", "김민수", "สมชาย", "An\u00adna", "An\u200bna", "Ａｎｎａ", "J. R. R. Tolkien", "Tolkien J", "anna_1985", "İpek",
		"ipek", "Ольга",
	},
}

var names = []string{
	"Anna", "Anna Maria Lopez", "José", "O'Brien", "Strasse", "张伟", "김민수", "สมชาย", "J R R Tolkien", "Tolkien", "X", "", "--", "İpek", "ольга",
}

func TestFound(t *testing.T) {
	for kind, texts := range found {
		for _, text := range texts {
			for _, around := range []string{"%", "so: % and", "(%)", "\"%\"", "“%”", "见%了", "%\n%"} {
				if kind == redact.Name && around == "见%了" && strings.ContainsAny(text, "0aAlL") {
					continue // would be another word
				}
				whole := strings.ReplaceAll(around, "%", text)
				s := session(t, names, kind)
				red := s.Redact(whole)
				if !strings.Contains(red, "["+tags[kind]+"_") {
					t.Errorf("%s: %q in %q is not found", kind, text, whole)
				}
				if back := s.Restore(red); back != whole {
					t.Errorf("%s: %q became %q", kind, whole, back)
				}
				// Nothing of the value stays but the words that had to be there, and what belongs to a URL.
				if rest := strings.Trim(red[strings.LastIndex(red, "]")+1:], ")\"”了\n. and:8062/x4%etho'’s3]_195,"); rest != "" && !slices.Contains([]string{"Tolkien J"}, text) {
					t.Errorf("%s: of %q stays %q", kind, whole, rest)
				}
			}
		}
	}
}

var passed = map[redact.Kind][]string{
	redact.Email: {
		"@jane", "jane@", "jane@localhost", "a @ b", "meet at example.com", "look at that", "user@123.456", "@@@@", "3 @ 4.50", "we ate at the dot",
	},
	redact.Card: {
		"4111111111111112", "411111111111", "41111111111111111111", "1234567890123", "1700000000000", "9111111111111111", "2019 2020 2021 2022",
		"4111,1111,1111,1111", "4111/1111/1111/1111", "1 2 3 4 5 6 7 8 9 10 11 12 13",
	},
	redact.IBAN: {
		"DE88370400440532013000", "DE8937040044053201300", "XX89370400440532013000", "de 20 años que vivo aquí con toda mi familia", "it 15", "ro12 and so many words without a number",
	},
	redact.NationalID: {
		"000-12-3456", "666-12-3456", "123-00-4567", "123-45-0000", "219099999", "BG123456A", "AB123456E", "36574261890", "111222333", "54362315Z",
		"RCCMNL83S18D969A", "44051401358", "880320-0018", "15108695077", "131052-308U", "390.533.447-06", "111.111.111-11", "234123412346", "9434765919",
		"2024-01-15 10:30", "1700000000", "1234567", "order 1234567890", "1990-2024", "12,345,678.90",
	},
	redact.IP: {
		"1.2.3", "v1.2.3.4", "1.2.3.4.5", "256.1.1.1", "192.0.2", "12:30", "12:30:45", "std::vector", "a::b", "::", "x::y", "00:1a:2b:3c:4d:5e", "1.2.3.04", "10:00:00",
	},
	redact.Phone: {
		"2024-01-15", "15.01.2024", "01.02.2024", "01/02/2024 12:30", "01-15 10:20:30", "2024-01-15 09:30:00", "1,234,567", "1234567", "1234567890", "$1,299.00",
		"1.234.567,89 €", "0.123456789", "12:30", "2019-2024", "1990 1991 1992", "10 000 000", "+10 000 000", "3.14159265358979", "51.5074 12.3456",
		"ISBN 978-3-16-148410-0", "5-10", "+5", "100-200", "scored 21-15 21-18", "1000000000", "on 01.02.2024 and 02.03.2024", "01.02.24 12 30",
	},
	redact.Name: {"annals", "Hannah", "Joanna", "Mari", "x", "X", "tolkienesque", "annas", "Brien", "Maria Lopez", "王伟", "Anna5X"[5:]},
}

func TestPassed(t *testing.T) {
	for kind, texts := range passed {
		for _, text := range texts {
			for _, around := range []string{"%", "so: % and", "(%)"} {
				whole := strings.ReplaceAll(around, "%", text)
				if red := session(t, names, kind).Redact(whole); red != whole {
					t.Errorf("%s: %q became %q", kind, whole, red)
				}
			}
		}
	}
}
