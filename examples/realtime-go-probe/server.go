package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/coder/websocket"
)

// server imitates Realtime on loopback, as far as a join goes: Phoenix channel
// protocol, version 1.0.0, which the library asks for with vsn=1.0.0.
//
// Phoenix reads four keys of every message, and Realtime 2.x catches the error
// for a missing one: it logs MalformedWebSocketMessage, keeps the connection,
// and answers nothing.
type server struct {
	http *httptest.Server

	mu       sync.Mutex
	requests []string
	heard    []exchange
	news     chan struct{}   // one for each message read
	conn     *websocket.Conn // that the last message came from
	joined   map[string]bool // topics, on conn
}

// exchange is one message from a client and what became of it.
type exchange struct {
	sent    string
	answers []string
	refused string
}

func newServer() *server {
	s := &server{news: make(chan struct{}, 64), joined: map[string]bool{}}
	s.http = httptest.NewTLSServer(s)
	return s
}

func (s *server) close() {
	s.mu.Lock()
	conn := s.conn
	s.mu.Unlock()
	if conn != nil {
		_ = conn.CloseNow()
	}
	s.http.Close()
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, "wss://"+r.Host+r.RequestURI)
	s.mu.Unlock()
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
		s.mu.Lock()
		if s.conn != conn {
			s.conn, s.joined = conn, map[string]bool{}
		}
		s.mu.Unlock()
		e := s.receive(data)
		for _, a := range e.answers {
			if conn.Write(r.Context(), websocket.MessageText, []byte(a)) != nil {
				return
			}
		}
		s.mu.Lock()
		s.heard = append(s.heard, e)
		s.mu.Unlock()
		s.news <- struct{}{}
	}
}

// receive reads a message as Phoenix does, keys in its order.
func (s *server) receive(data []byte) exchange {
	e := exchange{sent: string(data)}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(data, &m); err != nil {
		e.refused = "MalformedWebSocketMessage: " + err.Error()
		return e
	}
	for _, key := range []string{"topic", "event", "payload", "ref"} {
		if _, ok := m[key]; !ok {
			e.refused = fmt.Sprintf("MalformedWebSocketMessage: missing key %q", key)
			return e
		}
	}
	var topic, event string
	_ = json.Unmarshal(m["topic"], &topic) // left empty, it is a topic that nobody joined
	_ = json.Unmarshal(m["event"], &event)
	switch {
	case event == "phx_join":
		s.mu.Lock()
		s.joined[topic] = true
		s.mu.Unlock()
	case event == "heartbeat" && topic == "phoenix":
	default:
		return e
	}
	e.answers = append(e.answers, fmt.Sprintf(
		`{"topic":%q,"event":"phx_reply","payload":{"status":"ok","response":{}},"ref":%s}`, topic, m["ref"]))
	return e
}

// hasJoined reports whether the connection may receive on topic.
func (s *server) hasJoined(topic string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.joined[topic]
}

// push sends a message to the client that was heard last.
func (s *server) push(ctx context.Context, message string) error {
	s.mu.Lock()
	conn := s.conn
	s.mu.Unlock()
	return conn.Write(ctx, websocket.MessageText, []byte(message))
}

// next waits for one more message, and gives all that came since it was last asked.
func (s *server) next(ctx context.Context) ([]exchange, error) {
	select {
	case <-s.news:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for a message: %w", ctx.Err())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	heard := s.heard
	s.heard = nil
	return heard, nil
}

// lastRequest is the URL of the last connection.
func (s *server) lastRequest() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) == 0 {
		return ""
	}
	return s.requests[len(s.requests)-1]
}
