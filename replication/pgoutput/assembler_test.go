package pgoutput_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/helixd/helixd/replication"
	"github.com/helixd/helixd/replication/pgoutput"
)

// shape writes what a batch carries, a transaction a word: its XID, the ordinal
// of its first change, its operations and a "." for its end.
func shape(b *replication.Batch) string {
	if b == nil {
		return "nil"
	}
	var words []string
	for _, tx := range b.Transactions {
		var w strings.Builder
		w.WriteString(string('a' + rune(tx.XID) - 1))
		w.WriteString(string('0' + rune(tx.Ordinal)))
		for _, c := range tx.Changes {
			w.WriteByte(byte(c.Op))
		}
		if tx.EndLSN != 0 {
			w.WriteByte('.')
		}
		words = append(words, w.String())
	}
	s := strings.Join(words, " ")
	if b.More {
		s += " more"
	}
	return s
}

func wantTake(t *testing.T, a *pgoutput.Assembler, want string) *replication.Batch {
	t.Helper()
	b := a.Take()
	if got := shape(b); got != want {
		t.Fatalf("took %q, want %q", got, want)
	}
	return b
}

func TestAssembler(t *testing.T) {
	rel, row := relation(7, "note", 1), insert(7, text("v"))
	mark := logical(true, "helix", "mark")

	t.Run("WholeTransactions", func(t *testing.T) {
		a := pgoutput.NewAssembler(0)
		add(t, a, begin(1, 10), rel, row, row, commit(10, 15))
		add(t, a, begin(2, 20), row, commit(20, 25))
		if !a.Ready() || a.InTransaction() || a.Len() != 3 || a.Bytes() != 3*len(row) || a.EndLSN() != 25 {
			t.Errorf("ready %t, in transaction %t, %d changes, %d bytes, end %s",
				a.Ready(), a.InTransaction(), a.Len(), a.Bytes(), a.EndLSN())
		}
		b := wantTake(t, a, "a0II. b0I.")
		if b.EndLSN != 25 || b.Bytes != 3*len(row) || b.Len() != 3 {
			t.Errorf("got %+v", b)
		}
		tx := b.Transactions[0]
		if tx.CommitLSN != 10 || tx.EndLSN != 15 || !tx.CommitTime.Equal(commitTime) {
			t.Errorf("got %+v", tx)
		}
		if a.Ready() || a.Len() != 0 || a.Bytes() != 0 {
			t.Error("something is left")
		}
		wantTake(t, a, "nil")
	})

	t.Run("AppliedBefore", func(t *testing.T) {
		a := pgoutput.NewAssembler(20)
		add(t, a, begin(1, 10), rel, mark, row, truncate(7))
		if !a.InTransaction() || a.Len() != 0 || a.Take() != nil {
			t.Error("holds changes that were applied before")
		}
		add(t, a, commit(10, 15))
		if a.EndLSN() != 20 {
			t.Errorf("end %s, want the position given", a.EndLSN())
		}
		add(t, a, begin(2, 20), row, commit(20, 25)) // the relation was described in the other
		wantTake(t, a, "b0I.")
	})

	t.Run("Dropped", func(t *testing.T) {
		a := pgoutput.NewAssembler(0)
		add(t, a, logical(false, "p", "outside"))
		add(t, a, begin(1, 10), commit(10, 15))
		add(t, a, begin(2, 20), mark, logical(false, "p", "at once"), mark, commit(20, 25))
		if a.Ready() || a.Len() != 0 || a.Bytes() != 0 || a.EndLSN() != 25 {
			t.Errorf("ready %t, %d changes, %d bytes, end %s", a.Ready(), a.Len(), a.Bytes(), a.EndLSN())
		}
		wantTake(t, a, "nil")
		add(t, a, begin(3, 30), rel, row, commit(30, 35), begin(4, 40), mark, commit(40, 45))
		if b := wantTake(t, a, "c0I."); b.EndLSN != 45 {
			t.Errorf("end %s, want that of the dropped transaction", b.EndLSN)
		}
	})

	t.Run("MessagesInPlace", func(t *testing.T) {
		a := pgoutput.NewAssembler(0)
		add(t, a, begin(1, 10), mark, rel, row, logical(false, "p", "at once"), mark, row, commit(10, 15))
		b := wantTake(t, a, "a0MIMI.")
		c := b.Transactions[0].Changes[0]
		if c.Prefix != "helix" || string(c.Content) != "mark" || !c.Transactional || c.Relation != nil {
			t.Errorf("got %+v", c)
		}
	})

	t.Run("Parts", func(t *testing.T) {
		a := pgoutput.NewAssembler(0)
		add(t, a, begin(1, 10), rel, row, commit(10, 15), begin(2, 20), mark, row)
		if b := wantTake(t, a, "a0I."); b.EndLSN != 15 || b.Bytes != len(row) {
			t.Errorf("got %+v", b)
		}
		b := wantTake(t, a, "b0MI more") // only now: it would have held the other up
		if b.EndLSN != 0 || b.Bytes != len(row)+len(mark) {
			t.Errorf("got %+v", b)
		}
		if a.Ready() {
			t.Error("ready with nothing held")
		}
		wantTake(t, a, "nil")
		add(t, a, row)
		if !a.Ready() {
			t.Error("a further part is not ready")
		}
		wantTake(t, a, "b2I more")
		add(t, a, mark) // of a transaction that has begun to be handed over
		wantTake(t, a, "b3M more")
		add(t, a, row, commit(20, 25), begin(3, 30), row, commit(30, 35))
		b = wantTake(t, a, "b4I. c0I.")
		if b.EndLSN != 35 || b.Transactions[0].CommitLSN != 20 || !b.Transactions[0].CommitTime.Equal(commitTime) {
			t.Errorf("got %+v", b)
		}
	})

	t.Run("EndAlone", func(t *testing.T) {
		a := pgoutput.NewAssembler(0)
		add(t, a, begin(1, 10), rel, row)
		wantTake(t, a, "a0I more")
		add(t, a, commit(10, 15))
		if !a.Ready() || a.Len() != 0 {
			t.Errorf("ready %t, %d changes", a.Ready(), a.Len())
		}
		if b := wantTake(t, a, "a1."); b.EndLSN != 15 {
			t.Errorf("got %+v", b)
		}
	})

	t.Run("QuietStays", func(t *testing.T) {
		a := pgoutput.NewAssembler(0)
		add(t, a, begin(1, 10), rel, row, commit(10, 15), begin(2, 20), mark)
		if b := wantTake(t, a, "a0I."); b.EndLSN != 15 || b.Bytes != len(row) {
			t.Errorf("got %+v", b)
		}
		if a.Ready() || a.Len() != 1 || a.Bytes() != len(mark) {
			t.Errorf("ready %t, %d changes, %d bytes", a.Ready(), a.Len(), a.Bytes())
		}
		wantTake(t, a, "nil")
		add(t, a, row, commit(20, 25))
		b := wantTake(t, a, "b0MI.")
		if c := b.Transactions[0].Changes[0]; string(c.Content) != "mark" {
			t.Errorf("got %+v", c)
		}
	})

	t.Run("QuietWithoutEnd", func(t *testing.T) {
		// A flood of messages is handed over before it fills the memory.
		a := pgoutput.NewAssembler(0)
		add(t, a, begin(1, 10), rel, row, commit(10, 15), begin(2, 20))
		flood := logical(true, "flood", strings.Repeat("x", 100<<10))
		add(t, a, flood, flood, flood)
		wantTake(t, a, "a0I.")
		wantTake(t, a, "b0MMM more")
		add(t, a, commit(20, 25))
		wantTake(t, a, "b3.")
	})

	t.Run("TruncateEachRelation", func(t *testing.T) {
		a := pgoutput.NewAssembler(0)
		add(t, a, begin(1, 10), rel, relation(8, "tag", 2), truncate(7, 8), commit(10, 15))
		b := wantTake(t, a, "a0TT.")
		c := b.Transactions[0].Changes
		if c[0].Relation.Name != "note" || c[1].Relation.Name != "tag" || c[0].New != nil || c[0].Old != nil {
			t.Errorf("got %+v", c)
		}
	})

	t.Run("OldTuples", func(t *testing.T) {
		a := pgoutput.NewAssembler(0)
		o, n := text("old"), text("new")
		add(t, a, begin(1, 10), rel, update(7, 0, nil, n), update(7, 'K', o, n), update(7, 'O', o, n),
			del(7, 'K', o), del(7, 'O', o), commit(10, 15))
		b := wantTake(t, a, "a0UUUDD.")
		for i, want := range []struct{ old, key, new bool }{
			{false, false, true}, {true, true, true}, {true, false, true}, {true, true, false}, {true, false, false},
		} {
			c := b.Transactions[0].Changes[i]
			if (c.Old != nil) != want.old || c.OldKey != want.key || (c.New != nil) != want.new {
				t.Errorf("change %d: got %+v, want %+v", i, c, want)
			}
		}
	})

	t.Run("RelationReplaced", func(t *testing.T) {
		a := pgoutput.NewAssembler(0)
		add(t, a, relation(7, "before", 1), begin(1, 10), row, relation(7, "after", 2), insert(7, text("v", "w")), commit(10, 15))
		c := wantTake(t, a, "a0II.").Transactions[0].Changes
		if c[0].Relation.String() != "public.before" || len(c[0].Relation.Columns) != 1 ||
			c[1].Relation.String() != "public.after" || len(c[1].Relation.Columns) != 2 {
			t.Errorf("got %v and %v", c[0].Relation, c[1].Relation)
		}
	})

	t.Run("CatalogNamespace", func(t *testing.T) {
		a := pgoutput.NewAssembler(0)
		add(t, a, msg{'R'}.u32(7).str("").str("note").u8('d').u16(0), begin(1, 10), insert(7, nil), commit(10, 15))
		c := wantTake(t, a, "a0I.").Transactions[0].Changes[0]
		if c.Relation.Namespace != "pg_catalog" || c.New == nil {
			t.Errorf("got %+v", c)
		}
	})

	t.Run("LargeValue", func(t *testing.T) {
		a := pgoutput.NewAssembler(0)
		large := strings.Repeat("0123456789", 100_000)
		add(t, a, begin(1, 10), rel, row, insert(7, text(large)), row, commit(10, 15))
		c := wantTake(t, a, "a0III.").Transactions[0].Changes
		if string(c[1].New[0].Data) != large || string(c[2].New[0].Data) != "v" {
			t.Error("a large value came out wrong")
		}
	})
}

