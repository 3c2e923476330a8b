package outbound

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"regexp"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
)

// Explain gives an error of the network in words that quote no address: the URL
// is in the texts of net/http.
func Explain(err error) string {
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var op *net.OpError
	var timeout net.Error
	switch {
	case errors.As(err, &name) && name.IsNotFound:
		return "there is no such host"
	case errors.As(err, &certificate):
		return "its certificate is not valid for its name"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection is refused"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "it does not answer in time"
	case errors.As(err, &name):
		return "its name cannot be looked up"
	case errors.As(err, &op) && op.Op == "dial":
		return "no connection can be made"
	}
	return "the connection ended before the answer was there"
}

var (
	links  = regexp.MustCompile(`https?://[^\s"'<>]+`)
	tokens = regexp.MustCompile(`[^\s"'(){}\[\],;:=<>]+`)
)

// Clean makes a service's own text fit to be shown: one line of at most most
// characters, without the key, parts of it (services repeat some to say which one
// was wrong) or what URLs are signed with.
func Clean(text, key string, most int) string {
	text = links.ReplaceAllStringFunc(text, func(link string) string {
		if u, err := url.Parse(link); err == nil {
			return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
		}
		return "(a URL)"
	})
	if key != "" {
		text = strings.ReplaceAll(text, key, "***")
	}
	text = tokens.ReplaceAllStringFunc(text, func(token string) string {
		if repeats(token, key) {
			return "***"
		}
		return token
	})
	return Printable(text, most)
}

// repeats reports whether a word has a part of the key in it: 6 characters from
// anywhere, or 4 from an end.
func repeats(word, key string) bool {
	bare := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if strings.Contains(word, "**") || strings.HasPrefix(bare, "sk-") {
		return true
	}
	for i := 0; i+6 <= len(key); i++ {
		if strings.Contains(word, key[i:i+6]) {
			return true
		}
	}
	return len(bare) >= 4 && (strings.HasPrefix(key, bare) || strings.HasSuffix(key, bare))
}

// Printable makes one line of a text, of at most most characters.
func Printable(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, text)
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > most {
		runes = append(runes[:most-1], '…')
	}
	return string(runes)
}

// Sentence makes one of what an error says: it begins with a capital and ends with a
// full stop.
func Sentence(said string) string {
	first, size := utf8.DecodeRuneInString(said)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(said[size:], ".") + "."
}
