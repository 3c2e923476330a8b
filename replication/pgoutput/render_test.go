package pgoutput_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/helixd/helixd/replication"
)

// renderer writes batches as text, a line a change. It joins the parts of a
// transaction, so that the text does not depend on where batches were taken.
type renderer struct {
	out       strings.Builder
	open      bool // a part was written, its end is to come
	ordinal   int
	described map[*replication.Relation]bool
}

func (r *renderer) batch(b *replication.Batch) error {
	for i := range b.Transactions {
		tx := &b.Transactions[i]
		if !r.open {
			r.ordinal = 0
			fmt.Fprintf(&r.out, "\ntransaction %d, commit %s, %s\n", tx.XID, tx.CommitLSN, tx.CommitTime.Format(time.RFC3339Nano))
		}
		if tx.Ordinal != r.ordinal {
			return fmt.Errorf("a part begins with change %d, want %d", tx.Ordinal, r.ordinal)
		}
		for j := range tx.Changes {
			r.change(&tx.Changes[j])
			r.ordinal++
		}
		r.open = b.More && i == len(b.Transactions)-1
		if r.open != (tx.EndLSN == 0) {
			return fmt.Errorf("more to come: %t, but the end is %s", r.open, tx.EndLSN)
		}
		if !r.open {
			fmt.Fprintf(&r.out, "  end %s\n", tx.EndLSN)
		}
	}
	if b.More != (b.EndLSN == 0) {
		return fmt.Errorf("batch with more to come: %t, but its end is %s", b.More, b.EndLSN)
	}
	return nil
}

func (r *renderer) change(c *replication.Change) {
	if rel := c.Relation; rel != nil && !r.described[rel] {
		if r.described == nil {
			r.described = make(map[*replication.Relation]bool)
		}
		r.described[rel] = true
		fmt.Fprintf(&r.out, "  relation %s, identity %c:", rel, rel.Identity)
		for _, col := range rel.Columns {
			fmt.Fprintf(&r.out, " %q", col.Name)
			if col.Key {
				r.out.WriteByte('*')
			}
			fmt.Fprintf(&r.out, "(%s", typeName(col.TypeOID))
			if col.Modifier != -1 {
				fmt.Fprintf(&r.out, " %d", col.Modifier)
			}
			r.out.WriteByte(')')
		}
		r.out.WriteByte('\n')
	}
	fmt.Fprintf(&r.out, "  %d %s", r.ordinal, c.Op)
	if c.Op == replication.Message {
		fmt.Fprintf(&r.out, " %q %q transactional %t\n", c.Prefix, c.Content, c.Transactional)
		return
	}
	fmt.Fprintf(&r.out, " %s", c.Relation)
	if c.Old != nil {
		if c.OldKey {
			r.out.WriteString(" key")
		} else {
			r.out.WriteString(" old")
		}
		r.tuple(c.Old)
	}
	if c.New != nil {
		r.out.WriteString(" new")
		r.tuple(c.New)
	}
	r.out.WriteByte('\n')
}

func (r *renderer) tuple(t replication.Tuple) {
	r.out.WriteByte('(')
	for i, v := range t {
		if i > 0 {
			r.out.WriteString(", ")
		}
		switch v.Kind {
		case replication.Null:
			r.out.WriteString("null")
		case replication.Unchanged:
			r.out.WriteString("unchanged")
		case replication.Text:
			if len(v.Data) > 100 {
				fmt.Fprintf(&r.out, "%d bytes of %.1q", len(v.Data), v.Data)
				break
			}
			fmt.Fprintf(&r.out, "%q", v.Data)
		case replication.Binary:
			fmt.Fprintf(&r.out, "binary %x", v.Data)
		default:
			fmt.Fprintf(&r.out, "kind %d", v.Kind)
		}
	}
	r.out.WriteByte(')')
}

// typeName names types whose OIDs are fixed; the others differ a capture.
func typeName(oid uint32) string {
	const firstNormal = 16384
	if oid < firstNormal {
		return fmt.Sprint(oid)
	}
	return "user-defined"
}

// short leaves out the middle of long runs of changes, for a sum of it.
func short(s string) string {
	var out strings.Builder
	lines := strings.SplitAfter(s, "\n")
	for i := 0; i < len(lines); {
		n := i
		for n < len(lines) && len(lines[n]) > 2 && lines[n][0] == ' ' && lines[n][2] >= '0' && lines[n][2] <= '9' {
			n++
		}
		if n-i > 50 {
			middle := strings.Join(lines[i+2:n-2], "")
			out.WriteString(strings.Join(lines[i:i+2], ""))
			fmt.Fprintf(&out, "  … %d more, sha256 %.8x …\n", n-i-4, sha256.Sum256([]byte(middle)))
			i = n - 2
			continue
		}
		out.WriteString(lines[i])
		i++
	}
	return out.String()
}
