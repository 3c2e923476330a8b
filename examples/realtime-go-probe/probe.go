package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/supabase-community/realtime-go/realtime"
)

// projectRef has the form of a hosted project's.
const projectRef = "abcdefghijklmnopqrst"

// probe runs the library against the server.
type probe struct {
	s      *server
	r      *report
	client realtime.IRealtimeClient

	mu     sync.Mutex
	dialed []string
}

// newProbe makes every connection of this process go to the server. The library
// has no setting for it; but it dials with http.DefaultClient.
func newProbe(s *server, r *report) *probe {
	p := &probe{s: s, r: r}
	t := s.http.Client().Transport.(*http.Transport).Clone()
	t.TLSClientConfig.ServerName = "example.com" // the server's certificate has this name
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		p.mu.Lock()
		p.dialed = append(p.dialed, address)
		p.mu.Unlock()
		return (&net.Dialer{}).DialContext(ctx, network, s.http.Listener.Addr().String())
	}
	http.DefaultTransport = t
	log.SetOutput(io.Discard) // the library logs when the server goes away at the end
	return p
}

func (p *probe) lastDialed() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.dialed) == 0 {
		return ""
	}
	return p.dialed[len(p.dialed)-1]
}

// whereItDials connects, and looks for a way to choose another host.
func (p *probe) whereItDials(ctx context.Context) error {
	p.r.title("1. Where it connects to")
	elsewhere := "127.0.0.1:4000"
	escape := elsewhere + "/realtime/v1/websocket?vsn=1.0.0&rest="
	// The first client is left as it is: it would reconnect after Disconnect.
	for _, ref := range []string{escape, projectRef} {
		p.client = realtime.NewRealtimeClient(ref, "key")
		if err := p.client.Connect(ctx); err != nil {
			return fmt.Errorf("connect: %w", err)
		}
		p.r.say("   NewRealtimeClient(%q, …)\n      asks for  %s\n      at        %s", ref, p.s.lastRequest(), p.lastDialed())
		if ref == escape {
			p.r.check("only a \"project ref\" that breaks out of the URL leads to another host, and always over TLS",
				p.lastDialed() == elsewhere)
		}
	}
	p.r.check("a project ref leads to <ref>.supabase.co", p.lastDialed() == projectRef+".supabase.co:443")
	takers, fields := settings(reflect.TypeOf(p.client))
	p.r.say("   exported fields of %T: %d; methods that take a Config or a URL: %d", p.client, len(fields), len(takers))
	p.r.check("nothing exported takes a URL: Config has one, but no function takes a Config", len(takers)+len(fields) == 0)
	return nil
}

// settings gives a client's methods that could take a URL, and its exported
// fields. Channel takes a topic and its options, SetAuth a token.
func settings(client reflect.Type) (takers, fields []string) {
	for i := range client.NumMethod() {
		m := client.Method(i)
		if m.Name == "Channel" || m.Name == "SetAuth" {
			continue
		}
		for j := 1; j < m.Type.NumIn(); j++ {
			in := m.Type.In(j).String()
			if in == "string" || strings.HasSuffix(in, ".Config") || strings.HasSuffix(in, "url.URL") {
				takers = append(takers, m.Name)
			}
		}
	}
	if client.Kind() == reflect.Pointer {
		for _, f := range reflect.VisibleFields(client.Elem()) {
			if f.IsExported() {
				fields = append(fields, f.Name)
			}
		}
	}
	return takers, fields
}

