package local

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// label is what stands before a speaker's words: "User:", "Mum (10:32):", "[10:32] Me:",
// "**Assistant**:".
var label = regexp.MustCompile(`^[ \t]*(?:\[[^\]\n]{1,24}\][ \t]*|\d{1,2}:\d{2}[ \t]*(?:-[ \t]*)?)?[*_]{0,2}(\p{L}[\p{L}.'’]{0,20}(?: \p{L}[\p{L}.'’]{0,20})?)[*_]{0,2}(?:[ \t]*\([^)\n]{1,24}\))?[*_]{0,2}:[*_]{0,2}(?:[ \t]|$)`)

// inline puts speakers of a chat that was written in one line on lines of their own.
var inline = strings.NewReplacer(" User: ", "\nUser: ", " Assistant: ", "\nAssistant: ", " Human: ", "\nHuman: ", " AI: ", "\nAI: ", " Me: ", "\nMe: ")

var (
	users  = wordSet("user me human i myself")
	others = wordSet(`assistant ai bot chatbot chatgpt gpt claude gemini copilot model system agent therapist counsellor counselor coach support
		doctor dr nurse interviewer interviewee teacher host guest mum mom dad mother father sister brother wife husband boss friend
		colleague grandma grandpa aunt uncle son daughter partner boyfriend girlfriend customer client manager recruiter narrator
		patient caller operator waiter reporter character hero you them him her he she`)
	headings = wordSet(`note notes update edit ps goal goals todo to-do tldr subject re title reminder today yesterday tomorrow monday tuesday
		wednesday thursday friday saturday sunday morning evening night day date mood dream dreams plan plans question answer example summary result
		results context problem background thought thoughts idea ideas pros cons step warning list agenda feeling feelings energy sleep grateful
		gratitude highlight lowlight journal diary entry value values fear fears trigger intention intentions also first second third finally lesson
		what why how when where who remember truth fact item lunch dinner breakfast time place`)
)

// own gives the parts of a text that the user wrote: in a conversation with names
// before the lines, theirs; without quotations, code and what answers to others.
func own(text string) []string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, " ")
	}
	text = inline.Replace(text)
	lines := strings.Split(text, "\n")
	speakers, dialogue := speaking(lines)
	var b strings.Builder
	var parts []string
	mine, code := true, false
	finish := func() {
		if b.Len() > 0 {
			parts = append(parts, unquoted(b.String()))
			b.Reset()
		}
	}
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "```") {
			code = !code
			continue
		}
		if code || strings.HasPrefix(trimmed, ">") {
			continue
		}
		if dialogue && speakers[i].length > 0 {
			mine = users[speakers[i].name]
			finish()
			line = line[speakers[i].length:]
		}
		if !mine {
			continue
		}
		if wrapped := b.Len() > 0 && len(lines[i-1]) > 60 && startsLower(trimmed); wrapped {
			b.WriteByte(' ')
		} else if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(line)
	}
	finish()
	return parts
}

func startsLower(line string) bool {
	r, _ := utf8.DecodeRuneInString(line)
	return unicode.IsLower(r)
}

type speaker struct {
	name   string
	length int // of the label, in bytes
}

// speaking gives the speaker of each line that names one, and says whether the lines
// are a dialogue at all.
func speaking(lines []string) ([]speaker, bool) {
	speakers := make([]speaker, len(lines))
	known, named := 0, map[string]int{}
	for i, line := range lines {
		if cut := strings.IndexByte(line, ':'); cut < 0 || cut > 100 {
			continue
		}
		at := label.FindStringSubmatchIndex(line[:min(len(line), 160)])
		if at == nil {
			continue
		}
		name := line[at[2]:at[3]]
		lower := strings.ToLower(name)
		if headings[strings.Fields(lower)[0]] {
			continue
		}
		capital := name != lower
		switch {
		case users[lower] && (capital || lower != "i"), others[lower]:
			known++
		case capital:
			named[lower]++
		default:
			continue
		}
		speakers[i] = speaker{lower, at[1]}
	}
	turns := 0
	for _, n := range named {
		turns += n
	}
	return speakers, known > 0 || turns >= 2 && len(named) >= 2 || turns >= 3
}

