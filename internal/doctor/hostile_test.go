package doctor_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/helixd/helixd/internal/phoenix"
)

// TestHostileRealtime: whoever answers at SUPABASE_URL neither holds doctor up nor
// has it print what it was sent.
func TestHostileRealtime(t *testing.T) {
	p := newPatient(t)
	const key = "sb_secret_canary-8d20f1a7c355"
	type asked struct {
		phoenix.Message
		Payload struct {
			Token string `json:"access_token"`
		} `json:"payload"`
	}
	reply := func(m asked, ref, status, reason string) map[string]any {
		return map[string]any{"topic": m.Topic, "event": "phx_reply", "ref": ref, "payload": map[string]any{"status": status, "response": map[string]any{"reason": reason}}}
	}
	for name, c := range map[string]struct {
		kind   string
		answer func(ctx context.Context, conn *websocket.Conn, m asked) error
	}{
		"it repeats the key and the token": {"own-topic-refused", func(ctx context.Context, conn *websocket.Conn, m asked) error {
			return wsjson.Write(ctx, conn, reply(m, *m.Ref, "error", "no: "+key+" "+m.Payload.Token+"\x1b[2J"))
		}},
		"it answers what nobody asked": {"unreachable", func(ctx context.Context, conn *websocket.Conn, m asked) error {
			return wsjson.Write(ctx, conn, reply(m, "0", "ok", ""))
		}},
		"it sends what is too large": {"unreachable", func(ctx context.Context, conn *websocket.Conn, m asked) error {
			return wsjson.Write(ctx, conn, reply(m, *m.Ref, "ok", strings.Repeat("x", 5<<20)))
		}},
		"it never ends": {"not-seen", func(ctx context.Context, conn *websocket.Conn, m asked) error {
			err := wsjson.Write(ctx, conn, reply(m, *m.Ref, "ok", ""))
			noise := fmt.Appendf(nil, `{"topic": %q, "event": "broadcast", "payload": {"event": "helixd_doctor", "payload": {"nonce": "%s"}}, "ref": null}`, m.Topic, strings.Repeat("x", 1000))
			for err == nil {
				err = conn.Write(ctx, websocket.MessageText, noise)
			}
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				conn, err := websocket.Accept(w, r, nil)
				if err != nil {
					return
				}
				defer func() { _ = conn.CloseNow() }()
				for err == nil {
					var m asked
					if err = wsjson.Read(r.Context(), conn, &m); err == nil && m.Event == "phx_join" {
						err = c.answer(r.Context(), conn, m)
					}
				}
			}))
			defer server.Close()
			config := p.config
			config.SupabaseURL, config.ServiceKey, config.JWTSecret, config.Timeout = server.URL, key, "a-secret-of-more-than-thirty-two-characters", 4*time.Second
			began := time.Now()
			found := examine(t, config, "realtime")
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
			if len(kinds(found, c.kind)) != 1 {
				t.Errorf("%+v", found)
			}
			for _, f := range found {
				if strings.Contains(f.Problem, key) || strings.Contains(f.Problem, "eyJ") || strings.Contains(f.Problem, "\x1b") || len(f.Problem) > 1000 {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}
