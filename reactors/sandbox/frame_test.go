package sandbox

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// FuzzFrames reads what a child that broke out may send, as the parent does in a
// call.
func FuzzFrames(f *testing.F) {
	limits := Limits{Output: 1000, Logs: 100}
	r := run{limits: limits}
	f.Add(endFrame(append(beginFrame(frameLog), "hello"...)))
	f.Add(endFrame(requestMessage{id: 1, name: "kv.get", body: []byte(`{}`)}.append(beginFrame(frameHostCall))))
	f.Add(endFrame(doneMessage{peak: 1 << 16, out: outcome{content: []byte(`1`)}}.append(beginFrame(frameDone))))
	f.Add(endFrame(doneMessage{out: outcome{err: &Error{Code: Trap, Message: "m", Function: "f", Line: 1, Column: 2, Offset: 3}}}.append(beginFrame(frameDone))))
	f.Fuzz(func(t *testing.T, b []byte) {
		frames := newFrameReader(bytes.NewReader(b))
		for {
			kind, payload, err := frames.next(r.most)
			if err != nil {
				return
			}
			if len(payload) > r.most(kind) {
				t.Fatalf("type %d has %d bytes", kind, len(payload))
			}
			switch kind {
			case frameHostCall:
				m, err := parseRequest(payload)
				if err == nil && (len(m.name) > maxName || len(m.body) > len(payload)) {
					t.Fatalf("%+v", m)
				}
			case frameDone:
				m, err := parseDone(payload, limits.Output)
				if err != nil {
					return
				}
				if len(m.out.content) > limits.Output || m.peak < 0 {
					t.Fatalf("%d bytes of output, peak %d", len(m.out.content), m.peak)
				}
				if e := m.out.err; e != nil {
					text := string(e.Code) + e.Message + e.Function
					if !utf8.ValidString(text) || strings.Contains(text, "\x00") || e.Line < 0 || e.Column < 0 || e.Offset < 0 {
						t.Fatalf("%+v", e)
					}
				}
			case frameLog:
			default:
				t.Fatalf("type %d came through", kind)
			}
		}
	})
}

func TestFrames(t *testing.T) {
	t.Run("come as they were sent, whatever their sizes", rapid.MakeCheck(func(t *rapid.T) {
		var sent [][]byte
		var stream bytes.Buffer
		for _, size := range rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 300), rapid.IntRange(readPart-2, 5*readPart)), 1, 5).Draw(t, "sizes") {
			payload := bytes.Repeat([]byte{byte(size)}, size)
			sent = append(sent, payload)
			stream.Write(endFrame(append(beginFrame(frameLog), payload...)))
		}
		frames := newFrameReader(&stream)
		for i, want := range sent {
			kind, got, err := frames.next(func(frameType) int { return 5 * readPart })
			if err != nil || kind != frameLog || !bytes.Equal(got, want) {
				t.Fatalf("frame %d: type %d, %d bytes, %v", i, kind, len(got), err)
			}
		}
		if _, _, err := frames.next(fromParent); err != io.EOF {
			t.Fatalf("after the last: %v", err)
		}
	}))

	t.Run("a length costs no memory before its bytes have come", func(t *testing.T) {
		head := binary.LittleEndian.AppendUint32([]byte{byte(frameLog)}, 1<<30)
		frames := newFrameReader(bytes.NewReader(append(head, "short"...)))
		if _, _, err := frames.next(fromParent); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatal(err)
		}
		if cap(frames.buf) > 2*readPart {
			t.Errorf("%d bytes were made", cap(frames.buf))
		}
	})

	t.Run("a call comes as it was sent", rapid.MakeCheck(func(t *rapid.T) {
		want := callMessage{
			limits: Limits{
				Wall: time.Duration(rapid.Int64Min(0).Draw(t, "wall")), CPU: time.Duration(rapid.Int64Min(0).Draw(t, "cpu")),
				Memory: rapid.Int64Min(0).Draw(t, "memory"), Input: rapid.IntRange(0, 1<<30).Draw(t, "input"), Output: 3, Logs: 4, HostCalls: 5,
			},
			seed:  [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "seed")),
			now:   time.Unix(0, rapid.Int64().Draw(t, "now")).UTC(),
			input: rapid.SliceOf(rapid.Byte()).Draw(t, "content"),
		}
		got, err := parseCall(want.append(nil))
		if err != nil || got.limits != want.limits || got.seed != want.seed || !got.now.Equal(want.now) || !bytes.Equal(got.input, want.input) {
			t.Fatalf("%+v, %v", got, err)
		}
	}))

	t.Run("an outcome is whole or none", rapid.MakeCheck(func(t *rapid.T) {
		b := doneMessage{peak: 1 << 20, out: outcome{err: &Error{
			Code: Trap, Message: rapid.String().Draw(t, "message"), Function: "f", Line: 1, Column: 2, Offset: 1 << 40,
		}}}.append(nil)
		if _, err := parseDone(b, 10); err != nil {
			t.Fatal(err)
		}
		cut := rapid.IntRange(0, len(b)-1).Draw(t, "cut")
		if m, err := parseDone(b[:cut], 10); err == nil {
			t.Fatalf("cut at %d of %d: %+v", cut, len(b), m)
		}
		if _, err := parseDone(append(b, 0), 10); err == nil {
			t.Fatal("one byte more passed")
		}
	}))
}

func TestClip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(0, 20).Draw(t, "most")
		s := clip(string(rapid.SliceOf(rapid.Byte()).Draw(t, "text")), most)
		if len(s) > most || !utf8.ValidString(s) || strings.Contains(s, "\x00") {
			t.Fatalf("%q", s)
		}
	})
	if s := clip("aü", 2); s != "a" {
		t.Errorf("%q", s)
	}
}

func TestNesting(t *testing.T) {
	for text, want := range map[string]int{
		`1`: 0, `[]`: 1, `[{"a":[1]},[]]`: 3, `"[[["`: 0, `["\"[[", [1]]`: 2, `["\\", [1]]`: 2, `{"[":{}}`: 2,
	} {
		if got := nesting([]byte(text)); got != want {
			t.Errorf("%s nests %d deep, want %d", text, got, want)
		}
	}
}
