package embedding

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/helixd/helixd/reactors/llm"
	"github.com/helixd/helixd/reactors/redact"
)

const (
	mostTokens        = 8000    // of a text: OpenAI's models take 8,191
	mostRequestTokens = 100_000 // of a request, which may have 300,000 there

	// window is how many characters of a memory are read: enough for mostTokens,
	// and as much again, of which redaction may leave less.
	window = 48_000
	// unsure is how much of a window's end may be a part of something that would
	// have been redacted.
	unsure = 1 << 10

	salt = "embedding" // the same words give the same text, and so the same vector
)

// prepare makes what is sent of a memory's content, of which there may be more.
func prepare(content string, more bool, r *redact.Redactor) string {
	if r != nil {
		content = r.Session(salt).Redact(content)
		if more && len(content) > unsure {
			content = cut(content, len(content)-unsure)
		}
	}
	content = strings.TrimFunc(content, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
	if llm.EstimateTokens(content) <= mostTokens {
		return content
	}
	return cut(content, 3*(mostTokens-1))
}

// cut ends a text after a word, within most bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	text = text[:most]
	// Where there are no spaces, as in Chinese, it ends after any character.
	if i := strings.LastIndexFunc(text, unicode.IsSpace); i > len(text)*7/8 {
		text = text[:i]
	}
	return strings.TrimRightFunc(text, unicode.IsSpace)
}
