package provider_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/voice/provider"
	"github.com/helixd/helixd/reactors/voice/provider/providertest"
)

func TestTranscribe(t *testing.T) {
	each(t, func(t *testing.T, p provider.Provider, s *providertest.Server) {
		t.Run("gives what was heard", func(t *testing.T) {
			audio := wav(6, 3)
			a, err := p.Transcribe(within(t), request(audio))
			if err != nil {
				t.Fatal(err)
			}
			valid(t, a)
			if a.Transcript != providertest.Transcript(audio) || a.Language != "en" || a.Duration != 6*time.Second || a.Confidence == nil {
				t.Errorf("%+v", a)
			}
			if len(a.Words) != 4 || a.Words[3].End != 6 || a.Words[0].Word != "audio" {
				t.Errorf("%+v", a.Words)
			}
			if got := s.Requests()[0]; got.SHA256 != sum(audio) || got.Bytes != int64(len(audio)) || got.Seconds != 6 || got.ContentType != "audio/wav" || got.Key != "key-1" {
				t.Errorf("the provider got %+v", got)
			}
		})
		t.Run("streams what is larger than a buffer", func(t *testing.T) {
			audio := wav(90, 5)
			a, err := p.Transcribe(within(t), request(audio))
			if err != nil || a.Transcript != providertest.Transcript(audio) {
				t.Errorf("%q, %v", a.Transcript, err)
			}
		})
		t.Run("sends original bytes with their media type", func(t *testing.T) {
			r := request([]byte("\x1aE\xdf\xa3 which nobody could decode"))
			r.ContentType = "audio/webm;codecs=opus"
			if _, err := p.Transcribe(within(t), r); err != nil {
				t.Fatal(err)
			}
			if got := s.Requests()[s.Count()-1]; got.ContentType != "audio/webm" {
				t.Errorf("it is sent as %q", got.ContentType)
			}
		})
		t.Run("refuses by itself what can be no request", func(t *testing.T) {
			before := s.Count()
			empty, large := request(nil), request(wav(1, 1))
			large.Size = p.MostBytes() + 1
			_, err := p.Transcribe(within(t), empty)
			if e := refusal(t, err); e.Code != provider.Rejected || e.Sent {
				t.Error(e)
			}
			_, err = p.Transcribe(within(t), large)
			if e := refusal(t, err); e.Code != provider.TooLarge || e.Retry || e.Sent {
				t.Error(e)
			}
			if s.Count() != before {
				t.Error("a request was made")
			}
		})
		t.Run("says that audio cannot be read", func(t *testing.T) {
			r := request(wav(1, 1))
			open := r.Open
			r.ContentType = "audio/webm" // whose length the provider does not know
			r.Open = func() (io.ReadCloser, error) { return nil, errors.New("the file is gone") }
			_, err := p.Transcribe(within(t), r)
			if e := refusal(t, err); e.Sent || !strings.Contains(e.Message, "the file is gone") {
				t.Error(e)
			}
			for _, wrong := range []int64{-100, 100} {
				r.Open, r.Size = open, request(wav(1, 1)).Size+wrong
				_, err = p.Transcribe(within(t), r)
				if e := refusal(t, err); e.Code != provider.Unavailable || !strings.Contains(e.Message, "than its size") {
					t.Errorf("%d bytes more are said: %v", wrong, e)
				}
			}
		})
		if problems := s.Problems(); len(problems) > 0 {
			t.Errorf("the provider found %q", problems)
		}
	})
}

func TestTranscribeLetsGoOfTheAudio(t *testing.T) {
	each(t, func(t *testing.T, p provider.Provider, s *providertest.Server) {
		// The server answers before it has read anything.
		s.Script(providertest.Step{Status: 401, Drop: providertest.BeforeBody})
		audio := wav(90, 1)
		r, tracked := request(audio), &tracked{Reader: bytes.NewReader(audio)}
		r.Open = func() (io.ReadCloser, error) { return tracked, nil }
		if _, err := p.Transcribe(within(t), r); err == nil {
			t.Error("there is an answer")
		}
		if !tracked.isClosed() {
			t.Error("the audio is still open")
		}
	})
}

