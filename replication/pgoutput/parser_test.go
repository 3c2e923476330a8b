package pgoutput_test

import (
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/helixd/helixd/replication"
	"github.com/helixd/helixd/replication/pgoutput"
)

// Bytes of a real server, from the captures; spaces stand between fields.
const (
	beginHex    = "42 00000000019254f0 000303b7c87bdb34 000002d8"
	commitHex   = "43 00 00000000019254f0 0000000001925520 000303b7c87bdb34"
	originHex   = "4f 00000016b374d848 656c7365776865726500"
	relationHex = "52 00004017 7075626c696300 6e6f746500 64 0002" +
		"01 696400 00000017 ffffffff" + "00 73636f726500 000006a4 00060006"
	typeHex      = "59 0000401d 7075626c696300 6d6f6f6400"
	insertHex    = "49 00004017 4e 0003 74 00000001 31 6e 74 00000000"
	updateHex    = "55 00004017 4e 0002 74 00000001 31 75"
	updateKeyHex = "55 00004017 4b 0002 74 00000001 32 6e 4e 0002 74 00000002 3230 6e"
	updateOldHex = "55 00004017 4f 0001 6e 4e 0001 62 00000002 0001"
	deleteKeyHex = "44 00004017 4b 0002 74 00000001 31 6e"
	deleteOldHex = "44 00004017 4f 0001 62 00000004 0000000a"
	truncateHex  = "54 00000002 03 00004017 0000401d"
	messageHex   = "4d 01 0000000003af0380 68656c697800 00000005 6669727374"
	messageAtHex = "4d 00 0000000003af0380 00 00000000"
)

