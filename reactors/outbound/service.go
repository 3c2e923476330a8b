package outbound

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Service is what messages say of one that is asked.
type Service struct {
	Name         string // "deepgram"
	Key          string // that no message may have in it
	KeySetting   string // where an operator sets the key
	URLSetting   string // where, the address
	ModelSetting string // where, the model
	Sending      string // what is sent: "the audio"
	Later        string // what happens once the account is paid: "recordings are transcribed by themselves"
	Retry422     bool   // 422 is an interrupted upload
}

// LongestAfter bounds Retry-After.
const LongestAfter = time.Hour

// complaint is the body of an error, in whatever shape. Deepgram has
// {err_code, err_msg, request_id} and {category, message, details, request_id},
// OpenAI {error: {message, type, code, param}}, Anthropic {type: "error", error:
// {type, message}, request_id}, and servers that are compatible with OpenAI
// {message, type, code} or FastAPI's {detail}.
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
		case map[string]any:
			if said := text(v, "message", "msg"); said != "" {
				return said
			}
		case []any:
			if list := findings(v); list != "" {
				return list
			}
		}
	}
	return ""
}

// findings are FastAPI's list of what is wrong, {loc, msg, input}, without the
// input: it may be all that was sent.
func findings(list []any) string {
	var all []string
	for _, f := range list[:min(len(list), 8)] {
		f, ok := f.(map[string]any)
		if !ok {
			continue
		}
		said := text(f, "msg")
		if loc, ok := f["loc"].([]any); ok && said != "" {
			var path []string
			for _, step := range loc[:min(len(loc), 8)] {
				path = append(path, fmt.Sprint(step))
			}
			said = strings.Join(path, ".") + ": " + said
		}
		all = append(all, said)
	}
	return strings.Join(all, "; ")
}

// outOfCredit are codes for an account that must be paid: OpenAI's, whose status is
// 429, as if to wait would help, and Anthropic's.
var outOfCredit = map[string]bool{"insufficient_quota": true, "billing_hard_limit_reached": true, "billing_not_active": true, "billing_error": true}

// unpaid reports whether an account must be paid. Anthropic may say so with 400.
func (c complaint) unpaid() bool {
	return outOfCredit[c.code] || outOfCredit[c.kind] || strings.Contains(c.message, "credit balance is too low")
}

// long reports whether a request is more than the model takes at once.
func (c complaint) long() bool {
	return c.code == "context_length_exceeded" || strings.Contains(c.message, "maximum context length") || strings.Contains(c.message, "prompt is too long")
}

// Refused is the Error of a status that is not 2xx.
func (s *Service) Refused(status int, header http.Header, body []byte) *Error {
	c := readComplaint(body)
	f := &Error{Status: status, RequestID: s.Identify(c.requestID, header), After: RetryAfter(header), Sent: true, param: c.param, said: c.message}
	var what string
	switch {
	case status == http.StatusPaymentRequired || c.unpaid():
		f.Code, f.Retry = PaymentRequired, true
		what = fmt.Sprintf("the account at %s has no credit left; once it has, %s", s.Name, s.Later)
	case status == http.StatusForbidden: // of this request, or of all: see Gate
		f.Code = Unauthorized
		what = fmt.Sprintf("%s does not permit this request with the API key; where it permits none, set a valid %s", s.Name, s.KeySetting)
	case status == http.StatusUnauthorized:
		f.Code = Unauthorized
		what = fmt.Sprintf("%s does not permit this with the API key; set a valid %s", s.Name, s.KeySetting)
	case status == http.StatusRequestEntityTooLarge || status == http.StatusBadRequest && c.long():
		f.Code = TooLarge
		what = fmt.Sprintf("%s is larger than %s takes; make it shorter", s.Sending, s.Name)
	case status == http.StatusTooManyRequests:
		f.Code, f.Retry = RateLimited, true
		what = fmt.Sprintf("%s takes no more requests for now", s.Name)
	case status == http.StatusRequestTimeout, status >= 500,
		status == http.StatusConflict, // of a request with the same Idempotency-Key that is under way
		status == http.StatusUnprocessableEntity && s.Retry422:
		f.Code, f.Retry = Unavailable, true
		what = fmt.Sprintf("%s does not work at the moment", s.Name)
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
		f.Code = NotFound
		what = fmt.Sprintf("%s has no such address or model; check %s and %s", s.Name, s.URLSetting, s.ModelSetting)
	case status/100 == 3:
		f.Code = NotFound
		what = fmt.Sprintf("%s is at another address; set %s to the one that it redirects to", s.Name, s.URLSetting)
	case c.code == "content_filter": // Azure's, of what was sent
		f.Code = Refused
		what = fmt.Sprintf("%s declines to answer", s.Name)
	default:
		f.Code = Rejected
		what = fmt.Sprintf("%s refuses the request, and asking again would not help", s.Name)
	}
	f.public = fmt.Sprintf("%s: %d %s", what, status, http.StatusText(status))
	f.Message = f.public
	if said := Clean(c.message, s.Key, 300); said != "" {
		f.Message = fmt.Sprintf("%s: %d, %q", what, status, said)
	}
	return f
}

// Unreadable is the Error of a 2xx that is no answer. Its cause quotes nothing of
// the body.
func (s *Service) Unreadable(err error, header http.Header) *Error {
	var syntax *json.SyntaxError
	var shape *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax), errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("it is not JSON")
	case errors.As(err, &shape):
		err = errors.New("it has a value of another type than documented")
	}
	return &Error{Code: BadAnswer, Message: fmt.Sprintf("the answer of %s cannot be read: %s", s.Name, err),
		Status: http.StatusOK, RequestID: s.Identify("", header), Retry: true, Sent: true}
}

// Identify is the service's name of a request.
func (s *Service) Identify(told string, header http.Header) string {
	for _, id := range []string{told, header.Get("Dg-Request-Id"), header.Get("Request-Id"), header.Get("X-Request-Id")} {
		if id = Clean(id, s.Key, 128); id != "" {
			return id
		}
	}
	return ""
}

// RetryAfter reads the header, which has seconds or a date. The date is compared
// with the server's own clock.
func RetryAfter(header http.Header) time.Duration {
	text := strings.TrimSpace(header.Get("Retry-After"))
	if text == "" {
		return 0
	}
	var after time.Duration
	if seconds, err := strconv.ParseUint(text, 10, 64); err == nil {
		after = time.Duration(min(seconds, uint64(LongestAfter/time.Second))) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		now, err := http.ParseTime(header.Get("Date"))
		if err != nil {
			now = time.Now()
		}
		after = at.Sub(now)
	}
	return max(0, min(after, LongestAfter))
}
