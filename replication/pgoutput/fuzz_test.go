package pgoutput_test

import (
	"encoding/binary"
	"errors"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/helixd/helixd/replication"
	"github.com/helixd/helixd/replication/pgoutput"
)

// decoders are the first bytes that a decoder answers to.
const decoders = "BCORYIUDTM"

func isSentinel(err error) bool {
	for _, s := range []error{
		pgoutput.ErrShort, pgoutput.ErrTrailing, pgoutput.ErrInvalid, pgoutput.ErrUnknownMessage, pgoutput.ErrVersion,
		pgoutput.ErrOrder, pgoutput.ErrUnknownRelation, pgoutput.ErrColumnCount,
	} {
		if errors.Is(err, s) {
			return true
		}
	}
	return false
}

// FuzzParse gives any bytes to each decoder in turn: none may panic, or make
// room for more than its message can hold.
func FuzzParse(f *testing.F) {
	for _, tt := range messages {
		src := unhex(f, tt.hex)
		f.Add(src[0], src[1:])
	}
	for _, dir := range captureDirs(f) {
		for i, m := range frames(readFile(f, filepath.Join(dir, "frames"))) {
			if i < 20 {
				f.Add(m[0], m[1:])
			}
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, body []byte) {
		src := append([]byte{kind}, body...)
		check := func(src []byte) {
			p := new(pgoutput.Parser)
			m, err := p.Parse(src)
			if (m == nil) == (err == nil) || err != nil && !isSentinel(err) {
				t.Fatalf("got %v, %v", m, err)
			}
			if err != nil {
				return
			}
			if n := room(m); n > len(src) {
				t.Fatalf("%s of %d bytes makes room for %d items", m.Kind(), len(src), n)
			}
			if again, err := p.Parse(src); err != nil || !reflect.DeepEqual(again, m) {
				t.Fatalf("parsed again: %v, %v", again, err)
			}
		}
		check(src)
		check(body)
		src[0] = decoders[int(kind)%len(decoders)]
		check(src)
	})
}

// room counts the items that a message's slices have room for.
func room(m pgoutput.Message) int {
	switch m := m.(type) {
	case *pgoutput.Relation:
		return cap(m.Columns)
	case *pgoutput.Insert:
		return cap(m.New)
	case *pgoutput.Update:
		return cap(m.New) + cap(m.Old)
	case *pgoutput.Delete:
		return cap(m.Old)
	case *pgoutput.Truncate:
		return cap(m.RelationOIDs)
	}
	return 0
}

// FuzzAssembler reads the bytes as frames. Whatever they are, it must not
// panic, nor depend on where batches are taken: one is taken after each
// message whose bit in takes is set, and in a second pass only at the end.
func FuzzAssembler(f *testing.F) {
	for _, dir := range captureDirs(f) {
		data := readFile(f, filepath.Join(dir, "frames"))
		f.Add(data[:min(len(data), 4<<10)], uint64(0), uint64(0))
		f.Add(data[:min(len(data), 4<<10)], uint64(0x5555_5555_5555_5555), uint64(0))
	}
	var all []byte
	for _, m := range [][]byte{
		begin(1, 10), logical(true, "helix", "mark"), relation(7, "note", 1), insert(7, text("v")),
		update(7, 'O', text("a"), text("b")), del(7, 'K', text("b")), truncate(7), commit(10, 20), begin(2, 30), commit(30, 40),
	} {
		all = append(binary.BigEndian.AppendUint32(all, uint32(len(m))), m...)
	}
	f.Add(all, uint64(0x24), uint64(0))
	f.Add(all, uint64(0), uint64(25))
	f.Fuzz(func(t *testing.T, data []byte, takes, from uint64) {
		msgs := frames(data)
		whole, wholeErr := assemble(t, msgs, 0, replication.LSN(from))
		parts, partsErr := assemble(t, msgs, takes, replication.LSN(from))
		if (wholeErr == nil) != (partsErr == nil) {
			t.Fatalf("in parts: %v, whole: %v", partsErr, wholeErr)
		}
		// What was handed over before an error, or of a transaction without
		// end, depends on the moment; and so does whether a flood of messages is.
		if wholeErr != nil || whole.more || parts.more || len(data) > 256<<10 {
			return
		}
		if len(whole.txs) != len(parts.txs) {
			t.Fatalf("in parts %d transactions, whole %d", len(parts.txs), len(whole.txs))
		}
		for i := range whole.txs {
			w, p := whole.txs[i], parts.txs[i]
			if w.XID != p.XID || w.EndLSN != p.EndLSN || len(w.Changes) != len(p.Changes) {
				t.Fatalf("in parts %+v, whole %+v", p, w)
			}
			for k := range w.Changes {
				if !sameChange(&w.Changes[k], &p.Changes[k]) {
					t.Fatalf("in parts %+v, whole %+v", p.Changes[k], w.Changes[k])
				}
			}
		}
	})
}

func assemble(t *testing.T, msgs [][]byte, takes uint64, from replication.LSN) (j joiner, err error) {
	a := pgoutput.NewAssembler(from)
	take := func() {
		if b := a.Take(); b != nil {
			values := 0
			for _, tx := range b.Transactions {
				for _, c := range tx.Changes {
					values += len(c.New) + len(c.Old)
					if c.Relation != nil && (c.New != nil && len(c.New) != len(c.Relation.Columns) ||
						c.Old != nil && len(c.Old) != len(c.Relation.Columns)) {
						t.Fatalf("a tuple does not fit %s", c.Relation)
					}
				}
			}
			if b.Len()+values > b.Bytes {
				t.Fatalf("%d changes and %d values of %d bytes", b.Len(), values, b.Bytes)
			}
			if err := j.add(b); err != nil {
				t.Fatal(err)
			}
		}
	}
	var buf []byte
	for i, m := range msgs {
		buf = append(buf[:0], m...)
		if err = a.Add(buf); err != nil {
			if !isSentinel(err) {
				t.Fatalf("not a known error: %v", err)
			}
			break
		}
		clear(buf)
		if takes>>(i%64)&1 == 1 {
			take()
		}
	}
	take()
	return j, err
}
