package phoenix

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

const (
	// version of the protocol; 2.0.0 has arrays and binary frames for the same things.
	version = "1.0.0"
	// heartbeatEvery is what supabase-js does; Realtime closes what is silent for a minute.
	heartbeatEvery = 25 * time.Second
	readLimit      = 4 << 20
	goodbye        = 2 * time.Second
)

// Options say where Realtime is.
type Options struct {
	URL       string        // SUPABASE_URL, such as https://ref.supabase.co
	Key       string        // the project's: publishable, secret, anon or service_role
	HTTP      *http.Client  // nil: http.DefaultClient
	Heartbeat time.Duration // 0: 25 s
}

// Client is one connection. It may be used by several goroutines.
type Client struct {
	conn *websocket.Conn
	stop context.CancelFunc
	done sync.WaitGroup

	mu       sync.Mutex
	ref      int
	waiting  map[string]chan Message // for the reply to a ref
	channels map[string]*Channel     // by topic, as on the wire
	lost     error                   // why the connection is no more
	gone     chan struct{}           // closed with lost set
}

// address is where the socket of a project is. The key is a part of it, so no error
// may quote it.
func address(base, key string) (string, error) {
	u, err := url.Parse(strings.TrimRight(strings.TrimSpace(base), "/"))
	if err != nil || u.Host == "" {
		return "", errors.New("it is no address, such as https://<ref>.supabase.co")
	}
	switch u.Scheme {
	case "https":
		u.Scheme = "wss"
	case "http":
		u.Scheme = "ws"
	default:
		return "", errors.New("it is no address, such as https://<ref>.supabase.co")
	}
	u.Path += "/realtime/v1/websocket"
	u.RawQuery = url.Values{"apikey": {key}, "vsn": {version}}.Encode()
	return u.String(), nil
}

// StatusError is a server's refusal to open a socket at all.
type StatusError struct{ Status int }

func (e *StatusError) Error() string {
	return fmt.Sprintf("the server answers %d %s", e.Status, http.StatusText(e.Status))
}

// Dial connects. The error never has the key in it.
func Dial(ctx context.Context, o Options) (*Client, error) {
	to, err := address(o.URL, o.Key)
	if err != nil {
		return nil, fmt.Errorf("connect to Realtime: %w", err)
	}
	conn, resp, err := websocket.Dial(ctx, to, &websocket.DialOptions{HTTPClient: o.HTTP})
	if err != nil {
		var of *url.Error
		switch {
		case resp != nil && resp.StatusCode != http.StatusSwitchingProtocols:
			err = &StatusError{resp.StatusCode}
		case errors.As(err, &of): // it quotes the address
			err = of.Err
		default:
			err = errors.New("the socket could not be opened")
		}
		return nil, fmt.Errorf("connect to Realtime: %w", err)
	}
	conn.SetReadLimit(readLimit)
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	c := &Client{conn: conn, stop: stop, waiting: map[string]chan Message{}, channels: map[string]*Channel{}, gone: make(chan struct{})}
	every := o.Heartbeat
	if every == 0 {
		every = heartbeatEvery
	}
	c.done.Go(func() { c.read(life) })
	c.done.Go(func() { c.beat(life, every) })
	return c, nil
}

// Close leaves all channels and ends the connection.
func (c *Client) Close() {
	end := time.AfterFunc(goodbye, c.stop) // a server that does not say goodbye
	_ = c.conn.Close(websocket.StatusNormalClosure, "")
	end.Stop()
	c.stop()
	c.done.Wait()
}

// read hands each message to who waits for it, until the connection ends.
func (c *Client) read(ctx context.Context) {
	defer c.stop()
	for {
		_, data, err := c.conn.Read(ctx)
		if err == nil {
			var m Message
			if m, err = Decode(data); err == nil {
				c.dispatch(m)
				continue
			}
		}
		c.mu.Lock()
		c.lost = fmt.Errorf("the connection to Realtime is lost: %w", err)
		close(c.gone)
		c.mu.Unlock()
		_ = c.conn.CloseNow()
		return
	}
}

func (c *Client) dispatch(m Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.Event == eventReply {
		if m.Ref != nil {
			if answer, ok := c.waiting[*m.Ref]; ok {
				delete(c.waiting, *m.Ref)
				answer <- m // it has room
			}
		}
		return
	}
	ch := c.channels[m.Topic]
	if ch == nil {
		return
	}
	switch m.Event {
	case eventBroadcast:
		if b, err := decodeBroadcast(m.Payload); err == nil {
			ch.push(b)
		}
	case eventError, eventClose:
		ch.end(fmt.Errorf("the server closed the channel (%s)", m.Event))
	}
}

// beat sends heartbeats. One that is not answered until the next ends the connection.
func (c *Client) beat(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		asked, cancel := context.WithTimeout(ctx, every)
		_, err := c.ask(asked, heartbeatTopic, eventHeartbeat, struct{}{}, "")
		cancel()
		if err != nil && ctx.Err() == nil {
			_ = c.conn.CloseNow() // read finds out
			return
		}
	}
}

// ask sends a message and waits for its reply.
func (c *Client) ask(ctx context.Context, topic, event string, payload any, joinRef string) (Message, error) {
	body, err := json.Marshal(payload)
	if err != nil {
		return Message{}, fmt.Errorf("encode %s: %w", event, err)
	}
	answer := make(chan Message, 1)
	c.mu.Lock()
	c.ref++
	ref := strconv.Itoa(c.ref)
	c.waiting[ref] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, ref)
		c.mu.Unlock()
	}()
	m := Message{Topic: topic, Event: event, Payload: body, Ref: &ref}
	switch {
	case event == eventJoin:
		m.JoinRef = &ref
	case joinRef != "":
		m.JoinRef = &joinRef
	}
	data, err := json.Marshal(m)
	if err != nil {
		return Message{}, fmt.Errorf("encode %s: %w", event, err)
	}
	if err := c.conn.Write(ctx, websocket.MessageText, data); err != nil {
		return Message{}, fmt.Errorf("send %s: %w", event, err)
	}
	var end error
	select {
	case m := <-answer:
		return m, nil
	case <-c.gone:
		end = c.lost
	case <-ctx.Done():
		end = fmt.Errorf("no answer to %s: %w", event, ctx.Err())
	}
	select { // one that came before the end counts
	case m := <-answer:
		return m, nil
	default:
		return Message{}, end
	}
}
