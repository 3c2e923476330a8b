package provider

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// longestAfter bounds Retry-After.
const longestAfter = time.Hour

// complaint is the body of an error, in whatever shape. Deepgram has
// {err_code, err_msg, request_id} and {category, message, details, request_id},
// OpenAI {error: {message, type, code, param}}, and servers that are compatible
// with it {message, type, code} or FastAPI's {detail}.
type complaint struct {
	code, kind, param, message, requestID string
}

func readComplaint(body []byte) complaint {
	var outer map[string]any
	if json.Unmarshal(body, &outer) != nil {
		if bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) { // a proxy's page
			return complaint{}
		}
		return complaint{message: string(body)}
	}
	m := outer
	if inner, ok := outer["error"].(map[string]any); ok {
		m = inner
	}
	c := complaint{code: text(m, "err_code", "category", "code"), kind: text(m, "type"), param: text(m, "param"),
		message: text(m, "err_msg", "message", "detail", "error"), requestID: text(outer, "request_id")}
	if details := text(m, "details"); details != "" {
		c.message = strings.TrimSuffix(c.message, ".") + ": " + details
	}
	return c
}

// text is the first of the members that says something.
func text(m map[string]any, names ...string) string {
	for _, name := range names {
		switch v := m[name].(type) {
		case string:
			if v != "" {
				return v
			}
		case float64:
			return strconv.FormatFloat(v, 'f', -1, 64)
		case []any, map[string]any: // FastAPI's list of what is wrong
			if b, err := json.Marshal(v); err == nil {
				return string(b)
			}
		}
	}
	return ""
}

// outOfCredit are OpenAI's codes for an account that must be paid: their status is
// 429, as if to wait would help.
var outOfCredit = map[string]bool{"insufficient_quota": true, "billing_hard_limit_reached": true, "billing_not_active": true}

// refused is the Error of a status that is not 2xx.
func (e *endpoint) refused(status int, header http.Header, body []byte) *Error {
	c := readComplaint(body)
	f := &Error{Status: status, RequestID: e.identify(c.requestID, header), After: retryAfter(header), Sent: true}
	var what string
	switch {
	case status == http.StatusPaymentRequired || outOfCredit[c.code] || outOfCredit[c.kind]:
		f.Code, f.Retry = PaymentRequired, true
		what = fmt.Sprintf("the account at %s has no credit left; once it has, recordings are transcribed by themselves", e.name)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		f.Code = Unauthorized
		what = fmt.Sprintf("%s does not permit this with the API key; set a valid %s", e.name, e.keySetting)
	case status == http.StatusRequestEntityTooLarge:
		f.Code = TooLarge
		what = fmt.Sprintf("the audio is larger than %s takes; make it shorter", e.name)
	case status == http.StatusTooManyRequests:
		f.Code, f.Retry = RateLimited, true
		what = fmt.Sprintf("%s takes no more requests for now", e.name)
	case status == http.StatusRequestTimeout, status >= 500,
		status == http.StatusConflict, // of a request with the same Idempotency-Key that is under way
		status == http.StatusUnprocessableEntity && e.retry422:
		f.Code, f.Retry = Unavailable, true
		what = fmt.Sprintf("%s does not work at the moment", e.name)
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
		f.Code = NotFound
		what = fmt.Sprintf("%s has no such address or model; check HELIX_VOICE_URL and HELIX_VOICE_MODEL", e.name)
	case status/100 == 3:
		f.Code = NotFound
		what = fmt.Sprintf("%s is at another address; set HELIX_VOICE_URL to the one that it redirects to", e.name)
	default:
		f.Code, f.terse = Rejected, refusesVerbose(status, c)
		what = fmt.Sprintf("%s refuses the request, and asking again would not help", e.name)
	}
	f.Message = fmt.Sprintf("%s: %d %s", what, status, http.StatusText(status))
	if said := clean(c.message, e.key, 300); said != "" {
		f.Message = fmt.Sprintf("%s: %d, %q", what, status, said)
	}
	return f
}

// unreadable is the Error of a 2xx that is no answer. Its cause quotes nothing of
// the body.
func (e *endpoint) unreadable(err error, header http.Header) *Error {
	var syntax *json.SyntaxError
	var shape *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax), errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("it is not JSON")
	case errors.As(err, &shape):
		err = errors.New("it has a value of another type than documented")
	}
	return &Error{Code: BadAnswer, Message: fmt.Sprintf("the answer of %s cannot be read: %s", e.name, err),
		Status: http.StatusOK, RequestID: e.identify("", header), Retry: true, Sent: true}
}

// identify is the provider's name of a request.
func (e *endpoint) identify(told string, header http.Header) string {
	for _, id := range []string{told, header.Get("Dg-Request-Id"), header.Get("X-Request-Id")} {
		if id = clean(id, e.key, 128); id != "" {
			return id
		}
	}
	return ""
}

// retryAfter reads the header, which has seconds or a date. The date is compared
// with the server's own clock.
func retryAfter(header http.Header) time.Duration {
	text := strings.TrimSpace(header.Get("Retry-After"))
	if text == "" {
		return 0
	}
	var after time.Duration
	if seconds, err := strconv.ParseUint(text, 10, 64); err == nil {
		after = time.Duration(min(seconds, uint64(longestAfter/time.Second))) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		now, err := http.ParseTime(header.Get("Date"))
		if err != nil {
			now = time.Now()
		}
		after = at.Sub(now)
	}
	return max(0, min(after, longestAfter))
}

// explain gives an error of the network in words that quote no address: the URL
// is in the texts of net/http.
func explain(err error) string {
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

// clean makes a provider's own text fit to be shown: one line of at most most
// characters, without the key, parts of it (providers repeat some to say which one
// was wrong) or what URLs are signed with.
func clean(text, key string, most int) string {
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
	return printable(text, most)
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

// printable makes one line of a text, of at most most characters.
func printable(text string, most int) string {
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