// longestQuote is how many bytes a quotation may have.
const longestQuote = 2000

// unquoted takes out what stands in double quotes and is more than two words, and
// speech in single ones.
func unquoted(text string) string {
	if !strings.ContainsAny(text, "\"“„«'‘") {
		return text
	}
	var b strings.Builder
	from := 0
	open := map[string]int{} // by what would close it: no quotation that begins before this ends
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		var closing string
		switch r {
		case '"':
			closing = "\""
		case '“', '„':
			closing = "”“\""
		case '«':
			closing = "»"
		case '\'', '‘':
			if at == 0 || strings.ContainsRune(" \n(,:", rune(text[at-1])) {
				closing = "'’"
			}
		}
		at += size
		if closing == "" || at <= open[closing] {
			continue
		}
		inside := text[at:min(len(text), at+longestQuote)]
		single := r == '\'' || r == '‘'
		to := closed(inside, closing, single)
		if to < 0 {
			open[closing] = at + len(inside)/2
		}
		if to < 0 || len(strings.Fields(inside[:to])) <= 2 {
			continue
		}
		b.WriteString(text[from : at-size])
		b.WriteString(" , ")
		_, size = utf8.DecodeRuneInString(inside[to:])
		from = at + to + size
		at = from
		if last := inside[to-1]; (last == '.' || last == '!' || last == '?') && strings.HasPrefix(strings.TrimLeft(text[from:], " "), "\n") {
			b.WriteByte('\n')
		}
	}
	b.WriteString(text[from:])
	return b.String()
}

// closed finds where a quotation ends, in its paragraph. A single quote ends one only
// after a punctuation mark: else it is an apostrophe.
func closed(inside, closing string, single bool) int {
	for at, r := range inside {
		if r == '\n' && strings.HasPrefix(inside[at+1:], "\n") {
			return -1
		}
		if !strings.ContainsRune(closing, r) {
			continue
		}
		if !single || at > 0 && strings.ContainsRune(".,!?", rune(inside[at-1])) {
			return at
		}
	}
	return -1
}

// inventing is words after which a text is not about the user any more.
type inventing []*pattern

func (all inventing) is(s *sentence) bool {
	_, found := first(all, s)
	return found
}

var fiction = inventing(cues(
	`^ chapter _ $`,
	`(?:once upon a time|short story|opening (?:line|paragraph|scene)|protagonist|lyrics|monologue|screenplay|fanfic|fan fiction|haiku)`,
	`(?:write|wrote|writing|draft|drafting|finish|continue|compose) (?:me |us )?(?:a|an|the|my|this) (?:_ )?(?:_ )?(?:story|poem|scene|song|sonnet|verse|play|script|dialogue|speech for|letter from|character|villain|lyric)`,
	`(?:translate|proofread|rephrase|paraphrase|summarise|summarize|rewrite|correct the grammar|fix the grammar|check the grammar) (?:this|the|these|it|following|my|for|into|from)`,
	`(?:role play|roleplay|rpg|dungeon|in character|first person narrator|voice over|from the perspective of|from the point of view of|in the voice of|pretend (?:that )?you are|imagine you are|let us pretend)`,
	`(?:the|my|our|main|her|his) (?:character|hero|heroine|narrator|villain) (?:says|said|thinks|feels|is|was|whispers|shouts|in|of)`,
	`^ (?:please |can you |could you |help me (?:to )?)?(?:write|draft|compose) (?:me |us |him |her )?(?:a|an|the|my|some) (?:_ )?(?:_ )?(?:letter|essay|email|mail|post|caption|text|message|bio|review|toast|speech|answer|application)`,
	`(?:example|sample) (?:sentence|sentences|text|dialogue|answer|post)`,
))