func TestHTTP2(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Errorf("the protocol is %s", r.Proto)
		}
		if r.Header.Get("Idempotency-Key") == "early" {
			w.WriteHeader(http.StatusUnauthorized) // without reading
			return
		}
		if n, err := io.Copy(io.Discard, r.Body); err != nil || n != r.ContentLength {
			t.Errorf("%d bytes of %d: %v", n, r.ContentLength, err)
		}
		fmt.Fprint(w, `{"text":"heard"}`)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	p := provider.NewOpenAI(provider.Options{BaseURL: server.URL, Key: providertest.Key, HTTP: server.Client()})
	for key, code := range map[string]provider.Code{"whole": "", "early": provider.Unauthorized} {
		t.Run("sends "+key+" requests", func(t *testing.T) {
			audio := wav(120, 1)
			r, tracked := request(audio), &tracked{Reader: bytes.NewReader(audio)}
			r.Key = key
			r.Open = func() (io.ReadCloser, error) { return tracked, nil }
			a, err := p.Transcribe(within(t), r)
			if code == "" && (err != nil || a.Transcript != "heard") {
				t.Errorf("%v, %v", a, err)
			}
			if code != "" && refusal(t, err).Code != code {
				t.Error(err)
			}
			if !tracked.isClosed() {
				t.Error("the audio is still open")
			}
		})
	}
}

// tracked knows whether it is closed.
type tracked struct {
	*bytes.Reader
	mu     sync.Mutex
	closed bool
}

func (r *tracked) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return nil
}

func (r *tracked) isClosed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

