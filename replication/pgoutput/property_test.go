package pgoutput_test

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/helixd/helixd/replication"
	"github.com/helixd/helixd/replication/pgoutput"
)

// script is a random stream: its messages, and what of them must arrive.
type script struct {
	msgs [][]byte
	want []replication.Transaction
	from replication.LSN
	end  replication.LSN // of the last commit
}

func drawTuple(t *rapid.T, columns int) replication.Tuple {
	row := make(replication.Tuple, columns)
	for i := range row {
		row[i].Kind = rapid.SampledFrom([]replication.ValueKind{
			replication.Text, replication.Text, replication.Null, replication.Unchanged, replication.Binary,
		}).Draw(t, "kind")
		if row[i].Kind == replication.Text || row[i].Kind == replication.Binary {
			row[i].Data = rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "data")
		}
	}
	return row
}

// drawScript encodes random transactions over three tables, which are described
// anew now and then, and notes what the Assembler has to make of them.
func drawScript(t *rapid.T) script {
	var s script
	s.from = replication.LSN(rapid.IntRange(0, 400).Draw(t, "from"))
	lsn := uint64(100)
	relations := make(map[uint32]*replication.Relation)
	for xid := range uint32(rapid.IntRange(0, 12).Draw(t, "transactions")) {
		tx := replication.Transaction{XID: xid, CommitLSN: replication.LSN(lsn), CommitTime: commitTime}
		s.msgs = append(s.msgs, begin(xid, lsn))
		rows := false
		operations := rapid.OneOf(rapid.IntRange(0, 6), rapid.IntRange(0, 60)).Draw(t, "operations")
		for range operations {
			oid := rapid.Uint32Range(1, 3).Draw(t, "relation")
			rel := relations[oid]
			if rel == nil || rapid.IntRange(0, 9).Draw(t, "describe") == 0 {
				columns := rapid.IntRange(0, 5).Draw(t, "columns")
				s.msgs = append(s.msgs, relation(oid, fmt.Sprint("t", len(s.msgs)), columns))
				rel = &replication.Relation{OID: oid, Name: fmt.Sprint("t", len(s.msgs)-1)}
				rel.Columns = make([]replication.Column, columns)
				relations[oid] = rel
			}
			c := replication.Change{Relation: rel}
			columns := len(rel.Columns)
			switch c.Op = replication.Op(rapid.SampledFrom([]byte("IIIUUDDTMm")).Draw(t, "operation")); c.Op {
			case replication.Insert:
				c.New = drawTuple(t, columns)
				s.msgs = append(s.msgs, insert(oid, c.New))
			case replication.Update:
				c.New = drawTuple(t, columns)
				kind := rapid.SampledFrom([]byte{0, 'K', 'O'}).Draw(t, "old")
				if kind != 0 {
					c.Old, c.OldKey = drawTuple(t, columns), kind == 'K'
				}
				s.msgs = append(s.msgs, update(oid, kind, c.Old, c.New))
			case replication.Delete:
				c.Old, c.OldKey = drawTuple(t, columns), rapid.Bool().Draw(t, "key")
				kind := byte('O')
				if c.OldKey {
					kind = 'K'
				}
				s.msgs = append(s.msgs, del(oid, kind, c.Old))
			case replication.Truncate:
				s.msgs = append(s.msgs, truncate(oid))
			case replication.Message:
				c.Relation, c.Transactional = nil, true
				c.Prefix = rapid.SampledFrom([]string{"helix", "", "other"}).Draw(t, "prefix")
				c.Content = rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "content")
				s.msgs = append(s.msgs, logical(true, c.Prefix, string(c.Content)))
			case 'm':
				s.msgs = append(s.msgs, logical(false, "helix", "at once"))
				continue
			}
			rows = rows || c.Op != replication.Message
			tx.Changes = append(tx.Changes, c)
		}
		end := lsn + uint64(rapid.IntRange(1, 50).Draw(t, "record"))
		s.msgs = append(s.msgs, commit(lsn, end))
		tx.EndLSN, s.end = replication.LSN(end), replication.LSN(end)
		if rows && tx.CommitLSN >= s.from {
			s.want = append(s.want, tx)
		}
		lsn = end + uint64(rapid.IntRange(0, 50).Draw(t, "gap"))
	}
	return s
}

// joiner puts batches together again, and checks what holds for each.
type joiner struct {
	txs  []replication.Transaction
	more bool
	end  replication.LSN
}

