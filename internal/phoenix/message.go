package phoenix

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Events of the protocol.
const (
	eventJoin      = "phx_join"
	eventLeave     = "phx_leave"
	eventReply     = "phx_reply"
	eventError     = "phx_error" // the channel's process on the server has crashed
	eventClose     = "phx_close"
	eventHeartbeat = "heartbeat"
	eventBroadcast = "broadcast"
)

// heartbeatTopic is not a channel's.
const heartbeatTopic = "phoenix"

// Message is what both sides send. A server leaves Ref null in what answers nothing.
type Message struct {
	Topic   string          `json:"topic"`
	Event   string          `json:"event"`
	Payload json.RawMessage `json:"payload"`
	Ref     *string         `json:"ref"`
	JoinRef *string         `json:"join_ref,omitempty"`
}

// Decode reads a message. One without a topic or an event is an error.
func Decode(data []byte) (Message, error) {
	var m Message
	if err := json.Unmarshal(data, &m); err != nil {
		return Message{}, fmt.Errorf("decode a message: %w", err)
	}
	if m.Topic == "" || m.Event == "" {
		return Message{}, errors.New("decode a message: it has no topic or no event")
	}
	return m, nil
}

// reply is the payload of a phx_reply.
type reply struct {
	Status   string `json:"status"`
	Response struct {
		Reason string `json:"reason"`
	} `json:"response"`
}

// decodeReply tells whether a phx_reply agrees, and if not, why.
func decodeReply(payload json.RawMessage) (ok bool, reason string, err error) {
	var r reply
	if err := json.Unmarshal(payload, &r); err != nil {
		// A reason may be an object; what it says is then for the server's log.
		var status struct {
			Status string `json:"status"`
		}
		if json.Unmarshal(payload, &status) != nil {
			return false, "", fmt.Errorf("decode a reply: %w", err)
		}
		r = reply{Status: status.Status}
	}
	return r.Status == "ok", r.Response.Reason, nil
}

// Broadcast is what was sent to a channel.
type Broadcast struct {
	Event   string          `json:"event"`
	Payload json.RawMessage `json:"payload"`
}

// decodeBroadcast reads the payload of a broadcast.
func decodeBroadcast(payload json.RawMessage) (Broadcast, error) {
	var b Broadcast
	if err := json.Unmarshal(payload, &b); err != nil {
		return Broadcast{}, fmt.Errorf("decode a broadcast: %w", err)
	}
	return b, nil
}
