package storage_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/voice/storage"
	"github.com/helixd/helixd/reactors/voice/storage/storagetest"
)

// readable is a project with an object public/x that its user may read.
func readable(t testing.TB, content string) (p *project, user string) {
	t.Helper()
	p = newProject(t)
	p.policy(t, "public_one", publicOne)
	p.put(t, "public", "x", "", content)
	return p, p.user(t)
}

func TestKeys(t *testing.T) {
	p, user := readable(t, "content")
	for name, key := range map[string]string{"a service_role key": p.server.ServiceRoleKey, "a secret key": p.server.SecretKey, "a key from a file": p.server.SecretKey + "\n"} {
		t.Run(name+" opens", func(t *testing.T) {
			c := p.new(t, key, nil)
			if got, err := read(t.Context(), c, user, "public/x"); err != nil || got != "content" {
				t.Errorf("%q, %v", got, err)
			}
			if _, _, err := c.SignedURL(t.Context(), user, "public/x", time.Minute); err != nil {
				t.Error(err)
			}
		})
	}
	for name, key := range map[string]string{"another project's key": "eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoic2VydmljZV9yb2xlIn0.c2lnbmF0dXJl", "a deleted key": "sb_secret_deleted", "half a key": p.server.ServiceRoleKey[:20]} {
		t.Run(name+" is rejected", func(t *testing.T) {
			c := p.new(t, key, nil)
			_, err := read(t.Context(), c, user, "public/x")
			is(t, err, storage.KeyRejected, false)
			_, _, err = c.SignedURL(t.Context(), user, "public/x", time.Minute)
			is(t, err, storage.KeyRejected, false)
		})
	}
}

func TestNotConfigured(t *testing.T) {
	p, user := readable(t, "content")
	var none *storage.Client
	for name, c := range map[string]*storage.Client{
		"nil":        none,
		"no URL":     storage.New(p.pool, storage.Options{Key: "key"}),
		"no key":     storage.New(p.pool, storage.Options{URL: p.server.URL, Key: " "}),
		"no scheme":  storage.New(p.pool, storage.Options{URL: "ref.supabase.co", Key: "key"}),
		"a database": storage.New(p.pool, storage.Options{URL: "postgres://ref.supabase.co", Key: "key"}),
		"a password": storage.New(p.pool, storage.Options{URL: "https://a:canary@ref.supabase.co", Key: "key"}),
		"no host":    storage.New(p.pool, storage.Options{URL: "https://", Key: "key"}),
		"no URL %":   storage.New(p.pool, storage.Options{URL: "https://%zz", Key: "key"}),
		"a query":    storage.New(p.pool, storage.Options{URL: "https://ref.supabase.co/?apikey=canary", Key: "key"}),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.Open(t.Context(), user, "public/x", most)
			is(t, err, storage.NotConfigured, true)
			_, _, err = c.SignedURL(t.Context(), user, "public/x", time.Minute)
			is(t, err, storage.NotConfigured, true)
			if strings.Contains(err.Error(), "canary") {
				t.Error(err)
			}
		})
	}
}