func TestLanguage(t *testing.T) {
	for hint, want := range map[string][2]string{
		"": {"", ""}, "en": {"en", "en"}, "en-US": {"en-US", "en"}, "pt_BR": {"pt-BR", "pt"}, " de ": {"de", "de"}, "multi": {"multi", ""}, "zh-Hans-CN": {"zh-Hans-CN", "zh"},
		"yue": {"yue", "yue"}, "e": {"", ""}, "english language": {"", ""}, "en\r\nX: y": {"", ""}, "en&model=base": {"", ""}, "../..": {"", ""}, strings.Repeat("a-", 99): {"", ""}, "日本語": {"", ""},
	} {
		t.Run(fmt.Sprintf("%.20q is sent as %q", hint, want), func(t *testing.T) {
			d, o := providertest.NewDeepgram(t), providertest.NewOpenAI(t)
			for _, p := range []provider.Provider{
				provider.NewDeepgram(provider.Options{BaseURL: d.URL, Key: providertest.Key}),
				provider.NewOpenAI(provider.Options{BaseURL: o.URL, Key: providertest.Key}),
			} {
				r := request(wav(1, 1))
				r.Language = hint
				if _, err := p.Transcribe(within(t), r); err != nil {
					t.Fatal(err)
				}
			}
			q := d.Requests()[0].Query
			if q.Get("language") != want[0] || (q.Get("detect_language") == "true") != (want[0] == "") {
				t.Errorf("Deepgram got %v", q)
			}
			if form := o.Requests()[0].Form; form.Get("language") != want[1] {
				t.Errorf("OpenAI got %v", form)
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	s, d := providertest.NewOpenAI(t), providertest.NewDeepgram(t)
	host := strings.TrimSuffix(s.URL, "/v1")
	for _, base := range []string{host, host + "/", host + "/v1", host + "/v1/", " " + host + "/v1\n", host + "/v1/audio/transcriptions"} {
		t.Run(fmt.Sprintf("%q is one", strings.TrimPrefix(base, host)), func(t *testing.T) {
			if _, err := provider.NewOpenAI(provider.Options{BaseURL: base, Key: providertest.Key + "\n"}).Transcribe(within(t), request(wav(1, 1))); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("Deepgram's may have its version", func(t *testing.T) {
		if _, err := provider.NewDeepgram(provider.Options{BaseURL: d.URL + "/v1/", Key: providertest.Key}).Transcribe(within(t), request(wav(1, 1))); err != nil {
			t.Error(err)
		}
	})
	for _, base := range []string{"host", "localhost:8000/v1", "ftp://host/v1", "http://", "http://user:" + providertest.Key + "@host/v1", "http://host/v1?key=" + providertest.Key, "http://host/v1#" + providertest.Key, "http://" + providertest.Key + "%zz"} {
		t.Run(fmt.Sprintf("%.16q is none", base), func(t *testing.T) {
			_, err := provider.NewOpenAI(provider.Options{BaseURL: base}).Transcribe(within(t), request(wav(1, 1)))
			if e := refusal(t, err); e.Code != provider.Rejected || e.Sent {
				t.Error(e)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	t.Run("of OpenAI may be missing", func(t *testing.T) {
		got := make(chan http.Header, 1)
		local := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got <- r.Header
			fmt.Fprint(w, `{"text":"local"}`)
		}))
		defer local.Close()
		a, err := provider.NewOpenAI(provider.Options{BaseURL: local.URL}).Transcribe(within(t), request(wav(1, 1)))
		if err != nil || a.Transcript != "local" {
			t.Fatalf("%v, %v", a, err)
		}
		if h := <-got; h.Get("Authorization") != "" || h.Get("User-Agent") != "helixd" {
			t.Errorf("%v", h)
		}
	})
	t.Run("that are none are not sent", func(t *testing.T) {
		s := providertest.NewDeepgram(t)
		_, err := provider.NewDeepgram(provider.Options{BaseURL: s.URL, Key: providertest.Key + "\nX-Other: 1"}).Transcribe(within(t), request(wav(1, 1)))
		if e := refusal(t, err); e.Code != provider.Unauthorized || e.Sent || s.Count() > 0 {
			t.Error(e)
		}
	})
	t.Run("do not follow a redirect", func(t *testing.T) {
		each(t, func(t *testing.T, p provider.Provider, s *providertest.Server) {
			elsewhere := make(chan http.Header, 1)
			other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { elsewhere <- r.Header }))
			defer other.Close()
			for _, status := range []int{301, 302, 303, 307, 308} {
				s.Script(providertest.Step{Status: status, Header: http.Header{"Location": {other.URL + "/v1/listen?" + providertest.Key}}})
				_, err := p.Transcribe(within(t), request(wav(1, 1)))
				if e := refusal(t, err); e.Code != provider.NotFound || e.Status != status || e.Retry {
					t.Error(e)
				}
			}
			if len(elsewhere) > 0 {
				t.Errorf("it was followed with %v", <-elsewhere)
			}
		})
	})
	t.Run("are in no error, whatever a provider repeats", func(t *testing.T) {
		each(t, func(t *testing.T, p provider.Provider, s *providertest.Server) {
			key := providertest.Key
			for _, said := range []string{key, "Token " + key, "key=" + key + ".", "(" + key[:10] + "…)", key[:6] + "****" + key[len(key)-4:], "…" + key[len(key)-4:], "sk-proj-abcdefgh", `"` + key + `"`,
				"https://user:" + key + "@host/path?token=" + key + "#" + key, strings.Repeat("x", 5000) + key} {
				for _, body := range []any{map[string]any{"err_code": "X", "err_msg": said, "request_id": key}, map[string]any{"error": map[string]any{"message": "Incorrect API key provided: " + said}}, map[string]any{"detail": []any{map[string]any{"input": said}}}, said} {
					text, err := json.Marshal(body)
					if err != nil {
						t.Fatal(err)
					}
					for _, status := range []int{400, 401, 402, 429, 500} {
						s.Script(providertest.Step{Status: status, Body: text, Header: http.Header{"X-Request-Id": {"req-1"}}})
						_, err = p.Transcribe(within(t), request(wav(0.1, 1)))
						var e *provider.Error
						if !errors.As(err, &e) {
							t.Fatal(err)
						}
						noSecret(t, e.Message, e.RequestID)
						if strings.Contains(e.Message, key[len(key)-4:]) || strings.Contains(e.Message, "sk-proj") {
							t.Errorf("%q tells a part of a key", e.Message)
						}
					}
				}
			}
		})
	})
}

func TestDeepgramFetchesURLs(t *testing.T) {
	s := providertest.NewDeepgram(t)
	p := provider.NewDeepgram(provider.Options{BaseURL: s.URL, Key: providertest.Key})
	audio := wav(2, 9)
	objects := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("token") != "t&=1" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.Header().Set("Content-Type", "audio/wav")
		w.Write(audio) // the client's end says it
	}))
	defer objects.Close()
	t.Run("and hears what is there", func(t *testing.T) {
		a, err := p.Transcribe(within(t), provider.Request{URL: objects.URL + "/o?token=t%26%3D1", Key: "key-2"})
		if err != nil || a.Transcript != providertest.Transcript(audio) {
			t.Errorf("%q, %v", a.Transcript, err)
		}
	})
	t.Run("and says what it cannot fetch, without the signature", func(t *testing.T) {
		_, err := p.Transcribe(within(t), provider.Request{URL: objects.URL + "/o?token=" + providertest.Key})
		if e := refusal(t, err); e.Code != provider.Rejected || !strings.Contains(e.Message, "403 Forbidden") || e.RequestID == "" {
			t.Error(e)
		}
	})
}

func TestFileNames(t *testing.T) {
	s := providertest.NewOpenAI(t)
	p := provider.NewOpenAI(provider.Options{BaseURL: s.URL, Key: providertest.Key})
	for contentType, want := range map[string]string{
		"audio/wav": "audio.wav", "audio/x-wav": "audio.wav", "audio/webm;codecs=opus": "audio.webm", "video/webm": "audio.webm", "audio/ogg; codecs=opus": "audio.ogg", "AUDIO/MP4": "audio.mp4",
		"audio/x-m4a": "audio.m4a", "audio/mpeg": "audio.mp3", "audio/flac": "audio.flac",
		"": "audio.bin", "no type": "audio.bin", "audio/wav\r\nX-Other: 1": "audio.bin", `audio/"; filename="x`: "audio.bin",
	} {
		t.Run(fmt.Sprintf("of %q end so that OpenAI knows it", contentType), func(t *testing.T) {
			r := request(wav(0.1, 1))
			r.ContentType = contentType
			_, err := p.Transcribe(within(t), r)
			if got := s.Requests()[s.Count()-1]; got.FileName != want || got.SHA256 != sum(wav(0.1, 1)) {
				t.Errorf("it is %q as %q", got.FileName, got.ContentType)
			}
			if want != "audio.bin" && err != nil || want == "audio.bin" && refusal(t, err).Code != provider.Rejected {
				t.Error(err)
			}
		})
	}
}

func TestFormats(t *testing.T) {
	s := providertest.NewOpenAI(t)
	p := provider.NewOpenAI(provider.Options{BaseURL: s.URL, Key: providertest.Key, Model: "gpt-4o-transcribe"})
	t.Run("fall back to json where a model has no other", func(t *testing.T) {
		_, err := p.Transcribe(within(t), request(wav(1, 1)))
		if e := refusal(t, err); !e.Retry || e.Code != provider.BadAnswer || s.Count() != 1 {
			t.Fatalf("%v after %d requests", e, s.Count())
		}
		a, err := p.Transcribe(within(t), request(wav(1, 1)))
		if err != nil || a.Transcript != providertest.Transcript(wav(1, 1)) || a.Words != nil {
			t.Fatalf("%v, %v", a, err)
		}
	})
	t.Run("are remembered", func(t *testing.T) {
		for range 3 {
			if _, err := p.Transcribe(within(t), request(wav(1, 1))); err != nil {
				t.Fatal(err)
			}
		}
		var formats []string
		for _, r := range s.Requests() {
			formats = append(formats, r.Form.Get("response_format"))
		}
		if !slices.Equal(formats, []string{"verbose_json", "json", "json", "json", "json"}) {
			t.Error(formats)
		}
	})
	t.Run("are not changed by another refusal", func(t *testing.T) {
		s := providertest.NewOpenAI(t)
		p := provider.NewOpenAI(provider.Options{BaseURL: s.URL, Key: providertest.Key})
		s.Script(providertest.Step{Status: 400})
		_, err := p.Transcribe(within(t), request(wav(1, 1)))
		if e := refusal(t, err); e.Code != provider.Rejected || s.Count() != 1 {
			t.Errorf("%v after %d requests", e, s.Count())
		}
	})
}

func TestSent(t *testing.T) {
	t.Run("is false where nobody listens", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := listener.Addr().String()
		listener.Close() // so that the port is free
		for _, p := range []provider.Provider{
			provider.NewDeepgram(provider.Options{BaseURL: "http://" + address, Key: providertest.Key}),
			provider.NewOpenAI(provider.Options{BaseURL: "https://" + address, Key: providertest.Key}),
			provider.NewOpenAI(provider.Options{BaseURL: "http://" + address, Key: providertest.Key, HTTP: &http.Client{}}),
		} {
			_, err = p.Transcribe(within(t), request(wav(1, 1)))
			if e := refusal(t, err); e.Code != provider.Unavailable || e.Sent || !e.Retry || strings.Contains(e.Message, address) {
				t.Errorf("%+v", e)
			}
		}
	})
	t.Run("is false where the server is another than its certificate says", func(t *testing.T) {
		other := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was asked") }))
		other.Config.ErrorLog = log.New(io.Discard, "", 0) // of the client's refusal
		other.StartTLS()
		defer other.Close()
		_, err := provider.NewOpenAI(provider.Options{BaseURL: other.URL, Key: providertest.Key}).Transcribe(within(t), request(wav(1, 1)))
		if e := refusal(t, err); e.Code != provider.Unavailable || e.Sent || !strings.Contains(e.Message, "certificate") {
			t.Errorf("%+v", e)
		}
	})
	t.Run("is true once a connection has it", func(t *testing.T) {
		each(t, func(t *testing.T, p provider.Provider, s *providertest.Server) {
			for _, drop := range []providertest.Drop{providertest.BeforeBody, providertest.WithinBody, providertest.AfterBody, providertest.WithinAnswer} {
				before := s.Count()
				s.Script(providertest.Step{Drop: drop})
				_, err := p.Transcribe(within(t), request(wav(60, 1)))
				if e := refusal(t, err); e.Code != provider.Unavailable || !e.Sent || !e.Retry {
					t.Errorf("dropped at %d: %+v", drop, e)
				}
				if n := s.Count() - before; n != 1 {
					t.Errorf("dropped at %d: it was sent %d times", drop, n)
				}
			}
		})
	})
	t.Run("on a connection that was used before, it is sent once", func(t *testing.T) {
		// net/http would repeat it by itself, having an Idempotency-Key.
		each(t, func(t *testing.T, p provider.Provider, s *providertest.Server) {
			for range 5 {
				if _, err := p.Transcribe(within(t), request(wav(1, 1))); err != nil {
					t.Fatal(err)
				}
				before := s.Count()
				s.Script(providertest.Step{Drop: providertest.AfterBody})
				_, err := p.Transcribe(within(t), request(wav(1, 1)))
				if e := refusal(t, err); !e.Sent || s.Count()-before != 1 {
					t.Errorf("%+v, sent %d times", e, s.Count()-before)
				}
			}
		})
	})
}

func TestTime(t *testing.T) {
	t.Run("ends with the caller's context", func(t *testing.T) {
		each(t, func(t *testing.T, p provider.Provider, s *providertest.Server) {
			s.Always(func(providertest.Request) providertest.Step { return providertest.Step{Hold: make(chan struct{})} })
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				s.Await(within(t), 1) // the test fails below if not
				cancel()
			}()
			if _, err := p.Transcribe(ctx, request(wav(1, 1))); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	})
	t.Run("of an answer is bounded", func(t *testing.T) {
		s := providertest.NewDeepgram(t)
		s.Always(func(providertest.Request) providertest.Step { return providertest.Step{Hold: make(chan struct{})} })
		p := provider.NewDeepgram(provider.Options{BaseURL: s.URL, Key: providertest.Key, Timeout: 50 * time.Millisecond})
		_, err := p.Transcribe(within(t), request(wav(0.5, 1)))
		if e := refusal(t, err); e.Code != provider.Unavailable || !strings.Contains(e.Message, "in time") {
			t.Error(e)
		}
	})
	t.Run("of an answer that drips is bounded", func(t *testing.T) {
		s := providertest.NewOpenAI(t)
		s.Script(providertest.Step{Pace: 5 * time.Millisecond, Repeat: -1, Body: []byte(" ")})
		p := provider.NewOpenAI(provider.Options{BaseURL: s.URL, Key: providertest.Key, Timeout: 50 * time.Millisecond})
		_, err := p.Transcribe(within(t), request(wav(0.5, 1)))
		if e := refusal(t, err); e.Code != provider.Unavailable {
			t.Error(e)
		}
	})
	t.Run("is taken by a slow answer that comes", func(t *testing.T) {
		each(t, func(t *testing.T, p provider.Provider, s *providertest.Server) {
			s.Script(providertest.Step{Pace: 100 * time.Microsecond})
			if a, err := p.Transcribe(within(t), request(wav(1, 1))); err != nil || a.Transcript != providertest.Transcript(wav(1, 1)) {
				t.Errorf("%v, %v", a, err)
			}
		})
	})
}
