package outbound_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/outbound"
)

const key = "canary-c2a7be19f04d83561e77"

var service = &outbound.Service{Name: "some", Key: key, KeySetting: "SOME_KEY", URLSetting: "SOME_URL", ModelSetting: "SOME_MODEL", Sending: "the text", Later: "all is well"}

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		code   outbound.Code
		has    string // the Message has it, and Public has it not
		hasNot string
	}{
		"Anthropic's words":        {529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}`, outbound.Unavailable, `"Overloaded"`, ""},
		"a key in them":            {401, `{"error":{"message":"invalid x-api-key ` + key + `"}}`, outbound.Unauthorized, "***", key[:6]},
		"FastAPI's without input":  {422, `{"detail":[{"type":"missing","loc":["body","input",0],"msg":"Field required","input":{"prompt":"a secret"}}]}`, outbound.Rejected, "body.input.0: Field required", "a secret"},
		"an object for a message":  {400, `{"error":{"message":{"text":"a secret","message":"bad"}}}`, outbound.Rejected, `"bad"`, "a secret"},
		"an unpaid Anthropic":      {402, `{"error":{"type":"billing_error","message":"Pay."}}`, outbound.PaymentRequired, `"Pay."`, ""},
		"what is too long":         {400, `{"error":{"message":"prompt is too long: 2 tokens > 1 maximum"}}`, outbound.TooLarge, "make it shorter", ""},
		"a filter":                 {400, `{"error":{"code":"content_filter","message":"Filtered."}}`, outbound.Refused, "declines", ""},
		"a page of a proxy's":      {502, `<html>a secret</html>`, outbound.Unavailable, "502 Bad Gateway", "a secret"},
		"a link with a signature":  {400, `{"error":{"message":"see https://u:p@h/x?sig=abc"}}`, outbound.Rejected, "https://h/x", "abc"},
		"no more than is readable": {500, strings.Repeat("x ", 1000), outbound.Unavailable, "…", ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := service.Refused(c.status, http.Header{}, []byte(c.body))
			if e.Code != c.code || !strings.Contains(e.Message, c.has) || c.hasNot != "" && strings.Contains(e.Message, c.hasNot) || e.Status != c.status {
				t.Errorf("%+v", e)
			}
			if strings.Contains(e.Public(), `"`) || !strings.HasPrefix(e.Message, e.Public()[:10]) {
				t.Errorf("public is %s", e.Public())
			}
		})
	}
}

func TestUnknown(t *testing.T) {
	for body, want := range map[string]bool{
		`{"error":{"message":"Unrecognized request argument supplied: store","param":null}}`:                          true,
		`{"error":{"message":"No.","param":"store"}}`:                                                                 true,
		`{"error":{"message":"No.","param":"store.x"}}`:                                                               true,
		`{"detail":[{"loc":["body","store"],"msg":"Extra inputs are not permitted"}]}`:                                true,
		`{"error":{"message":"'store' is not supported by this model."}}`:                                             true,
		`{"error":{"message":"Unsupported parameter: store_all"}}`:                                                    false,
		`{"error":{"message":"Your store is full."}}`:                                                                 false,
		`{"error":{"message":"Unknown model","param":"model"}}`:                                                       false,
		`{"error":{"message":"Unrecognized request arguments supplied: safety_identifier, user","param":"messages"}}`: false,
	} {
		for _, status := range []int{400, 422, 500, 401} {
			if got := service.Refused(status, http.Header{}, []byte(body)).Unknown("store"); got != (want && (status == 400 || status == 422)) {
				t.Errorf("%d %s: %t", status, body, got)
			}
		}
	}
}

func TestGateOnDenial(t *testing.T) {
	for _, pauses := range []bool{true, false} {
		for status, denied := range map[int]bool{401: true, 404: true, 403: false, 400: false} {
			now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
			g := outbound.NewGate(func() time.Time { return now }, func() float64 { return 0 }, pauses)
			ask := func(e *outbound.Error) {
				t.Helper()
				probe, refusal := g.Enter()
				if refusal != nil {
					t.Fatal(refusal)
				}
				g.Leave(probe, e == nil, e, "owner")
			}
			e := service.Refused(status, http.Header{}, []byte(`{"error":{"message":"words of one user"}}`))
			for _, minutes := range []time.Duration{1, 2, 4, 8, 10, 10} {
				ask(e)
				at, why := g.Ready()
				if !pauses || !denied {
					if why != nil || g.Trouble() != nil {
						t.Errorf("%d pauses: %v", status, why)
					}
					continue
				}
				if _, refusal := g.Enter(); refusal == nil || refusal.Code != e.Code || refusal.Sent || !refusal.Retry || at != now.Add(minutes*time.Minute) {
					t.Fatalf("%d: %+v until %v", status, refusal, at)
				}
				for _, told := range []*outbound.Error{why, g.Trouble()} {
					if strings.Contains(told.Message, "words") {
						t.Errorf("all users are told %s", told.Message)
					}
				}
				now = at
			}
			ask(nil)
			if g.Trouble() != nil {
				t.Error("an answer does not end it")
			}
		}
	}
}

func TestTarget(t *testing.T) {
	for base, want := range map[string]string{
		"https://h": "https://h/v1/chat", "https://h/": "https://h/v1/chat", "https://h/v1": "https://h/v1/chat", "https://h/v1/": "https://h/v1/chat", "https://h/v1/chat": "https://h/v1/chat",
		"http://h:8/proxy/openai": "http://h:8/proxy/openai/v1/chat", "http://h/v2": "http://h/v2/chat",
		"h": "", "ftp://h": "", "http://": "", "http://u:p@h": "", "http://h?a": "", "http://h#a": "", "http://h:x": "", "": "",
	} {
		u, err := outbound.Target(base, "/chat")
		if (err != nil) != (want == "") || err == nil && u.String() != want {
			t.Errorf("%q is %v, %v", base, u, err)
		}
		if err != nil && base != "" && strings.Contains(err.Error(), "u:p") {
			t.Errorf("it quotes the URL: %v", err)
		}
	}
}

func TestSentence(t *testing.T) {
	for said, want := range map[string]string{"": "", "a": "A.", "it is spent": "It is spent.", "It is spent.": "It is spent.", "émile asks": "Émile asks."} {
		if got := outbound.Sentence(said); got != want {
			t.Errorf("%q is %q", said, got)
		}
	}
}

func TestInTheClear(t *testing.T) {
	for address, want := range map[string]bool{
		"https://ref.supabase.co": false, "http://ref.supabase.co": true, "HTTP://api.example.com/x": true, "http://8.8.8.8": true, "http://[2001:4860::8888]:80": true,
		"http://127.0.0.1:54321": false, "http://[::1]": false, "http://10.0.0.7": false, "http://192.168.1.2:8000": false, "http://[fe80::1]": false,
		"http://kong:8000": false, "http://host.docker.internal": false, "http://nas.local": false, "http://x.localhost": false, "": false, "::": false,
	} {
		if got := outbound.InTheClear(address); got != want {
			t.Errorf("%q: %v", address, got)
		}
	}
}
