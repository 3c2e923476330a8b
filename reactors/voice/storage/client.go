package storage

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/internal/trace"
)

const (
	dialTimeout = 10 * time.Second
	// policyTimeout bounds what a project's policies may take for one object. They
	// are an app's code: a user has 8 s in the Data API.
	policyTimeout = 5 * time.Second
	// patience is the time in which Storage has to bring its answer, and then each
	// next pace bytes of it. That ends a server that sends a byte now and then, and
	// not 100 MB over a line of 256 kbit/s, which takes an hour.
	patience = time.Minute
	pace     = 1 << 20
)

// Options say where Storage is.
type Options struct {
	URL string // SUPABASE_URL, such as https://ref.supabase.co
	// Key is SUPABASE_SERVICE_ROLE_KEY: the project's service_role key, which is a
	// JWT, or a secret one, sb_secret_..., which is none.
	Key  string
	HTTP *http.Client // nil: one of its own
}

// Client reads objects. Each error that is not its context's is an *Error.
type Client struct {
	pool     *pgxpool.Pool
	objects  string // the URL that objects are below
	key      string
	http     http.Client
	policies time.Duration
	patience time.Duration
}

// New makes a Client. Without a URL or a key, all it gives is NotConfigured. The
// pool's role may become authenticated and read auth.users.
func New(pool *pgxpool.Pool, o Options) *Client {
	c := &Client{pool: pool, key: strings.TrimSpace(o.Key), policies: policyTimeout, patience: patience}
	if u, err := url.Parse(strings.TrimSpace(o.URL)); err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == "" {
		c.objects = strings.TrimRight(u.String(), "/") + "/storage/v1/object/"
	}
	if o.HTTP != nil {
		c.http = *o.HTTP
	} else {
		c.http.Transport = trace.Transport(&http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
			TLSHandshakeTimeout:    dialTimeout,
			ForceAttemptHTTP2:      true,
			MaxResponseHeaderBytes: 64 << 10,
			// On a connection that is used again, a second answer to one request, which a
			// proxy may send, is taken for the answer to the next: another user's object.
			DisableKeepAlives: true,
			// What is not read yet is in memory too.
			HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: 512 << 10},
		})
	}
	// Where it leads to would be given the key.
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// Open gives an object of at most most bytes that the user may read. Its Read
// fails where the object is larger, or is cut short.
func (c *Client) Open(ctx context.Context, userID, path string, most int64) (io.ReadCloser, error) {
	o, size, err := c.look(ctx, userID, path)
	if err != nil {
		return nil, err
	}
	if size > most {
		return nil, tooLarge(most)
	}
	// Below /object/{bucket} a rejected key is that of a stranger, who finds nothing:
	// only here does Storage tell the two apart. Nor could a bucket's name be taken
	// for a route, such as sign.
	return c.send(ctx, http.MethodGet, c.objects+"authenticated/"+escape(o.bucket)+"/"+escape(o.name), "", most)
}

// token is a JWT.
var token = regexp.MustCompile(`^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$`)

// SignedURL gives a URL of an object that the user may read, for a provider, and
// the size that the object's row tells, in bytes, or -1. The URL is as secret as
// the object is.
func (c *Client) SignedURL(ctx context.Context, userID, path string, expires time.Duration) (signed string, size int64, err error) {
	o, size, err := c.look(ctx, userID, path)
	if err != nil {
		return "", 0, err
	}
	// The form for many takes the name as it is. That for one signs a name as it
	// finds it in the URL, where a question mark is escaped, and then does not know
	// the object by it.
	ask, err := json.Marshal(map[string]any{"expiresIn": max(1, int64(expires/time.Second)), "paths": []string{o.name}})
	if err != nil {
		return "", 0, err
	}
	body, err := c.send(ctx, http.MethodPost, c.objects+"sign/"+escape(o.bucket), string(ask), 64<<10)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = body.Close() }()
	var answers []struct {
		SignedURL *string `json:"signedURL"` // null: there is no such object
	}
	if err := json.NewDecoder(body).Decode(&answers); err != nil || len(answers) != 1 {
		if ctx.Err() != nil {
			return "", 0, ctx.Err()
		}
		return "", 0, unavailable("Supabase Storage did not answer with a signed URL")
	}
	if answers[0].SignedURL == nil {
		return "", 0, gone()
	}
	// Nothing but the token is taken from the answer, which leads nowhere else.
	got, ok := strings.CutPrefix(*answers[0].SignedURL, "/object/sign/"+o.bucket+"/"+o.name+"?token=")
	if !ok || !token.MatchString(got) {
		return "", 0, unavailable("Supabase Storage answered with a signed URL of something else")
	}
	return c.objects + "sign/" + escape(o.bucket) + "/" + escape(o.name) + "?token=" + got, size, nil
}

// look finds the object at a path, if the user may read it.
func (c *Client) look(ctx context.Context, userID, path string) (o object, size int64, err error) {
	if c == nil || c.objects == "" || c.key == "" {
		return o, 0, &Error{Code: NotConfigured, Message: "helixd reads no objects of Supabase Storage until SUPABASE_URL (https://...) and SUPABASE_SERVICE_ROLE_KEY are set", Retry: true}
	}
	if o.bucket, o.name, err = ParsePath(path); err != nil {
		return o, 0, err
	}
	size, err = c.find(ctx, userID, o)
	return o, size, err
}
