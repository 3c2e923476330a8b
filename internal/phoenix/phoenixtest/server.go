// Package phoenixtest has a server on loopback that stands in for a project's
// gateway: Realtime as its protocol is documented, over real WebSockets, with the
// policies and messages of a real database; and as much of the Data API and of
// Storage as tells whether a key is good.
//
// A private join is decided as Realtime decides it: by a row of that topic in
// realtime.messages, which the role of the token sees or does not, in a transaction
// that is rolled back. Realtime reads messages from the write-ahead log; this one
// looks at the table.
package phoenixtest

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Server is a project's gateway.
type Server struct {
	URL string
	// Secret signs its tokens, and ServiceKey is one of role service_role.
	Secret, ServiceKey string
	// Deaf has it answer no joins, and Mute has it bring no broadcasts.
	Deaf, Mute atomic.Bool

	db   *pgxpool.Pool
	mu   sync.Mutex
	seen []string // events of messages from clients
}

// New starts a server over a database, which it reads as its administrator.
func New(t testing.TB, url string) *Server {
	t.Helper()
	db, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Secret: "canary-7d1f0e93b5a24c6889aa-of-the-project", db: db}
	s.ServiceKey = s.Token(map[string]any{"role": "service_role", "iss": "supabase"})
	mux := http.NewServeMux()
	mux.HandleFunc("/realtime/v1/websocket", s.socket)
	mux.HandleFunc("/rest/v1/", s.keyed(`{}`))
	mux.HandleFunc("/storage/v1/bucket", s.keyed(`[{"id":"recordings"}]`))
	server := httptest.NewServer(mux)
	s.URL = server.URL
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		db.Close()
	})
	return s
}

// Token makes a JWT of claims.
func (s *Server) Token(claims map[string]any) string {
	body, err := json.Marshal(claims)
	if err != nil {
		panic(err) // a test's own
	}
	signed := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + base64.RawURLEncoding.EncodeToString(body)
	return signed + "." + s.sign(signed)
}

func (s *Server) sign(text string) string {
	mac := hmac.New(sha256.New, []byte(s.Secret))
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// claims are a token's, false where its signature is not the project's.
func (s *Server) claims(token string) (map[string]any, bool) {
	at := strings.LastIndexByte(token, '.')
	if at < 0 || !hmac.Equal([]byte(s.sign(token[:at])), []byte(token[at+1:])) {
		return nil, false
	}
	_, payload, _ := strings.Cut(token[:at], ".")
	body, err := base64.RawURLEncoding.DecodeString(payload)
	var claims map[string]any
	if err != nil || json.Unmarshal(body, &claims) != nil {
		return nil, false
	}
	if exp, ok := claims["exp"].(float64); ok && time.Now().Unix() > int64(exp) {
		return nil, false
	}
	return claims, true
}

// keyed answers who has a key of the project.
func (s *Server) keyed(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if _, ok := s.claims(r.Header.Get("apikey")); !ok {
			http.Error(w, `{"message":"Invalid API key"}`, http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body))
	}
}

// Seen are the events that clients sent.
func (s *Server) Seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.seen...)
}

type message struct {
	Topic   string          `json:"topic"`
	Event   string          `json:"event"`
	Payload json.RawMessage `json:"payload"`
	Ref     *string         `json:"ref"`
}

func (s *Server) socket(w http.ResponseWriter, r *http.Request) {
	keyClaims, ok := s.claims(r.URL.Query().Get("apikey"))
	if !ok || r.URL.Query().Get("vsn") != "1.0.0" {
		http.Error(w, "no key", http.StatusForbidden)
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow() //nolint:errcheck // it may be closed already
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	var writing sync.Mutex
	write := func(m message) {
		data, _ := json.Marshal(m) // strings
		writing.Lock()
		defer writing.Unlock()
		_ = conn.Write(ctx, websocket.MessageText, data)
	}
	for {
		_, data, err := conn.Read(ctx)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(data, &m) != nil || m.Ref == nil { // Realtime logs it, and answers nothing
			continue
		}
		s.mu.Lock()
		s.seen = append(s.seen, m.Event)
		s.mu.Unlock()
		answer := func(payload string) {
			write(message{m.Topic, "phx_reply", json.RawMessage(payload), m.Ref})
		}
		switch m.Event {
		case "heartbeat", "phx_leave":
			answer(`{"status":"ok","response":{}}`)
		case "phx_join":
			if s.Deaf.Load() {
				continue
			}
			reason, err := s.admit(ctx, m, keyClaims)
			if err != nil {
				return
			}
			if reason != "" {
				text, _ := json.Marshal(reason)
				answer(`{"status":"error","response":{"reason":` + string(text) + `}}`)
				continue
			}
			since := make(chan struct{})
			go s.bring(ctx, m.Topic, since, write)
			<-since
			answer(`{"status":"ok","response":{"postgres_changes":[]}}`)
		}
	}
}

// admit decides a join; a reason refuses it.
func (s *Server) admit(ctx context.Context, m message, keyClaims map[string]any) (reason string, err error) {
	var join struct {
		Config struct {
			Private bool `json:"private"`
		} `json:"config"`
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal(m.Payload, &join); err != nil {
		return "", err
	}
	claims := keyClaims
	if join.AccessToken != "" {
		var ok bool
		if claims, ok = s.claims(join.AccessToken); !ok {
			return "InvalidJWTToken: The token provided is not a valid JWT", nil
		}
	}
	if !join.Config.Private {
		return "", nil
	}
	topic := strings.TrimPrefix(m.Topic, "realtime:")
	role, _ := claims["role"].(string)
	text, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	sees := false
	tx, err := s.db.Begin(ctx)
	if err != nil {
		return "", err
	}
	defer tx.Rollback(ctx) //nolint:errcheck // it is to be
	if _, err := tx.Exec(ctx, "insert into realtime.messages (topic, extension, event, private) values ($1, 'broadcast', 'probe', true)", topic); err != nil {
		return "", err
	}
	if _, err := tx.Exec(ctx, "select set_config('role', $1, true), set_config('request.jwt.claims', $2, true), set_config('realtime.topic', $3, true)", role, string(text), topic); err != nil {
		return "", err
	}
	if err := tx.QueryRow(ctx, "select exists (select from realtime.messages where topic = $1 and extension = 'broadcast')", topic).Scan(&sees); err != nil {
		return "", err
	}
	if !sees {
		return "Unauthorized: You do not have permissions to read from this Channel topic: " + topic, nil
	}
	return "", nil
}

// bring sends a topic's messages to who joined it, from now on.
func (s *Server) bring(ctx context.Context, topic string, since chan struct{}, write func(message)) {
	var last time.Time
	if err := s.db.QueryRow(ctx, "select clock_timestamp() at time zone 'utc'").Scan(&last); err != nil {
		last = time.Now().UTC()
	}
	close(since)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	sent := map[string]bool{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if s.Mute.Load() {
			continue
		}
		rows, err := s.db.Query(ctx, `select id::text, event, payload from realtime.messages
			where topic = $1 and extension = 'broadcast' and inserted_at >= $2 order by inserted_at`, strings.TrimPrefix(topic, "realtime:"), last.Add(-time.Minute))
		if err != nil {
			return
		}
		var id, event string
		var payload json.RawMessage
		_, err = pgx.ForEachRow(rows, []any{&id, &event, &payload}, func() error {
			if !sent[id] {
				sent[id] = true
				body, _ := json.Marshal(map[string]any{"type": "broadcast", "event": event, "payload": payload}) // it was JSON
				write(message{topic, "broadcast", body, nil})
			}
			return nil
		})
		if err != nil {
			return
		}
	}
}