func TestAssemblerOwnsItsBytes(t *testing.T) {
	a := pgoutput.NewAssembler(0)
	buf := make([]byte, 0, 1024)
	for _, m := range [][]byte{
		begin(1, 10), relation(7, "note", 1), logical(true, "helix", "content"),
		update(7, 'O', text("old"), text("new")), commit(10, 15),
	} {
		buf = append(buf[:0], m...)
		add(t, a, buf)
		copy(buf, bytes.Repeat([]byte{'#'}, len(buf)))
	}
	c := a.Take().Transactions[0].Changes
	if string(c[0].Content) != "content" || c[0].Prefix != "helix" || string(c[1].Old[0].Data) != "old" ||
		string(c[1].New[0].Data) != "new" || c[1].Relation.Columns[0].Name != "c0" {
		t.Errorf("got %+v", c)
	}
}

func TestAssemblerRefuses(t *testing.T) {
	rel, row := relation(7, "note", 1), insert(7, text("v"))
	for _, tt := range []struct {
		name string
		msgs [][]byte
		want error
		text string
	}{
		{"CommitWithoutBegin", [][]byte{commit(10, 15)}, pgoutput.ErrOrder, "Commit message"},
		{"InsertWithoutBegin", [][]byte{rel, row}, pgoutput.ErrOrder, "no transaction is open"},
		{"TruncateWithoutBegin", [][]byte{rel, truncate(7)}, pgoutput.ErrOrder, ""},
		{"MessageWithoutBegin", [][]byte{logical(true, "p", "")}, pgoutput.ErrOrder, ""},
		{"OriginWithoutBegin", [][]byte{msg{'O'}.u64(1).str("o")}, pgoutput.ErrOrder, ""},
		{"BeginInBegin", [][]byte{begin(1, 10), begin(2, 20)}, pgoutput.ErrOrder, "in transaction 1"},
		{"BeginInSkipped", [][]byte{begin(1, 1), begin(2, 20)}, pgoutput.ErrOrder, ""},
		{"BeginBeforeTheLastCommit", [][]byte{begin(1, 10), commit(10, 15), begin(2, 14)}, pgoutput.ErrOrder, "0/F"},
		{"CommitElsewhere", [][]byte{begin(1, 10), commit(11, 15)}, pgoutput.ErrOrder, "0/B"},
		{"CommitWithoutEnd", [][]byte{begin(1, 10), commit(10, 0)}, pgoutput.ErrInvalid, ""},
		{"UnknownRelation", [][]byte{begin(1, 10), row}, pgoutput.ErrUnknownRelation, "OID 7"},
		{"TruncateUnknownRelation", [][]byte{begin(1, 10), rel, truncate(7, 9)}, pgoutput.ErrUnknownRelation, "OID 9"},
		{"TooManyColumns", [][]byte{begin(1, 10), rel, insert(7, text("secret", "w"))}, pgoutput.ErrColumnCount, "public.note"},
		{"TooFewOldColumns", [][]byte{begin(1, 10), rel, update(7, 'O', nil, text("v"))}, pgoutput.ErrColumnCount, ""},
		{"DeleteTooFewColumns", [][]byte{begin(1, 10), rel, del(7, 'K', nil)}, pgoutput.ErrColumnCount, ""},
		{"Empty", [][]byte{begin(1, 10), {}}, pgoutput.ErrShort, "in transaction 1 committed at 0/A"},
		{"UndecodableInSkipped", [][]byte{begin(1, 1), {'I'}}, pgoutput.ErrShort, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := pgoutput.NewAssembler(5)
			last := len(tt.msgs) - 1
			add(t, a, tt.msgs[:last]...)
			err := a.Add(tt.msgs[last])
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Fatalf("got %v, want %v that says %q", err, tt.want, tt.text)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("%q holds a row's value", err)
			}
			if again := a.Add(begin(3, 30)); again != err {
				t.Errorf("then got %v, want the same error", again)
			}
		})
	}

	t.Run("WholeOnesRemain", func(t *testing.T) {
		a := pgoutput.NewAssembler(0)
		add(t, a, begin(1, 10), rel, row, commit(10, 15), begin(2, 20), row)
		if a.Add([]byte{'I'}) == nil {
			t.Fatal("no error")
		}
		if b := wantTake(t, a, "a0I."); b.EndLSN != 15 {
			t.Errorf("got %+v", b)
		}
		wantTake(t, a, "nil")
	})
}

// The memory of neighbours lies side by side: whoever appends must not reach it.
func TestAssemblerClipsCapacity(t *testing.T) {
	a := pgoutput.NewAssembler(0)
	add(t, a, relation(7, "note", 2), begin(1, 10), insert(7, text("a", "b")), insert(7, text("c", "d")), commit(10, 15))
	add(t, a, begin(2, 20), insert(7, text("e", "f")), commit(20, 25))
	txs := a.Take().Transactions
	c := txs[0].Changes
	_ = append(c[0].New[0].Data, "######"...)
	_ = append(c[0].New, replication.Value{})
	_ = append(c, replication.Change{})
	if string(c[0].New[1].Data) != "b" || string(c[1].New[0].Data) != "c" || len(txs[1].Changes[0].New) != 2 {
		t.Errorf("got %+v and %+v", c, txs[1].Changes)
	}
}