func (j *joiner) add(b *replication.Batch) error {
	if len(b.Transactions) == 0 {
		return fmt.Errorf("an empty batch")
	}
	for i, tx := range b.Transactions {
		last := i == len(b.Transactions)-1
		if (tx.EndLSN == 0) != (last && b.More) {
			return fmt.Errorf("transaction %d of %d, more %t: end %s", i, len(b.Transactions), b.More, tx.EndLSN)
		}
		if i > 0 || !j.more {
			if tx.Ordinal != 0 {
				return fmt.Errorf("transaction %d begins with change %d", tx.XID, tx.Ordinal)
			}
			j.txs = append(j.txs, tx)
			j.txs[len(j.txs)-1].Changes = append([]replication.Change(nil), tx.Changes...)
			continue
		}
		whole := &j.txs[len(j.txs)-1]
		if tx.Ordinal != len(whole.Changes) || tx.XID != whole.XID || tx.CommitLSN != whole.CommitLSN || tx.CommitTime != whole.CommitTime {
			return fmt.Errorf("part %+v does not follow on %d changes of %d", tx, len(whole.Changes), whole.XID)
		}
		whole.Changes = append(whole.Changes, tx.Changes...)
		whole.EndLSN = tx.EndLSN
	}
	j.more = b.More
	lastEnd := b.Transactions[len(b.Transactions)-1].EndLSN
	if b.More != (b.EndLSN == 0) || b.EndLSN < lastEnd || !b.More && b.EndLSN < j.end {
		return fmt.Errorf("batch ends at %s after %s, its last transaction at %s", b.EndLSN, j.end, lastEnd)
	}
	j.end = max(j.end, b.EndLSN)
	return nil
}

func sameTuple(a, b replication.Tuple) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	for i := range a {
		if a[i].Kind != b[i].Kind || !bytes.Equal(a[i].Data, b[i].Data) {
			return false
		}
	}
	return true
}

func sameChange(a, b *replication.Change) bool {
	if (a.Relation == nil) != (b.Relation == nil) {
		return false
	}
	if a.Relation != nil && (a.Relation.OID != b.Relation.OID || a.Relation.Name != b.Relation.Name) {
		return false
	}
	return a.Op == b.Op && sameTuple(a.New, b.New) && sameTuple(a.Old, b.Old) && a.OldKey == b.OldKey &&
		a.Prefix == b.Prefix && bytes.Equal(a.Content, b.Content) && a.Transactional == b.Transactional
}

// Wherever batches are taken, together they are the transactions that were
// sent and have something to apply.
func TestAssemblerProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScript(t)
		a := pgoutput.NewAssembler(s.from)
		var j joiner
		var buf []byte
		take := func() {
			ready, n, size := a.Ready(), a.Len(), a.Bytes()
			b := a.Take()
			if b == nil {
				if ready {
					t.Fatal("ready, but took nothing")
				}
				return
			}
			if b.Len()+a.Len() != n || b.Bytes+a.Bytes() != size {
				t.Fatalf("took %d changes of %d bytes, left %d of %d; held %d of %d",
					b.Len(), b.Bytes, a.Len(), a.Bytes(), n, size)
			}
			if err := j.add(b); err != nil {
				t.Fatal(err)
			}
		}
		// Batches that were taken before must not change under later ones: they
		// are compared at the very end.
		p := rapid.SampledFrom([]int{0, 1, 3, 10}).Draw(t, "take once in")
		for _, m := range s.msgs {
			buf = append(buf[:0], m...)
			if err := a.Add(buf); err != nil {
				t.Fatal(err)
			}
			clear(buf)
			if p > 0 && rapid.IntRange(1, p).Draw(t, "take") == 1 {
				take()
			}
		}
		take()
		if j.more || a.InTransaction() || a.Len() != 0 || a.Bytes() != 0 || a.Ready() {
			t.Fatalf("something is left: %d changes, more %t", a.Len(), j.more)
		}
		if want := max(s.from, s.end); a.EndLSN() != want {
			t.Fatalf("end %s, want %s", a.EndLSN(), want)
		}
		// A transaction of messages only that was not split is not in want; none
		// here is large enough to be.
		if len(j.txs) != len(s.want) {
			t.Fatalf("got %d transactions, want %d", len(j.txs), len(s.want))
		}
		for i, want := range s.want {
			got := j.txs[i]
			if got.XID != want.XID || got.CommitLSN != want.CommitLSN || got.EndLSN != want.EndLSN ||
				!got.CommitTime.Equal(want.CommitTime) || len(got.Changes) != len(want.Changes) {
				t.Fatalf("got %+v, want %+v", got, want)
			}
			for k := range want.Changes {
				if !sameChange(&got.Changes[k], &want.Changes[k]) {
					t.Fatalf("change %d: got %+v, want %+v", k, got.Changes[k], want.Changes[k])
				}
			}
		}
	})
}