func unhex(tb testing.TB, s string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

var at = time.Date(2026, 11, 20, 18, 0, 7, 590708_000, time.UTC)

func value(kind replication.ValueKind, data string) replication.Value {
	if kind == replication.Null || kind == replication.Unchanged {
		return replication.Value{Kind: kind}
	}
	return replication.Value{Kind: kind, Data: []byte(data)}
}

var messages = []struct {
	name string
	hex  string
	want pgoutput.Message
}{
	{"Begin", beginHex, &pgoutput.Begin{FinalLSN: 0x19254F0, CommitTime: at, XID: 728}},
	{"Commit", commitHex, &pgoutput.Commit{CommitLSN: 0x19254F0, EndLSN: 0x1925520, CommitTime: at}},
	{"Origin", originHex, &pgoutput.Origin{CommitLSN: 0x16B374D848, Name: []byte("elsewhere")}},
	{"Relation", relationHex, &pgoutput.Relation{
		OID: 0x4017, Namespace: []byte("public"), Name: []byte("note"), Identity: replication.IdentityDefault,
		Columns: []pgoutput.Column{
			{Name: []byte("id"), TypeOID: 23, Modifier: -1, Key: true},
			{Name: []byte("score"), TypeOID: 1700, Modifier: 393222},
		},
	}},
	{"Type", typeHex, &pgoutput.Type{OID: 0x401D, Namespace: []byte("public"), Name: []byte("mood")}},
	{"Insert", insertHex, &pgoutput.Insert{RelationOID: 0x4017, New: replication.Tuple{
		value('t', "1"), value('n', ""), value('t', ""),
	}}},
	{"Update", updateHex, &pgoutput.Update{RelationOID: 0x4017, New: replication.Tuple{
		value('t', "1"), value('u', ""),
	}}},
	{"UpdateKey", updateKeyHex, &pgoutput.Update{
		RelationOID: 0x4017, OldKind: pgoutput.OldKey,
		Old: replication.Tuple{value('t', "2"), value('n', "")},
		New: replication.Tuple{value('t', "20"), value('n', "")},
	}},
	{"UpdateOld", updateOldHex, &pgoutput.Update{
		RelationOID: 0x4017, OldKind: pgoutput.OldRow,
		Old: replication.Tuple{value('n', "")},
		New: replication.Tuple{value('b', "\x00\x01")},
	}},
	{"DeleteKey", deleteKeyHex, &pgoutput.Delete{
		RelationOID: 0x4017, OldKind: pgoutput.OldKey, Old: replication.Tuple{value('t', "1"), value('n', "")},
	}},
	{"DeleteOld", deleteOldHex, &pgoutput.Delete{
		RelationOID: 0x4017, OldKind: pgoutput.OldRow, Old: replication.Tuple{value('b', "\x00\x00\x00\x0a")},
	}},
	{"Truncate", truncateHex, &pgoutput.Truncate{
		Cascade: true, RestartIdentity: true, RelationOIDs: []uint32{0x4017, 0x401D},
	}},
	{"Message", messageHex, &pgoutput.Logical{
		Transactional: true, LSN: 0x3AF0380, Prefix: []byte("helix"), Content: []byte("first"),
	}},
	{"MessageAtOnce", messageAtHex, &pgoutput.Logical{LSN: 0x3AF0380, Prefix: []byte{}, Content: []byte{}}},
}

func TestParse(t *testing.T) {
	for _, tt := range messages {
		t.Run(tt.name, func(t *testing.T) {
			src := unhex(t, tt.hex)
			got, err := new(pgoutput.Parser).Parse(src)
			if err != nil {
				t.Fatal(err)
			}
			if u, ok := got.(*pgoutput.Update); ok && len(u.Old) == 0 {
				u.Old = nil
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
			if got.Kind() != pgoutput.Kind(src[0]) {
				t.Errorf("kind %s of a message that begins with %q", got.Kind(), src[0])
			}
		})
		// No message is sound if any of its end is missing, or anything follows.
		t.Run(tt.name+"/ErrShort", func(t *testing.T) {
			src := unhex(t, tt.hex)
			for n := range src {
				if m, err := new(pgoutput.Parser).Parse(src[:n]); !errors.Is(err, pgoutput.ErrShort) {
					t.Errorf("%d of %d bytes: %v, %v", n, len(src), m, err)
				}
			}
		})
		t.Run(tt.name+"/ErrTrailing", func(t *testing.T) {
			src := append(unhex(t, tt.hex), 0)
			if m, err := new(pgoutput.Parser).Parse(src); !errors.Is(err, pgoutput.ErrTrailing) {
				t.Errorf("got %v, %v", m, err)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		hex  string
		want error
		text string
	}{
		{"Empty", "", pgoutput.ErrShort, "empty message"},
		{"UnknownMessage", "5a 00", pgoutput.ErrUnknownMessage, "decode 'Z' message, byte 0 of 2"},
		{"StreamStart", "53 00000001 01", pgoutput.ErrVersion, "Stream Start message"},
		{"StreamStop", "45", pgoutput.ErrVersion, "helixd asks for version 1"},
		{"StreamCommit", "63", pgoutput.ErrVersion, "Stream Commit"},
		{"StreamAbort", "41", pgoutput.ErrVersion, "Stream Abort"},
		{"BeginPrepare", "62", pgoutput.ErrVersion, "Begin Prepare"},
		{"CommitFlags", "43 01" + commitHex[5:], pgoutput.ErrInvalid, "Commit message, byte 1 of 26"},
		{"IdentityUnknown", "52 00004017 00 00 78 0000", pgoutput.ErrInvalid, "byte 7 of 10"},
		{"ColumnFlags", "52 00004017 00 00 64 0001 02 00 00000000 00000000", pgoutput.ErrInvalid, "byte 10 of 20"},
		{"ColumnsTooMany", "52 00004017 00 00 64 ffff", pgoutput.ErrShort, "byte 10 of 10"},
		{"InsertWithoutN", "49 00004017 4b 0000", pgoutput.ErrInvalid, "byte 5 of 8"},
		{"UpdateOldOnly", "55 00004017 4b 0000 4b 0000", pgoutput.ErrInvalid, "byte 8 of 11"},
		{"DeleteOfNew", "44 00004017 4e 0000", pgoutput.ErrInvalid, "byte 5 of 8"},
		{"TupleTooMany", "49 00004017 4e ffff 6e", pgoutput.ErrShort, "byte 8 of 9"},
		{"ValueKindUnknown", "49 00004017 4e 0001 78", pgoutput.ErrInvalid, "byte 8 of 9"},
		{"ValueKindAbsent", "49 00004017 4e 0001 00", pgoutput.ErrInvalid, "byte 8 of 9"},
		{"ValueSizeNegative", "49 00004017 4e 0001 74 ffffffff", pgoutput.ErrInvalid, "byte 9 of 13"},
		{"ValueSizeTooLarge", "49 00004017 4e 0001 74 7fffffff", pgoutput.ErrShort, "byte 13 of 13"},
		{"TruncateOptions", "54 00000001 04 00004017", pgoutput.ErrInvalid, "byte 5 of 10"},
		{"TruncateTooMany", "54 ffffffff 00 00004017", pgoutput.ErrShort, "byte 6 of 10"},
		{"TruncateOfNothing", "54 00000000 00", pgoutput.ErrInvalid, "Truncate"},
		{"MessageFlags", "4d 02 0000000000000000 00 00000000", pgoutput.ErrInvalid, "byte 1 of 15"},
		{"MessageSizeNegative", "4d 01 0000000000000000 00 ffffffff", pgoutput.ErrShort, "byte 15 of 15"},
		{"StringWithoutEnd", "59 00004017 616263", pgoutput.ErrShort, "byte 5 of 8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := new(pgoutput.Parser).Parse(unhex(t, tt.hex))
			if m != nil || !errors.Is(err, tt.want) {
				t.Fatalf("got %v, %v, want %v", m, err, tt.want)
			}
			if !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%q does not say %q", err, tt.text)
			}
		})
	}
}

// A Parser is reused: nothing of one message may show in the next.
func TestParseReuse(t *testing.T) {
	p := new(pgoutput.Parser)
	for range 2 {
		for _, tt := range messages {
			got, err := p.Parse(unhex(t, tt.hex))
			if err != nil {
				t.Fatal(err)
			}
			if u, ok := got.(*pgoutput.Update); ok && len(u.Old) == 0 {
				c := *u
				c.Old = nil
				got = &c
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
			}
		}
	}
}
