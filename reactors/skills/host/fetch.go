package host

import (
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
	var leave func()
	defer func() {
		if leave != nil && !sandbox.AfterReply(ctx, c.Run, leave) {
			leave()
		}
	}()
	room := func(waiting context.Context) (err error) {
		leave, err = c.services.large.Take(waiting, c.subject.User)
		return err
	}
	resp, err := c.services.Broker.Fetch(ctx, broker.Request{Method: r.Method, URL: r.URL, Headers: r.Headers, Body: body,
		Key: c.once(c.event.Call, c.request).String(), Room: room}, c.subject.May.HasHost, c.secret)
	if err != nil {
		return nil, err
	}
	c.event.Status = resp.Status
	return answer(resp)
}

// answer is the response of http.fetch. A body is put behind the rest without a
// copy of it in between: of megabytes there are several at a time.
func answer(resp *broker.Response) ([]byte, error) {
	head, err := json.Marshal(struct {
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
	}{resp.Status, resp.Headers})
	if err != nil {
		return nil, err
	}
	head = head[:len(head)-1]
	if isText(resp.Body) {
		b := append(make([]byte, 0, len(head)+len(resp.Body)*17/16+64), head...)
		b = append(b, `,"body":"`...)
		for _, c := range resp.Body {
			switch c {
			case '"', '\\':
				b = append(b, '\\', c)
			case '\n':
				b = append(b, `\n`...)
			case '\r':
				b = append(b, `\r`...)
			case '\t':
				b = append(b, `\t`...)
			default:
				b = append(b, c)
			}
		}
		return append(b, `"}`...), nil
	}
	b := append(make([]byte, 0, len(head)+base64.StdEncoding.EncodedLen(len(resp.Body))+64), head...)
	b = append(b, `,"body":"`...)
	b = base64.StdEncoding.AppendEncode(b, resp.Body)
	return append(b, `","bodyEncoding":"base64"}`...), nil
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
	case errors.Is(err, secrets.ErrNoKey):
		return "", sandbox.Errorf(SecretsUnavailable, "secrets cannot be read here: the operator has to set HELIX_AGE_KEY")
	case err != nil:
		return "", err
	case !secrets.MayBeSent(hosts, host):
		return "", sandbox.Errorf(broker.HostNotAllowed, "the secret %s may not be sent to %s", name, host)
	}
	return value, nil
}
