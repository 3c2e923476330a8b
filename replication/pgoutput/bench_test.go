package pgoutput_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pglogrepl"

	"github.com/helixd/helixd/replication/pgoutput"
)

// rows gives the messages of a transaction of n inserts into a table of so
// many columns, a key and short texts.
func rows(n, columns int) (msgs [][]byte, size int64) {
	msgs = append(msgs, begin(1, 10), relation(7, "users", columns))
	for i := range n {
		values := make([]string, columns)
		for c := range values {
			values[c] = fmt.Sprintf("value %d", i)
		}
		msgs = append(msgs, insert(7, text(values...)))
	}
	msgs = append(msgs, commit(10, 20))
	for _, m := range msgs {
		size += int64(len(m))
	}
	return msgs, size
}

const benchRows = 10_000

// BenchmarkAssembler takes a batch every 10,000 rows. pglogrepl's Parse on the
// same bytes is the peer: it decodes, but gives messages one by one, which
// still alias the receive buffer.
func BenchmarkAssembler(b *testing.B) {
	for _, columns := range []int{3, 10} {
		msgs, size := rows(benchRows, columns)
		run := func(name string, pass func() error) {
			b.Run(fmt.Sprintf("%s/columns=%d", name, columns), func(b *testing.B) {
				b.SetBytes(size)
				b.ReportAllocs()
				for b.Loop() {
					if err := pass(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)*benchRows/b.Elapsed().Seconds(), "rows/s")
			})
		}
		run("helixd", newReplay(msgs).pass)
		run("helixd-parse", func() error {
			var p pgoutput.Parser
			for _, m := range msgs {
				if _, err := p.Parse(m); err != nil {
					return err
				}
			}
			return nil
		})
		run("pglogrepl-parse", func() error {
			for _, m := range msgs {
				if _, err := pglogrepl.Parse(m); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// BenchmarkAssemblerSmall takes a batch after each transaction of one row, as
// a quiet project's stream does.
func BenchmarkAssemblerSmall(b *testing.B) {
	a := pgoutput.NewAssembler(0)
	if err := a.Add(relation(7, "users", 3)); err != nil {
		b.Fatal(err)
	}
	row := insert(7, text("value", "value", "value"))
	lsn := uint64(10)
	b.ReportAllocs()
	for b.Loop() {
		for _, m := range [][]byte{begin(1, lsn), row, commit(lsn, lsn+5)} {
			if err := a.Add(m); err != nil {
				b.Fatal(err)
			}
		}
		if a.Take() == nil {
			b.Fatal("nothing taken")
		}
		lsn += 10
	}
}

// replay sends one transaction again and again, each time at a later LSN.
type replay struct {
	a    *pgoutput.Assembler
	msgs [][]byte
	lsn  uint64
}

func newReplay(msgs [][]byte) *replay {
	return &replay{a: pgoutput.NewAssembler(0), msgs: msgs}
}

func (r *replay) pass() error {
	r.lsn += 10
	last := len(r.msgs) - 1
	r.msgs[0], r.msgs[last] = begin(1, r.lsn), commit(r.lsn, r.lsn+5)
	for _, m := range r.msgs {
		if err := r.a.Add(m); err != nil {
			return err
		}
	}
	if b := r.a.Take(); b.Len() != last-2 {
		return fmt.Errorf("took %d changes of %d", b.Len(), last-2)
	}
	return nil
}

func TestParseAllocs(t *testing.T) {
	msgs, _ := rows(1000, 10)
	msgs = append(msgs, update(7, 'O', text("a"), text("b")), truncate(7), logical(true, "helix", "mark"))
	var p pgoutput.Parser
	allocs := testing.AllocsPerRun(10, func() {
		for _, m := range msgs {
			if _, err := p.Parse(m); err != nil {
				t.Fatal(err)
			}
		}
	})
	if allocs > 0 {
		t.Errorf("%v allocations for %d messages, want none", allocs, len(msgs))
	}
}

func TestAssemblerAllocs(t *testing.T) {
	msgs, _ := rows(10_000, 3)
	r := newReplay(msgs)
	allocs := testing.AllocsPerRun(5, func() {
		if err := r.pass(); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("%v allocations for 10,000 rows", allocs)
	if perRow := allocs / 10_000; perRow > 0.02 {
		t.Errorf("%v allocations a row, want less than one in fifty rows", perRow)
	}
}
