package phoenix_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/helixd/helixd/internal/phoenix"
)

// FuzzDecode: whatever a server sends, it is a message or an error, and a message
// that is sent on is the same one.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"topic":"realtime:helix:1","event":"phx_reply","payload":{"status":"ok","response":{}},"ref":"1"}`,
		`{"topic":"realtime:helix:1","event":"broadcast","payload":{"type":"broadcast","event":"e","payload":{}},"ref":null}`,
		`{"topic":"phoenix","event":"heartbeat","payload":{},"ref":"2","join_ref":"1"}`,
		`[null,"2","phoenix","phx_reply",{}]`, `{"topic":1}`, `null`, ``, `{`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := phoenix.Decode(data)
		if err != nil {
			return
		}
		if m.Topic == "" || m.Event == "" {
			t.Fatalf("%q is a message without a topic or an event", data)
		}
		if m.Payload == nil {
			m.Payload = json.RawMessage("null")
		}
		again, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		back, err := phoenix.Decode(again)
		if err != nil {
			t.Fatal(err)
		}
		back.Payload, m.Payload = nil, nil // spaces in it may go
		if !reflect.DeepEqual(m, back) {
			t.Errorf("%+v became %+v", m, back)
		}
	})
}