func TestSignedURL(t *testing.T) {
	p, user := readable(t, "content")
	for _, name := range []string{"x", "2026/a b.webm", "what?.webm", "!-.*'() &$@=;:+,?_", "a&token=b"} {
		p.put(t, "public", name, "", "content of "+name)
		signed, size, err := p.client.SignedURL(t.Context(), user, "public/"+name, time.Minute)
		if err != nil || size != int64(len("content of "+name)) || !strings.HasPrefix(signed, p.server.URL+"/storage/v1/object/sign/public/") {
			t.Errorf("%q: %s, %d, %v", name, signed, size, err)
			continue
		}
		resp, err := http.Get(signed) // as a provider, without a key
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(resp.Body)
		if err = errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode != http.StatusOK || string(content) != "content of "+name {
			t.Errorf("%q gives %d %q, %v", name, resp.StatusCode, content, err)
		}
	}
	t.Run("opens nothing else", func(t *testing.T) {
		signed, _, err := p.client.SignedURL(t.Context(), user, "public/x", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.Get(strings.Replace(signed, "/public/x?", "/public/what%3F.webm?", 1))
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusBadRequest {
			t.Error(resp.Status, err)
		}
	})
	t.Run("tells no size where there is none", func(t *testing.T) {
		for _, metadata := range []string{"null", `'{}'`, `'{"size": "x"}'`, `'{"size": 1e30}'`, `'{"size": -1}'`, `'[]'`} {
			p.db.Exec(t, "supabase_storage_admin", "update storage.objects set metadata = "+metadata+" where name = 'x'")
			if _, size, err := p.client.SignedURL(t.Context(), user, "public/x", time.Minute); err != nil || size != -1 {
				t.Errorf("%s: %d, %v", metadata, size, err)
			}
			if _, err := p.client.Open(t.Context(), user, "public/x", most); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("of something else is refused", func(t *testing.T) {
		const good = "eyJh.eyJ1.c2ln"
		for _, said := range []string{
			`[{"signedURL": "/object/sign/public/y?token=` + good + `"}]`, `[{"signedURL": "https://evil.example/object/sign/public/x?token=` + good + `"}]`,
			`[{"signedURL": "//evil.example/object/sign/public/x?token=` + good + `"}]`, `[{"signedURL": "/object/sign/public/x?token=a/../../b"}]`,
			`[{"signedURL": "/object/sign/public/x?token=` + good + `&x=y"}]`, `[{"signedURL": "/object/sign/public/x?token=` + good + `#"}]`, `[{"signedURL": "/object/sign/public/x"}]`, `[{"signedURL": "@evil.example/object/sign/public/x?token=` + good + `"}]`,
			`[{"signedURL": ""}]`, `[]`, `[{}, {}]`, `{}`, `"`, ``, `<html>`, strings.Repeat(" ", 100_000) + `[{"signedURL": "/object/sign/public/x?token=` + good + `"}]`,
		} {
			p.server.Fail(func(w http.ResponseWriter, _ *http.Request, _ []byte) { _, _ = io.WriteString(w, said) })
			signed, _, err := p.client.SignedURL(t.Context(), user, "public/x", time.Minute)
			is(t, err, storage.Unavailable, true)
			if signed != "" || err != nil && strings.Contains(err.Error(), good) {
				t.Errorf("%s gives %s, %v", said, signed, err)
			}
		}
		p.server.Fail(func(w http.ResponseWriter, _ *http.Request, _ []byte) {
			_, _ = io.WriteString(w, `[{"signedURL": "/object/sign/public/x?token=`+good+`"}]`)
		})
		if signed, _, err := p.client.SignedURL(t.Context(), user, "public/x", time.Minute); err != nil || signed != p.server.URL+"/storage/v1/object/sign/public/x?token="+good {
			t.Errorf("%s, %v", signed, err)
		}
	})
}

func TestSizes(t *testing.T) {
	p, user := readable(t, "")
	whole := strings.Repeat("0123456789abcdef", most/16)
	for name, c := range map[string]struct {
		content string
		fault   storagetest.Fault
		lie     string
		code    storage.Code
	}{
		"nothing is read":                                   {"", nil, "", ""},
		"the most is read":                                  {whole, nil, "", ""},
		"the most is read where no length is told":          {whole, storagetest.Chunked(1), "", ""},
		"more is too large":                                 {whole + "x", nil, "", storage.TooLarge},
		"more than a row tells is too large":                {whole + "x", nil, "1", storage.TooLarge},
		"more than anything tells is too large":             {whole, storagetest.Chunked(1 << 20), "1", storage.TooLarge},
		"what a row says is too large is not even asked":    {"x", storagetest.Silence, "1048577", storage.TooLarge},
		"less than a row tells is whole where Storage says": {"x", nil, "1000", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p.put(t, "public", "x", "", c.content)
			if c.lie != "" {
				p.db.Exec(t, "supabase_storage_admin", `update storage.objects set metadata = jsonb_build_object('size', $1::text::bigint)`, c.lie)
			}
			p.server.Fail(c.fault)
			got, err := read(t.Context(), p.client, user, "public/x")
			if c.code == "" {
				if err != nil || got != c.content {
					t.Errorf("%d bytes, %v", len(got), err)
				}
				return
			}
			is(t, err, c.code, false)
			if len(got) > most {
				t.Errorf("%d bytes are given", len(got))
			}
		})
	}
}

func TestFaults(t *testing.T) {
	p, user := readable(t, strings.Repeat("0123456789abcdef", 4096))
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	endless := map[string]bool{"silence": true, "a body that stops": true, "a byte now and then": true}
	for name, c := range map[string]struct {
		fault storagetest.Fault
		code  storage.Code
		retry bool
	}{
		"500":                            {storagetest.Refuse(500, "InternalError"), storage.Unavailable, true},
		"502 of a gateway":               {storagetest.Status(502), storage.Unavailable, true},
		"503":                            {storagetest.Status(503), storage.Unavailable, true},
		"429":                            {storagetest.Status(429), storage.Unavailable, true},
		"429 in the body":                {storagetest.Refuse(429, "SlowDown"), storage.Unavailable, true},
		"544, of Storage's database":     {storagetest.Refuse(544, "DatabaseTimeout"), storage.Unavailable, true},
		"400 of nobody knows":            {storagetest.Status(400), storage.Unavailable, true},
		"404 of another server":          {storagetest.Status(404), storage.Unavailable, true},
		"404 of Storage":                 {storagetest.Refuse(404, "NoSuchKey"), storage.Forbidden, false},
		"401":                            {storagetest.Status(401), storage.KeyRejected, false},
		"403":                            {storagetest.Status(403), storage.KeyRejected, false},
		"403 in the body":                {storagetest.Refuse(403, "AccessDenied"), storage.KeyRejected, false},
		"400 InvalidJWT":                 {storagetest.Refuse(400, "InvalidJWT"), storage.KeyRejected, false},
		"a part that was not asked for":  {storagetest.Status(206), storage.Unavailable, true},
		"a redirect":                     {storagetest.Redirect(other.URL), storage.Unavailable, true},
		"a body that is cut off":         {storagetest.CutOff(false), storage.Unavailable, true},
		"a chunked body that is cut off": {storagetest.CutOff(true), storage.Unavailable, true},
		"a body that ends when it ends":  {storagetest.Unframed, storage.Unavailable, true},
		"gzip":                           {storagetest.Gzip, storage.Unavailable, true},
		"silence":                        {storagetest.Silence, storage.Unavailable, true},
		"a body that stops":              {storagetest.Stall, storage.Unavailable, true},
		"a byte now and then":            {storagetest.Drip(20 * time.Millisecond), storage.Unavailable, true},
	} {
		t.Run(name, func(t *testing.T) {
			p.client.SetPatience(time.Minute, time.Minute)
			if endless[name] {
				p.client.SetPatience(time.Minute, 500*time.Millisecond)
			}
			p.server.Fail(c.fault)
			_, err := read(t.Context(), p.client, user, "public/x")
			is(t, err, c.code, c.retry)
		})
	}
	if elsewhere.Load() != 0 {
		t.Error("the redirect was followed")
	}
	t.Run("no server", func(t *testing.T) {
		other.Close()
		c := storage.New(p.pool, storage.Options{URL: other.URL, Key: "k"})
		_, err := read(t.Context(), c, user, "public/x")
		is(t, err, storage.Unavailable, true)
	})
	t.Run("no such host", func(t *testing.T) {
		c := storage.New(p.pool, storage.Options{URL: "http://storage.invalid", Key: "k"})
		_, err := read(t.Context(), c, user, "public/x")
		is(t, err, storage.Unavailable, true)
	})
	t.Run("another's certificate", func(t *testing.T) {
		wrong := httptest.NewUnstartedServer(http.NotFoundHandler())
		wrong.Config.ErrorLog = log.New(io.Discard, "", 0)
		wrong.StartTLS()
		defer wrong.Close()
		c := storage.New(p.pool, storage.Options{URL: wrong.URL, Key: "k"})
		_, err := read(t.Context(), c, user, "public/x")
		is(t, err, storage.Unavailable, true)
	})
}

func TestPatience(t *testing.T) {
	p, user := readable(t, strings.Repeat("x", 200))
	t.Run("does not end a reader that takes its time", func(t *testing.T) {
		p.put(t, "public", "large", "", strings.Repeat("x", most)) // no buffer has it all
		p.client.SetPatience(time.Minute, 2*time.Second)
		body, err := p.client.Open(t.Context(), user, "public/large", most)
		if err != nil {
			t.Fatal(err)
		}
		first := make([]byte, 1)
		if _, err := io.ReadFull(body, first); err != nil {
			t.Fatal(err)
		}
		<-time.After(3 * time.Second) // the reader's own
		content, err := io.ReadAll(body)
		if err = errors.Join(err, body.Close()); err != nil || len(content) != most-1 {
			t.Errorf("%d bytes, %v", len(content), err)
		}
	})
	t.Run("begins anew with each megabyte", func(t *testing.T) {
		const size = 4 << 20
		p.put(t, "public", "long", "", strings.Repeat("x", size))
		p.client.SetPatience(time.Minute, 2*time.Second)
		p.server.Fail(func(w http.ResponseWriter, r *http.Request, body []byte) {
			tick := time.NewTicker(700 * time.Millisecond)
			defer tick.Stop()
			for len(body) > 0 {
				storagetest.Chunked(1)(w, r, body[:1<<20])
				body = body[1<<20:]
				<-tick.C
			}
		})
		body, err := p.client.Open(t.Context(), user, "public/long", size)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, body)
		if err = errors.Join(err, body.Close()); err != nil || n != size {
			t.Errorf("%d bytes, %v", n, err)
		}
		p.server.Fail(nil)
	})
	t.Run("ends with the caller", func(t *testing.T) {
		p.client.SetPatience(time.Minute, time.Minute)
		for name, fault := range map[string]storagetest.Fault{"before the answer": storagetest.Silence, "in the body": storagetest.Stall} {
			ctx, cancel := context.WithCancel(t.Context())
			p.server.Fail(func(w http.ResponseWriter, r *http.Request, body []byte) {
				time.AfterFunc(100*time.Millisecond, cancel)
				fault(w, r, body)
			})
			if _, err := read(ctx, p.client, user, "public/x"); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", name, err)
			}
			cancel()
		}
	})
	t.Run("ends what is closed before its end", func(t *testing.T) {
		gone := make(chan struct{})
		p.server.Fail(func(w http.ResponseWriter, r *http.Request, body []byte) {
			storagetest.Stall(w, r, body)
			close(gone)
		})
		body, err := p.client.Open(t.Context(), user, "public/x", most)
		if err != nil {
			t.Fatal(err)
		}
		if err := body.Close(); err != nil {
			t.Error(err)
		}
		<-gone
	})
}

// TestHTTP2 is what hosted projects speak.
func TestHTTP2(t *testing.T) {
	p, user := readable(t, strings.Repeat("0123456789abcdef", 4096))
	to, err := url.Parse(p.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewUnstartedServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		if r.In.ProtoMajor != 2 {
			t.Error(r.In.Proto)
		}
		r.SetURL(to)
	}, ErrorLog: log.New(io.Discard, "", 0)})
	front.EnableHTTP2 = true
	front.StartTLS()
	defer front.Close()
	c := storage.New(p.pool, storage.Options{URL: front.URL, Key: p.server.SecretKey, HTTP: front.Client()})
	c.SetPatience(time.Minute, 2*time.Second)
	for name, f := range map[string]struct {
		fault storagetest.Fault
		whole bool
	}{"as it should": {nil, true}, "without a length": {storagetest.Chunked(1), true}, "cut off": {storagetest.CutOff(false), false}, "cut off without a length": {storagetest.CutOff(true), false}, "stopping": {storagetest.Stall, false}} {
		p.server.Fail(f.fault)
		got, err := read(t.Context(), c, user, "public/x")
		if f.whole {
			if err != nil || len(got) != 65536 {
				t.Errorf("%s: %d bytes, %v", name, len(got), err)
			}
			continue
		}
		is(t, err, storage.Unavailable, true)
	}
}

