package broker

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"

	"golang.org/x/net/http/httpguts"

	"github.com/helixd/helixd/reactors/sandbox"
)

var placeholder = regexp.MustCompile(`\{\{secret:([^{}]*)\}\}`)

// maxSecrets bounds the replacements in one request.
const maxSecrets = 10

// filled is what secrets were put where.
type filled struct {
	headers []string
	forms   [][]byte // what the secrets may look like in a response
}

// fill puts secrets into headers.
func fill(ctx context.Context, headers http.Header, host string, secret Secret) (*filled, error) {
	f := &filled{}
	values := map[string]string{}
	for name := range headers {
		var failed error
		value := placeholder.ReplaceAllStringFunc(headers.Get(name), func(text string) string {
			key := placeholder.FindStringSubmatch(text)[1]
			value, ok := values[key]
			if !ok && failed == nil {
				if len(values) == maxSecrets {
					failed = sandbox.Errorf(InvalidRequest, "a request has %d secrets at the most", maxSecrets)
					return ""
				}
				if value, failed = secret(ctx, key, host); failed == nil {
					values[key] = value
				}
			}
			return value
		})
		switch {
		case failed != nil:
			return nil, failed
		case value == headers.Get(name):
			continue
		case len(value) > maxHeader || !httpguts.ValidHeaderFieldValue(value):
			return nil, sandbox.Errorf(InvalidRequest, "a secret does not fit into the header %s", name)
		}
		headers.Set(name, value)
		f.headers = append(f.headers, name)
	}
	for _, value := range values {
		f.forms = append(f.forms, forms(value)...)
	}
	// A longer one may hold a shorter one.
	slices.SortFunc(f.forms, func(a, b []byte) int { return len(b) - len(a) })
	return f, nil
}

// forms are how servers repeat what they were sent: as it is, in JSON, in a URL,
// in base64.
func forms(value string) [][]byte {
	if value == "" {
		return nil // it is everywhere
	}
	all := [][]byte{[]byte(value), []byte(url.QueryEscape(value)), []byte(url.PathEscape(value)),
		[]byte(base64.StdEncoding.EncodeToString([]byte(value)))}
	if quoted, err := json.Marshal(value); err == nil {
		all = append(all, quoted[1:len(quoted)-1])
	}
	slices.SortFunc(all, bytes.Compare)
	return slices.CompactFunc(all, bytes.Equal)
}

// hide replaces the secrets in what came from a server. It is a help for servers
// that repeat what they are sent; one that wants to give a secret away can.
func (f *filled) hide(text []byte) []byte {
	for _, form := range f.forms {
		if !bytes.Contains(text, form) { // ReplaceAll would make a copy
			continue
		}
		text = bytes.ReplaceAll(text, form, []byte("***"))
	}
	return text
}
