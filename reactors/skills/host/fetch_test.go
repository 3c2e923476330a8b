package host_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/skills/host"
)

func TestLargeBodies(t *testing.T) {
	b := newBench(t)
	alice, bob := b.user(t), b.user(t)
	begun, end := make(chan struct{}), make(chan struct{})
	large := bytes.Repeat([]byte("x"), 1<<20)
	address := b.internet.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow":
			w.Write(large) //nolint:errcheck // who asked may be gone
			w.(http.Flusher).Flush()
			close(begun)
			<-end
			w.Write(large) //nolint:errcheck // as above
		case "/large":
			w.Write(large) //nolint:errcheck // as above
		case "/small":
			w.Write([]byte("small")) //nolint:errcheck // as above
		}
	}), "large.example")[0]
	runs := map[uuid.UUID]*host.Run{}
	for _, user := range []uuid.UUID{alice, bob} {
		runs[user] = b.run(t, user, b.skill(t, user, "private"), "network:https:"+address)
	}
	fetch := func(user uuid.UUID, path string) int {
		var got struct{ Body string }
		response, err := runs[user].Call(t.Context(), "http.fetch", []byte(`{"url":"https://`+address+path+`"}`))
		if err != nil {
			t.Errorf("%s: %v", path, err)
		} else if err := json.Unmarshal(response, &got); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		return len(got.Body)
	}
	first, second := make(chan int, 1), make(chan int, 1)
	go func() { first <- fetch(alice, "/slow") }()
	<-begun
	go func() { second <- fetch(alice, "/large") }()
	if n := fetch(alice, "/small"); n != 5 {
		t.Errorf("a small body of the same user has %d bytes", n)
	}
	if n := fetch(bob, "/large"); n != 1<<20 {
		t.Errorf("another user's large body has %d bytes", n)
	}
	close(end)
	if n, m := <-first, <-second; n != 2<<20 || m != 1<<20 {
		t.Errorf("the user's own large bodies have %d and %d bytes", n, m)
	}
}

func TestBodiesArriveAsTheyAre(t *testing.T) {
	b := newBench(t)
	user := b.user(t)
	body := "a\"\\\n\r\t</script>\u2028é😀\x7f/&"
	address := b.internet.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(body)) //nolint:errcheck // who asked may be gone
	}), "text.example")[0]
	r := b.run(t, user, b.skill(t, user, "private"), "network:https:"+address)
	var got struct{ Body, BodyEncoding string }
	if err := json.Unmarshal([]byte(call(t, r, "http.fetch", `{"url":"https://`+address+`"}`)), &got); err != nil || got.Body != body || got.BodyEncoding != "" {
		t.Errorf("%+v, %v", got, err)
	}
}
