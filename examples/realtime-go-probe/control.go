package main

import (
	"context"
	"fmt"

	"github.com/coder/websocket"
)

// topic is a private channel of helixd's, in Realtime's form.
const topic = "realtime:helix:3e0c5f6e-0000-4000-8000-000000000000"

// broadcast is what a client receives after realtime.send.
const broadcast = `{"topic":"` + topic + `","event":"broadcast",` +
	`"payload":{"type":"broadcast","event":"sync_entities","payload":{"op":"UPDATE"}},"ref":null}`

// control joins as @supabase/realtime-js does, so that a refusal later on is the
// library's fault and not the server's.
func control(ctx context.Context, s *server, r *report) error {
	conn, _, err := websocket.Dial(ctx, s.http.URL+"/realtime/v1/websocket?vsn=1.0.0",
		&websocket.DialOptions{HTTPClient: s.http.Client()})
	if err != nil {
		return fmt.Errorf("control: %w", err)
	}
	defer conn.CloseNow() //nolint:errcheck // nothing is pending
	join := `{"topic":"` + topic + `","event":"phx_join","payload":{"config":{"private":true}},"ref":"1","join_ref":"1"}`
	if err := conn.Write(ctx, websocket.MessageText, []byte(join)); err != nil {
		return fmt.Errorf("control: %w", err)
	}
	heard, err := s.next(ctx)
	if err != nil {
		return fmt.Errorf("control: %w", err)
	}
	r.wire(heard)
	if _, _, err := conn.Read(ctx); err != nil || !s.hasJoined(topic) {
		return fmt.Errorf("control: the server does not let a correct client join (%v)", err)
	}
	if err := s.push(ctx, broadcast); err != nil {
		return fmt.Errorf("control: %w", err)
	}
	_, data, err := conn.Read(ctx)
	if err != nil {
		return fmt.Errorf("control: %w", err)
	}
	r.say("   received  %s", data)
	return nil
}
