package storage

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// errSlow ends a request that Storage holds up.
var errSlow = errors.New("Supabase Storage is too slow")

// send makes a request with the key, and gives an answer's body of at most most
// bytes. An error quotes nothing of either.
func (c *Client) send(ctx context.Context, method, url, body string, most int64) (io.ReadCloser, error) {
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return nil, unavailable("SUPABASE_URL is no URL that can be asked")
	}
	// The gateway refuses secret keys where this is a browser's.
	r.Header.Set("User-Agent", "helixd")
	r.Header.Set("Accept-Encoding", "identity")
	r.Header.Set("apikey", c.key)
	// A key that is no JWT is for the gateway alone, which puts a JWT of its own into
	// Authorization, if there is none: Storage would refuse the key there.
	if !strings.HasPrefix(c.key, "sb_") {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	a := &answer{caller: ctx, patience: c.patience, most: most}
	a.ctx, a.cancel = context.WithCancelCause(ctx)
	a.timer = time.AfterFunc(c.patience, func() { a.cancel(errSlow) })
	resp, err := c.http.Do(r.WithContext(a.ctx))
	if err != nil {
		a.timer.Stop()
		defer a.cancel(nil)
		return nil, a.explain(err)
	}
	a.body = resp.Body
	if err := a.check(resp); err != nil {
		_ = a.Close()
		return nil, err
	}
	a.timer.Stop()
	a.owed, a.wait = pace, c.patience
	return a, nil
}

// check looks at what came before the body, and reads an error's.
func (a *answer) check(resp *http.Response) error {
	if resp.StatusCode != http.StatusOK {
		return a.refused(resp)
	}
	if e := resp.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return unavailable("Supabase Storage, or a proxy before it, answers in an encoding that was not asked for")
	}
	// One that ends with its connection cannot be told from one that is cut short.
	if resp.ContentLength < 0 && resp.ProtoMajor == 1 && len(resp.TransferEncoding) == 0 {
		return unavailable("Supabase Storage, or a proxy before it, does not tell the object's length")
	}
	if resp.ContentLength > a.most {
		return tooLarge(a.most)
	}
	return nil
}

// refused reads an error. Storage answers most with status 400 and has its own
// status in the body, as text; another server's 404 says nothing of the object.
func (a *answer) refused(resp *http.Response) error {
	var said struct {
		StatusCode string `json:"statusCode"`
		Code       string `json:"code"`
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10)) // what is missing of it is not understood
	own := json.Unmarshal(text, &said) == nil && said.StatusCode != ""
	status := resp.StatusCode
	if n, err := strconv.Atoi(said.StatusCode); own && err == nil && status == http.StatusBadRequest {
		status = n
	}
	switch {
	case a.caller.Err() != nil:
		return a.caller.Err()
	case status == http.StatusUnauthorized || status == http.StatusForbidden || said.Code == "InvalidJWT":
		return &Error{Code: KeyRejected, Message: "Supabase Storage rejects SUPABASE_SERVICE_ROLE_KEY; it has to be the project's service_role key or a secret key (sb_secret_...)"}
	case status == http.StatusNotFound && own:
		return gone()
	case status >= 300 && status < 400:
		return unavailable("SUPABASE_URL redirects to another address, which is not asked")
	}
	return unavailable("Supabase Storage answers with status %d; if that stays so, see whether SUPABASE_URL is the project's", status)
}

// answer is the body of one, as it comes.
type answer struct {
	caller   context.Context
	ctx      context.Context
	cancel   context.CancelCauseFunc
	body     io.ReadCloser
	most     int64 // bytes that may come
	got      int64
	timer    *time.Timer
	patience time.Duration
	owed     int           // bytes that have to come
	wait     time.Duration // in this time; what the reader takes does not count
	failed   error
}

// Read implements io.Reader.
func (a *answer) Read(p []byte) (n int, err error) {
	if a.failed != nil {
		return 0, a.failed
	}
	left := a.most - a.got
	if int64(len(p)) > left+1 {
		p = p[:left+1]
	}
	began := time.Now()
	a.timer.Reset(a.wait)
	n, err = a.body.Read(p)
	a.timer.Stop()
	if a.owed -= n; a.owed <= 0 {
		a.owed, a.wait = pace, a.patience
	} else {
		a.wait -= time.Since(began)
	}
	switch {
	case int64(n) > left:
		n, a.failed = int(left), tooLarge(a.most)
	case err == io.EOF:
		a.failed = io.EOF
	case err != nil:
		a.failed = a.explain(err)
	}
	a.got += int64(n)
	return n, a.failed
}

// Close implements io.Closer.
func (a *answer) Close() error {
	a.timer.Stop()
	a.cancel(nil)
	return a.body.Close()
}

// explain gives an error of the network in words that quote nothing of the request.
func (a *answer) explain(err error) error {
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var timeout net.Error
	switch {
	case a.caller.Err() != nil:
		return a.caller.Err()
	case context.Cause(a.ctx) == errSlow, errors.As(err, &timeout) && timeout.Timeout():
		return unavailable("Supabase Storage did not answer in time")
	case errors.As(err, &name):
		return unavailable("the host of SUPABASE_URL is not found")
	case errors.As(err, &certificate):
		return unavailable("the certificate of SUPABASE_URL is not valid for its name")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return unavailable("the connection to Supabase Storage ended in the middle of the object")
	}
	return unavailable("the connection to Supabase Storage failed")
}
