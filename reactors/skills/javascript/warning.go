package javascript

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/helixd/helixd/reactors/sandbox"
)

// skipped is what holds no code: comments and strings. A template is skipped
// whole, with the code inside. A regular expression is not told from a division,
// so a quote in one hides what follows up to the end of the line: this is advice.
var skipped = regexp.MustCompile("(?s)//[^\n]*|/\\*.*?(?:\\*/|$)|`(?:[^`\\\\]|\\\\.)*(?:`|$)" +
	`|"(?:[^"\\\n]|\\.)*(?:"|\n|$)|'(?:[^'\\\n]|\\.)*(?:'|\n|$)`)

var suspicious = []struct {
	code, message string
	pattern       *regexp.Regexp
}{
	{"eval", "eval runs text as code: what it will do cannot be reviewed", regexp.MustCompile(`(?:^|[^.\w$])(eval)\s*\(`)},
	{"function_constructor", "the Function constructor runs text as code: what it will do cannot be reviewed", regexp.MustCompile(`(?:^|[^.\w$])(Function)\s*\(`)},
	{"import", "import is not available in a tool", regexp.MustCompile(`(?:^|[^.\w$])(import)\s*\(`)},
}

// mostWarnings is how many are given of each kind.
const mostWarnings = 20

// warnings is advice on a tool's source.
func warnings(code []byte) []sandbox.Warning {
	blank := skipped.ReplaceAllStringFunc(string(code), func(s string) string {
		return strings.Map(func(r rune) rune {
			if r == '\n' {
				return r
			}
			return ' '
		}, s)
	})
	var found []sandbox.Warning
	for _, s := range suspicious {
		for _, at := range s.pattern.FindAllStringSubmatchIndex(blank, mostWarnings) {
			before := blank[:at[2]]
			found = append(found, sandbox.Warning{
				Code: s.code, Message: s.message,
				Line:   1 + strings.Count(before, "\n"),
				Column: 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]),
			})
		}
	}
	return found
}