// howItJoins subscribes to a channel and sends a heartbeat.
func (p *probe) howItJoins(ctx context.Context) error {
	p.r.title("2. How it joins")
	config := &realtime.ChannelConfig{Private: true}
	channel := p.client.Channel(topic, config)
	claimed := realtime.SubscribeState(-1)
	err := channel.Subscribe(ctx, func(state realtime.SubscribeState, _ error) { claimed = state })
	if err != nil {
		return fmt.Errorf("subscribe: %w", err)
	}
	heard, err := p.s.next(ctx)
	if err != nil {
		return err
	}
	p.r.wire(heard)
	p.r.check("the server refuses the join: missing key \"ref\"",
		len(heard) == 1 && strings.HasSuffix(heard[0].refused, `missing key "ref"`) && !p.s.hasJoined(topic))
	p.r.say("   claimed   callback: %s; GetState: %s", subscribeState(claimed), channelState(channel.GetState()))
	p.r.check("the library reports that it is subscribed",
		claimed == realtime.SubscribeStateSubscribed && channel.GetState() == realtime.ChannelStateJoined)

	beat, ok := p.client.(interface{ SendHeartbeat() error })
	if !ok {
		return errors.New("SendHeartbeat is gone")
	}
	if err := beat.SendHeartbeat(); err != nil {
		return fmt.Errorf("heartbeat: %w", err)
	}
	if heard, err = p.s.next(ctx); err != nil {
		return err
	}
	p.r.wire(heard)
	p.r.check("its heartbeats are refused too: missing key \"payload\"",
		len(heard) == 1 && strings.HasSuffix(heard[0].refused, `missing key "payload"`))
	return nil
}

// whatItDispatches lets the server send as if the join had been let in.
func (p *probe) whatItDispatches(ctx context.Context) error {
	p.r.title("3. What it hands to callbacks (the server sends as if the library had joined)")
	channel := p.client.Channel(topic, nil) // the one of before
	calls := make(chan string, 16)
	channel.OnMessage(func(realtime.Message) { calls <- "OnMessage" })
	channel.OnPresence(func(realtime.PresenceEvent) { calls <- "OnPresence" })
	err := errors.Join(
		channel.OnBroadcast("sync_entities", func(json.RawMessage) { calls <- "OnBroadcast(sync_entities)" }),
		channel.OnBroadcast("broadcast", func(json.RawMessage) { calls <- "OnBroadcast(broadcast)" }),
		channel.OnBroadcast("last", func(json.RawMessage) { calls <- "OnBroadcast(last)" }),
		channel.OnPostgresChange("*", func(realtime.PostgresChangeEvent) { calls <- "OnPostgresChange(*)" }),
		channel.OnPostgresChange("INSERT", func(realtime.PostgresChangeEvent) { calls <- "OnPostgresChange(INSERT)" }))
	if err != nil {
		return err
	}
	for _, message := range []string{
		broadcast,
		`{"topic":"` + topic + `","event":"postgres_changes","payload":{"ids":[1],"data":{"schema":"public",` +
			`"table":"sync_entities","type":"INSERT","record":{"revision":1},"columns":[],"errors":null}},"ref":null}`,
		`{"topic":"` + topic + `","event":"presence_state","payload":{},"ref":null}`,
		// Realtime sends nothing like this one. It is what the library looks for,
		// and so it shows that the library has read those before it.
		`{"type":"broadcast","topic":"` + topic + `","event":"last","payload":{}}`,
	} {
		p.r.say("   received  %s", message)
		if err := p.s.push(ctx, message); err != nil {
			return fmt.Errorf("push: %w", err)
		}
	}
	var called []string
	for deadline := time.After(5 * time.Second); ; {
		select {
		case name := <-calls:
			called = append(called, name)
			if name != "OnBroadcast(last)" {
				continue
			}
		case <-deadline:
		}
		break
	}
	p.r.say("   called    %s", strings.Join(called, ", "))
	p.r.check("no message of Realtime's reaches a callback; only one with a key \"type\", which Realtime never sends, does",
		len(called) == 1 && called[0] == "OnBroadcast(last)")
	return nil
}

func subscribeState(s realtime.SubscribeState) string {
	if s == realtime.SubscribeStateSubscribed {
		return "SubscribeStateSubscribed"
	}
	return fmt.Sprint("SubscribeState ", int(s))
}

func channelState(s realtime.ChannelState) string {
	if s == realtime.ChannelStateJoined {
		return "ChannelStateJoined"
	}
	return fmt.Sprint("ChannelState ", int(s))
}
