package host

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills/host/broker"
	"github.com/helixd/helixd/reactors/skills/host/secrets"
	"github.com/helixd/helixd/reactors/skills/rights"
)

func httpFetch(ctx context.Context, c *call) ([]byte, error) {
	var r struct {
		URL          string
		Method       string
		Headers      map[string]string
		Body         string
		BodyEncoding string
	}
	if err := c.read(&r); err != nil {
		return nil, err
	}
	body := []byte(r.Body)
	switch r.BodyEncoding {
	case "":
	case "base64":
		var err error
		if body, err = base64.StdEncoding.DecodeString(r.Body); err != nil {
			return nil, sandbox.Errorf(InvalidRequest, "the body is not base64")
		}
	default:
		return nil, sandbox.Errorf(InvalidRequest, "bodyEncoding is base64 or is not given")
	}
	c.event.Target = target(r.URL)
	if method := strings.ToUpper(r.Method); len(method) <= len(http.MethodDelete) && strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		c.event.Method = method
	}
	resp, err := c.services.Broker.Fetch(ctx, broker.Request{Method: r.Method, URL: r.URL, Headers: r.Headers, Body: body,
		Key: c.once(c.event.Call, c.request).String()}, c.subject.May.HasHost, c.secret)
	if err != nil {
		return nil, err
	}
	c.event.Status = resp.Status
	answer := struct {
		Status       int               `json:"status"`
		Headers      map[string]string `json:"headers"`
		Body         string            `json:"body"`
		BodyEncoding string            `json:"bodyEncoding,omitempty"`
	}{resp.Status, resp.Headers, string(resp.Body), ""}
	if !isText(resp.Body) {
		answer.Body, answer.BodyEncoding = base64.StdEncoding.EncodeToString(resp.Body), "base64"
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // it would make six bytes of one
	err = e.Encode(answer)
	return b.Bytes(), err
}

// target gives the host of a URL for the audit, "" where it has none that could
// be reached.
func target(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	host, port, err := broker.Target(u)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(rights.Capability{Kind: rights.Network, Host: host, Port: port}.String(), string(rights.Network)+":")
}

// isText reports whether bytes are UTF-8 that JSON hardly makes longer.
func isText(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' {
			return false
		}
	}
	return true
}

// secret gives the broker a secret of the run's user for a request to the host.
func (c *call) secret(ctx context.Context, name, host string) (string, error) {
	if !rights.IsSecretName(name) {
		return "", sandbox.Errorf(SecretNotFound, "a secret's name has 1 to 64 of a-z, 0-9, _ and -")
	}
	if err := c.require(rights.Capability{Kind: rights.Secrets, Name: name}); err != nil {
		return "", err
	}
	c.event.Secrets = append(c.event.Secrets, name)
	value, hosts, err := c.services.Secrets.Get(ctx, c.subject.User, name)
	switch {
	case errors.Is(err, secrets.ErrNotFound):
		return "", sandbox.Errorf(SecretNotFound, "there is no secret %s", name)
	case err != nil:
		return "", err
	case !secrets.MayBeSent(hosts, host):
		return "", sandbox.Errorf(broker.HostNotAllowed, "the secret %s may not be sent to %s", name, host)
	}
	return value, nil
}
