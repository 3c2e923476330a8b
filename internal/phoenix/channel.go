package phoenix

import (
	"context"
	"fmt"
	"strings"
)

// topicPrefix is what Realtime's topics begin with on the wire; policies on
// realtime.messages see them without.
const topicPrefix = "realtime:"

// JoinOptions say how to join.
type JoinOptions struct {
	// Private asks the policies on realtime.messages whether this may be joined.
	Private bool
	// Self has the client hear its own broadcasts, and Ack has the server answer them.
	Self, Ack bool
	// AccessToken is the JWT of who joins. Empty: the key's.
	AccessToken string
}

// RefusedError is a join that the server refuses.
type RefusedError struct {
	Topic  string
	Reason string // the server's words
}

func (e *RefusedError) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("Realtime refuses to join %s", e.Topic)
	}
	return fmt.Sprintf("Realtime refuses to join %s: %s", e.Topic, e.Reason)
}

// waitingBroadcasts bounds what a channel keeps for who does not Receive; the oldest go.
const waitingBroadcasts = 64

// Channel is a topic that was joined.
type Channel struct {
	Topic string

	client *Client
	ref    string // of its join
	heard  chan Broadcast
	closed chan struct{}
	why    error // of closed
}

// Join joins a topic, such as "helix:<user id>". Where the server says no, the
// error is a *RefusedError.
func (c *Client) Join(ctx context.Context, topic string, o JoinOptions) (*Channel, error) {
	ch := &Channel{Topic: topic, client: c, heard: make(chan Broadcast, waitingBroadcasts), closed: make(chan struct{})}
	wire := topicPrefix + topic
	c.mu.Lock()
	if c.channels[wire] != nil {
		c.mu.Unlock()
		return nil, fmt.Errorf("join %s: it is joined already", topic)
	}
	c.channels[wire] = ch // before the answer: a broadcast may be right behind it
	c.mu.Unlock()
	payload := map[string]any{"config": map[string]any{
		"broadcast":        map[string]bool{"ack": o.Ack, "self": o.Self},
		"presence":         map[string]any{"key": "", "enabled": false},
		"postgres_changes": []string{},
		"private":          o.Private,
	}}
	if o.AccessToken != "" {
		payload["access_token"] = o.AccessToken
	}
	m, err := c.ask(ctx, wire, eventJoin, payload, "")
	if err == nil {
		var ok bool
		var reason string
		if ok, reason, err = decodeReply(m.Payload); err == nil && !ok {
			err = &RefusedError{topic, strings.TrimSpace(reason)}
		}
	}
	if err != nil {
		c.mu.Lock()
		delete(c.channels, wire)
		c.mu.Unlock()
		return nil, fmt.Errorf("join %s: %w", topic, err)
	}
	ch.ref = *m.Ref
	return ch, nil
}

// Receive waits for the next broadcast.
func (ch *Channel) Receive(ctx context.Context) (Broadcast, error) {
	var end error
	select {
	case b := <-ch.heard:
		return b, nil
	case <-ch.closed:
		end = ch.why
	case <-ch.client.gone:
		end = ch.client.lost
	case <-ctx.Done():
		end = fmt.Errorf("no broadcast on %s: %w", ch.Topic, ctx.Err())
	}
	select { // what was heard before the end counts
	case b := <-ch.heard:
		return b, nil
	default:
		return Broadcast{}, end
	}
}

// Leave leaves the channel.
func (ch *Channel) Leave(ctx context.Context) error {
	c := ch.client
	_, err := c.ask(ctx, topicPrefix+ch.Topic, eventLeave, struct{}{}, ch.ref)
	c.mu.Lock()
	delete(c.channels, topicPrefix+ch.Topic)
	c.mu.Unlock()
	return err
}

// push keeps a broadcast for Receive. The client's lock is held.
func (ch *Channel) push(b Broadcast) {
	for {
		select {
		case ch.heard <- b:
			return
		default:
		}
		select {
		case <-ch.heard:
		default:
		}
	}
}

// end tells who waits that no more will come. The client's lock is held.
func (ch *Channel) end(why error) {
	select {
	case <-ch.closed:
	default:
		ch.why = why
		close(ch.closed)
	}
}
