package provider_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/outbound"
	"github.com/helixd/helixd/reactors/outbound/outboundtest"
	"github.com/helixd/helixd/reactors/voice/provider"
	"github.com/helixd/helixd/reactors/voice/provider/providertest"
)

// TestStatus: each documented status, and those of proxies in between.
func TestStatus(t *testing.T) {
	type want struct {
		code  provider.Code
		retry bool
	}
	both := map[int]want{
		400: {provider.Rejected, false}, 401: {provider.Unauthorized, false}, 402: {provider.PaymentRequired, true}, 403: {provider.Unauthorized, false},
		404: {provider.NotFound, false}, 405: {provider.NotFound, false}, 408: {provider.Unavailable, true}, 409: {provider.Unavailable, true}, 411: {provider.Rejected, false},
		413: {provider.TooLarge, false}, 415: {provider.Rejected, false}, 418: {provider.Rejected, false}, 429: {provider.RateLimited, true},
		500: {provider.Unavailable, true}, 502: {provider.Unavailable, true}, 503: {provider.Unavailable, true}, 504: {provider.Unavailable, true}, 520: {provider.Unavailable, true}, 529: {provider.Unavailable, true},
	}
	each(t, func(t *testing.T, p provider.Provider, s *providertest.Server) {
		deepgram := strings.HasPrefix(p.Name(), "deepgram")
		all := map[int]want{422: {provider.Rejected, false}} // FastAPI's word for a request that it does not understand
		if deepgram {
			all[422] = want{provider.Unavailable, true}
		}
		for status, w := range both {
			all[status] = w
		}
		for status, w := range all {
			t.Run(fmt.Sprintf("%d is %s", status, w.code), func(t *testing.T) {
				before := s.Count()
				s.Script(providertest.Step{Status: status, Header: http.Header{"X-Request-Id": {"req-7"}}})
				_, err := p.Transcribe(within(t), request(wav(1, 1)))
				e := refusal(t, err)
				if e.Code != w.code || e.Retry != w.retry || e.Status != status || !e.Sent || e.After != 0 {
					t.Errorf("%+v", e)
				}
				if e.RequestID == "" || !strings.Contains(e.Message, fmt.Sprint(status)) {
					t.Errorf("nobody can find out more: %+v", e)
				}
				if s.Count() != before+1 {
					t.Errorf("it took %d requests", s.Count()-before)
				}
			})
		}
	})
}

func TestMessages(t *testing.T) {
	d := providertest.NewDeepgram(t)
	deepgram := provider.NewDeepgram(provider.Options{BaseURL: d.URL, Key: providertest.Key})
	o := providertest.NewOpenAI(t)
	openAI := provider.NewOpenAI(provider.Options{BaseURL: o.URL, Key: providertest.Key})
	fail := func(t *testing.T, p provider.Provider, s *providertest.Server, step providertest.Step) *provider.Error {
		s.Script(step)
		_, err := p.Transcribe(within(t), request(wav(1, 1)))
		return refusal(t, err)
	}
	for body, part := range map[string]string{
		`{"err_code":"Bad Request","err_msg":"Bad Request: failed to process audio: corrupt or unsupported data","request_id":"r-1"}`: `"Bad Request: failed to process audio: corrupt or unsupported data"`,
		`{"category":"INVALID_JSON","message":"Invalid JSON submitted.","details":"missing field","request_id":"r-1"}`:                `"Invalid JSON submitted: missing field"`,
		`<html><body><h1>400 Bad Request</h1></body></html>`:                                                                          `400 Bad Request`,
		``:            `400 Bad Request`,
		`plain words`: `"plain words"`,
		`{"err_msg":"a\u0000b\u001b[31m\nc\r\td"}`: `"ab[31m c d"`,
		`[1,2,3]`:       `"[1,2,3]"`,
		`{"err_msg":7}`: `"7"`,
		"\xff\xfe{":     `"{"`,
		`{"err_msg":"` + strings.Repeat("long ", 500) + `"}`: `long…"`,
	} {
		t.Run(fmt.Sprintf("of Deepgram: %.30q", body), func(t *testing.T) {
			if e := fail(t, deepgram, d, providertest.Step{Status: 400, Body: []byte(body)}); !strings.Contains(e.Message, part) || strings.Contains(body, "r-1") != (e.RequestID == "r-1") {
				t.Errorf("%+v", e)
			}
		})
	}
	for body, part := range map[string]string{
		`{"error":{"message":"m","type":"t","code":"c","param":null}}`:                         `"m"`,
		`{"error":{"message":"m","code":404}}`:                                                 `"m"`,
		`{"error":"a string"}`:                                                                 `"a string"`,
		`{"object":"error","message":"vllm","type":"BadRequestError","param":null,"code":400}`: `"vllm"`,
		`{"detail":"fastapi"}`:                                                                 `"fastapi"`,
		`{"detail":[{"loc":["body","file"],"msg":"field required"}]}`:                          `field required`,
	} {
		t.Run("of OpenAI: "+body, func(t *testing.T) {
			if e := fail(t, openAI, o, providertest.Step{Status: 400, Body: []byte(body)}); !strings.Contains(e.Message, part) {
				t.Errorf("%+v", e)
			}
		})
	}
	t.Run("an endless error is read for a while", func(t *testing.T) {
		if e := fail(t, deepgram, d, providertest.Step{Status: 500, Body: []byte(strings.Repeat("x", 4096)), Repeat: -1}); e.Code != provider.Unavailable {
			t.Error(e)
		}
	})
	t.Run("an account without quota has to pay, whatever the status says", func(t *testing.T) {
		if e := fail(t, openAI, o, providertest.Step{Status: 429, Body: outboundtest.Quota}); e.Code != provider.PaymentRequired || e.Status != 429 || !e.Retry {
			t.Errorf("%+v", e)
		}
	})
	t.Run("a wrong key is not told", func(t *testing.T) {
		// The server's own 401 has the ends of the key in it.
		e := fail(t, openAI, o, providertest.Step{Status: 401})
		if !strings.Contains(e.Message, "***") || !strings.Contains(e.Message, "HELIX_VOICE_KEY") || strings.Contains(e.Message, providertest.Key[len(providertest.Key)-4:]) {
			t.Error(e)
		}
	})
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "0": 0, "7": 7 * time.Second, " 30 ": 30 * time.Second, "3600": time.Hour, "3601": outbound.LongestAfter, "18446744073709551615": outbound.LongestAfter,
		"99999999999999999999": 0, "-5": 0, "soon": 0, "1e9": 0, "NaN": 0,
		now.Add(90 * time.Second).Format(http.TimeFormat): 90 * time.Second,
		now.Add(-time.Hour).Format(http.TimeFormat):       0,
		now.AddDate(100, 0, 0).Format(http.TimeFormat):    outbound.LongestAfter,
		now.Add(time.Minute).Format(time.RFC850):          time.Minute,
	} {
		t.Run(fmt.Sprintf("%q is %v", text, want), func(t *testing.T) {
			each(t, func(t *testing.T, p provider.Provider, s *providertest.Server) {
				s.Script(providertest.Step{Status: 429, Header: http.Header{"Retry-After": {text}, "Date": {now.Format(http.TimeFormat)}}})
				_, err := p.Transcribe(within(t), request(wav(0.1, 1)))
				if e := refusal(t, err); e.After != want {
					t.Errorf("after %v", e.After)
				}
			})
		})
	}
}