// TestSecrets: whatever goes wrong, no error repeats the key, a token or a URL.
func TestSecrets(t *testing.T) {
	p, user := readable(t, "content")
	const canary = "canary"
	for _, key := range []string{"sb_secret_" + canary, "eyJh." + canary + ".c2ln", canary + "\x00", canary + "\r\nX: y"} {
		for name, h := range map[string]http.HandlerFunc{
			"echo": func(w http.ResponseWriter, r *http.Request) { http.Error(w, r.Header.Get("apikey"), 500) },
			"message": func(w http.ResponseWriter, r *http.Request) {
				http.Error(w, `{"statusCode": "403", "code": "`+canary+`", "message": "`+canary+`"}`, 400)
			},
			"status": func(w http.ResponseWriter, r *http.Request) {
				http.Error(w, `{"statusCode": "`+canary+`", "message": "`+canary+`"}`, 400)
			},
			"redirect": func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "https://evil.example/"+canary, http.StatusFound)
			},
			"header": func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Content-Encoding", canary) },
			"sign": func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, `[{"signedURL": "/object/sign/public/y?token=`+canary+`"}]`)
			},
			"hang up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		} {
			server := httptest.NewServer(h)
			c := storage.New(p.pool, storage.Options{URL: server.URL + "/" + canary, Key: key})
			_, opened := read(t.Context(), c, user, "public/x")
			_, _, signed := c.SignedURL(t.Context(), user, "public/x", time.Minute)
			for _, err := range []error{opened, signed} {
				if name == "sign" && err == nil {
					continue // to Open it is a content
				}
				var e *storage.Error
				var u *url.Error
				if !errors.As(err, &e) || errors.As(err, &u) || strings.Contains(err.Error(), canary) || strings.Contains(err.Error(), server.URL) {
					t.Errorf("%s: %v", name, err)
				}
			}
			server.Close()
		}
	}
}
