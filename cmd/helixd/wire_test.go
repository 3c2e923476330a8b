package main_test

import (
	"errors"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"
)

// fault is what a wire does to what it carries.
type fault string

const (
	healed   fault = "healed"
	cut      fault = "cut"       // every connection is reset, and each new one too
	frozen   fault = "frozen"    // nothing passes and nobody is told: a black hole
	slow     fault = "slow"      // 4 kB at a time, each 10 ms late
	halfOpen fault = "half open" // what the client sends passes, and no answer comes
)

// wire is a TCP proxy between one helixd and Postgres.
type wire struct {
	listener net.Listener
	server   string

	mu      sync.Mutex
	state   fault
	at      time.Time     // when it became so
	changed chan struct{} // closed and made anew with each state
	links   map[*link]bool
}

// link is one connection.
type link struct {
	client, server net.Conn
	lost           bool // some of it was thrown away: it cannot go on
}

// newWire gives a wire and the URL by which it is used in place of another.
func newWire(t testing.TB, through string) (*wire, string) {
	t.Helper()
	u, err := url.Parse(through)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{server: u.Host, state: healed, changed: make(chan struct{}), links: map[*link]bool{}}
	if w.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	u.Host = w.listener.Addr().String()
	go w.accept()
	t.Cleanup(func() {
		_ = w.listener.Close()
		w.set(cut)
	})
	return w, u.String()
}

func (w *wire) accept() {
	for {
		client, err := w.listener.Accept()
		if err != nil {
			return
		}
		if state, _ := w.now(); state == cut {
			reset(client)
			continue
		}
		server, err := net.Dial("tcp", w.server)
		if err != nil { // Postgres restarts
			reset(client)
			continue
		}
		l := &link{client: client, server: server}
		w.mu.Lock()
		w.links[l] = true
		w.mu.Unlock()
		go w.carry(l, client, server, true)
		go w.carry(l, server, client, false)
	}
}

// carry moves bytes one way until either end is gone.
func (w *wire) carry(l *link, from, to net.Conn, isRequest bool) {
	defer w.drop(l)
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		for sent := 0; sent < n; {
			state, changed := w.now()
			part := buf[sent:n]
			switch {
			case state == frozen:
				<-changed
				continue
			case state == cut:
				return
			case state == halfOpen && !isRequest:
				w.mu.Lock()
				l.lost = true
				w.mu.Unlock()
				sent = n
				continue
			case state == slow:
				part = part[:min(len(part), 4<<10)]
				select {
				case <-time.After(10 * time.Millisecond):
				case <-changed:
				}
			}
			if _, err := to.Write(part); err != nil {
				return
			}
			sent += len(part)
		}
	}
}

func (w *wire) now() (fault, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state, w.changed
}

// since gives what the wire does, and since when.
func (w *wire) since() (fault, time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state, w.at
}

// set makes the wire so from now on.
func (w *wire) set(state fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state, w.at = state, time.Now()
	close(w.changed)
	w.changed = make(chan struct{})
	for l := range w.links {
		if state == cut || l.lost {
			reset(l.client)
			reset(l.server)
		}
	}
}

func (w *wire) drop(l *link) {
	_ = errors.Join(l.client.Close(), l.server.Close())
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.links, l)
}

// reset closes a connection without a word.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}
