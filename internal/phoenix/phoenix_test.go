package phoenix_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/uuid"

	"github.com/helixd/helixd/internal/phoenix"
	"github.com/helixd/helixd/internal/phoenix/phoenixtest"
	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const patience = 30 * time.Second

func dial(t *testing.T, o phoenix.Options) *phoenix.Client {
	t.Helper()
	c, err := phoenix.Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestChannels(t *testing.T) {
	db := testenv.New(t)
	db.Exec(t, "postgres", reactors.BroadcastPolicies)
	server := phoenixtest.New(t, db.URL("supabase_admin"))
	alice := uuid.NewString()
	token := server.Token(map[string]any{"sub": alice, "role": "authenticated"})
	client := dial(t, phoenix.Options{URL: server.URL, Key: server.ServiceKey})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	t.Run("HearsWhatTheDatabaseSends", func(t *testing.T) {
		own, err := client.Join(ctx, "helix:"+alice, phoenix.JoinOptions{Private: true, AccessToken: token})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"one", "two"} {
			db.Exec(t, "postgres", "select realtime.send(jsonb_build_object('text', $1::text), 'memories', $2::text, true)", text, "helix:"+alice)
			b, err := own.Receive(ctx)
			var payload struct{ Text string }
			if err != nil || b.Event != "memories" || json.Unmarshal(b.Payload, &payload) != nil || payload.Text != text {
				t.Errorf("heard %s %s, %v", b.Event, b.Payload, err)
			}
		}
		if _, err := client.Join(ctx, "helix:"+alice, phoenix.JoinOptions{}); err == nil {
			t.Error("it was joined twice")
		}
		if err := own.Leave(ctx); err != nil {
			t.Error(err)
		}
		if !slices.Contains(server.Seen(), "phx_leave") {
			t.Error("the server does not know that it was left")
		}
	})
	t.Run("SaysWhyAJoinIsRefused", func(t *testing.T) {
		var refused *phoenix.RefusedError
		_, err := client.Join(ctx, "helix:"+uuid.NewString(), phoenix.JoinOptions{Private: true, AccessToken: token})
		if !errors.As(err, &refused) || !strings.Contains(refused.Reason, "do not have permissions") {
			t.Errorf("another user's topic: %v", err)
		}
		_, err = client.Join(ctx, "helix:"+alice, phoenix.JoinOptions{Private: true, AccessToken: token + "x"})
		if !errors.As(err, &refused) || !strings.Contains(refused.Reason, "JWT") {
			t.Errorf("a token that is not the project's: %v", err)
		}
	})
	t.Run("KeyIsRefusedAndNotQuoted", func(t *testing.T) {
		_, err := phoenix.Dial(ctx, phoenix.Options{URL: server.URL, Key: "canary-4f1d"})
		var status *phoenix.StatusError
		if !errors.As(err, &status) || status.Status != http.StatusForbidden || strings.Contains(err.Error(), "canary") {
			t.Errorf("%v", err)
		}
		_, err = phoenix.Dial(ctx, phoenix.Options{URL: "http://127.0.0.1:1", Key: "canary-4f1d"})
		if err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%v", err)
		}
		for _, base := range []string{"", "ftp://host", "host"} {
			if _, err := phoenix.Dial(ctx, phoenix.Options{URL: base, Key: "canary-4f1d"}); err == nil {
				t.Errorf("connected to %q", base)
			}
		}
	})
	t.Run("BeatsWhileItIsSilent", func(t *testing.T) {
		dial(t, phoenix.Options{URL: server.URL, Key: server.ServiceKey, Heartbeat: 10 * time.Millisecond})
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for !slices.Contains(server.Seen(), "heartbeat") {
			select {
			case <-tick.C:
			case <-ctx.Done():
				t.Fatal("no heartbeat came")
			}
		}
	})
}

// script is a server that does what a test says with each message, by its event.
func script(t *testing.T, do func(ctx context.Context, conn *websocket.Conn, m phoenix.Message)) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow() //nolint:errcheck // it may be closed already
		for {
			_, data, err := conn.Read(r.Context())
			if err != nil {
				return
			}
			m, err := phoenix.Decode(data)
			if err != nil {
				t.Error(err)
				return
			}
			do(r.Context(), conn, m)
		}
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server.URL
}

