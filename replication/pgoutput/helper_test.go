package pgoutput_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/helixd/helixd/replication"
	"github.com/helixd/helixd/replication/pgoutput"
)

// frames splits the content of a capture's frames file into its messages.
func frames(data []byte) [][]byte {
	var msgs [][]byte
	for len(data) >= 4 {
		n := int(binary.BigEndian.Uint32(data))
		if data = data[4:]; n > len(data) {
			n = len(data)
		}
		msgs = append(msgs, data[:n:n])
		data = data[n:]
	}
	return msgs
}

func captureDirs(tb testing.TB) []string {
	tb.Helper()
	files, err := filepath.Glob("testdata/capture/*/frames")
	if err != nil || len(files) == 0 {
		tb.Fatalf("no captures: %v", err)
	}
	for i, f := range files {
		files[i] = filepath.Dir(f)
	}
	return files
}

func readFile(tb testing.TB, path string) []byte {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// The encoder: just enough of the server's side to say what a test sends.

var commitTime = time.Date(2026, 1, 2, 3, 4, 5, 678_000, time.UTC)

func micros(t time.Time) uint64 {
	return uint64(t.Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).Microseconds())
}

type msg []byte

func (m msg) u8(v byte) msg        { return append(m, v) }
func (m msg) u16(v int) msg        { return binary.BigEndian.AppendUint16(m, uint16(v)) }
func (m msg) u32(v uint32) msg     { return binary.BigEndian.AppendUint32(m, v) }
func (m msg) u64(v uint64) msg     { return binary.BigEndian.AppendUint64(m, v) }
func (m msg) str(s string) msg     { return append(append(m, s...), 0) }
func (m msg) lsn(l uint64) msg     { return m.u64(l) }
func (m msg) time(t time.Time) msg { return m.u64(micros(t)) }

func (m msg) tuple(t replication.Tuple) msg {
	m = m.u16(len(t))
	for _, v := range t {
		m = m.u8(byte(v.Kind))
		if v.Kind == replication.Text || v.Kind == replication.Binary {
			m = append(m.u32(uint32(len(v.Data))), v.Data...)
		}
	}
	return m
}

func begin(xid uint32, final uint64) []byte {
	return msg{'B'}.lsn(final).time(commitTime).u32(xid)
}

func commit(lsn, end uint64) []byte {
	return msg{'C', 0}.lsn(lsn).lsn(end).time(commitTime)
}

// relation describes public.<name>(c0 text, …) with the first column as key.
func relation(oid uint32, name string, columns int) []byte {
	m := msg{'R'}.u32(oid).str("public").str(name).u8('d').u16(columns)
	for i := range columns {
		key := byte(0)
		if i == 0 {
			key = 1
		}
		m = m.u8(key).str(fmt.Sprintf("c%d", i)).u32(25).u32(^uint32(0))
	}
	return m
}

func insert(oid uint32, row replication.Tuple) []byte {
	return msg{'I'}.u32(oid).u8('N').tuple(row)
}

func update(oid uint32, kind byte, old, row replication.Tuple) []byte {
	m := msg{'U'}.u32(oid)
	if kind != 0 {
		m = m.u8(kind).tuple(old)
	}
	return m.u8('N').tuple(row)
}

func del(oid uint32, kind byte, old replication.Tuple) []byte {
	return msg{'D'}.u32(oid).u8(kind).tuple(old)
}

func truncate(oids ...uint32) []byte {
	m := msg{'T'}.u32(uint32(len(oids))).u8(0)
	for _, oid := range oids {
		m = m.u32(oid)
	}
	return m
}

func logical(transactional bool, prefix, content string) []byte {
	m := msg{'M', 0}
	if transactional {
		m[1] = 1
	}
	return append(m.lsn(0x99).str(prefix).u32(uint32(len(content))), content...)
}

// text is a tuple of text values.
func text(values ...string) replication.Tuple {
	t := make(replication.Tuple, len(values))
	for i, v := range values {
		t[i] = replication.Value{Kind: replication.Text, Data: []byte(v)}
	}
	return t
}

func add(tb testing.TB, a *pgoutput.Assembler, msgs ...[]byte) {
	tb.Helper()
	for _, m := range msgs {
		if err := a.Add(m); err != nil {
			tb.Fatal(err)
		}
	}
}