func send(t *testing.T, ctx context.Context, conn *websocket.Conn, text string) {
	if err := conn.Write(ctx, websocket.MessageText, []byte(text)); err != nil && ctx.Err() == nil {
		t.Error(err)
	}
}

func TestOddServers(t *testing.T) {
	ok := func(m phoenix.Message) string {
		return `{"topic":"` + m.Topic + `","event":"phx_reply","payload":{"status":"ok","response":{}},"ref":"` + *m.Ref + `"}`
	}
	for name, c := range map[string]struct {
		do      func(*testing.T, context.Context, *websocket.Conn, phoenix.Message)
		joins   bool
		wants   string
		refused bool
	}{
		"ClosesTheChannel": {func(t *testing.T, ctx context.Context, conn *websocket.Conn, m phoenix.Message) {
			send(t, ctx, conn, ok(m))
			send(t, ctx, conn, `{"topic":"`+m.Topic+`","event":"phx_close","payload":{},"ref":null}`)
		}, true, "closed the channel (phx_close)", false},
		"EndsTheConnection": {func(t *testing.T, ctx context.Context, conn *websocket.Conn, m phoenix.Message) {
			send(t, ctx, conn, ok(m))
			_ = conn.Close(websocket.StatusGoingAway, "bye")
		}, true, "is lost", false},
		"SpeaksSomethingElse": {func(t *testing.T, ctx context.Context, conn *websocket.Conn, m phoenix.Message) {
			send(t, ctx, conn, ok(m))
			send(t, ctx, conn, "hello")
		}, true, "decode a message", false},
		"RefusesWithAnObject": {func(t *testing.T, ctx context.Context, conn *websocket.Conn, m phoenix.Message) {
			send(t, ctx, conn, `{"topic":"x","event":"phx_reply","payload":{"status":"error","response":{"reason":{"a":1}}},"ref":"`+*m.Ref+`"}`)
		}, false, "refuses to join", true},
		"AnswersSomebodyElse": {func(t *testing.T, ctx context.Context, conn *websocket.Conn, m phoenix.Message) {
			send(t, ctx, conn, `{"topic":"x","event":"phx_reply","payload":{"status":"ok"},"ref":"99"}`)
			send(t, ctx, conn, `{"topic":"x","event":"phx_reply","payload":{"status":"ok"},"ref":null}`)
			_ = conn.Close(websocket.StatusGoingAway, "bye")
		}, false, "is lost", false},
		"BroadcastsBeforeItAnswers": {func(t *testing.T, ctx context.Context, conn *websocket.Conn, m phoenix.Message) {
			for range 200 { // more than are kept
				send(t, ctx, conn, `{"topic":"`+m.Topic+`","event":"broadcast","payload":{"event":"e","payload":{}},"ref":null}`)
			}
			send(t, ctx, conn, ok(m))
		}, true, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			url := script(t, func(ctx context.Context, conn *websocket.Conn, m phoenix.Message) { c.do(t, ctx, conn, m) })
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			client := dial(t, phoenix.Options{URL: url, Key: "k"})
			channel, err := client.Join(ctx, "room", phoenix.JoinOptions{})
			if (err == nil) != c.joins {
				t.Fatalf("join: %v", err)
			}
			var refused *phoenix.RefusedError
			if errors.As(err, &refused) != c.refused {
				t.Errorf("refused: %v", err)
			}
			if c.joins {
				_, err = channel.Receive(ctx)
			}
			if c.wants == "" && err != nil || c.wants != "" && (err == nil || !strings.Contains(err.Error(), c.wants)) {
				t.Errorf("%v, want %q", err, c.wants)
			}
		})
	}
	t.Run("SaysNothing", func(t *testing.T) {
		url := script(t, func(context.Context, *websocket.Conn, phoenix.Message) {})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		client := dial(t, phoenix.Options{URL: url, Key: "k", Heartbeat: 20 * time.Millisecond})
		if _, err := client.Join(ctx, "room", phoenix.JoinOptions{}); err == nil {
			t.Error("it was joined")
		}
	})
	t.Run("IsNoWebSocket", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := phoenix.Dial(ctx, phoenix.Options{URL: "http://" + l.Addr().String(), Key: "k"}); err == nil {
			t.Error("connected to who never answers")
		}
	})
}
