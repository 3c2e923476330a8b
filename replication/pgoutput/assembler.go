package pgoutput

import (
	"fmt"

	"github.com/helixd/helixd/replication"
)

// state is where in a transaction the stream is; see the package's diagram.
type state byte

const (
	idle    state = iota // between transactions
	skipped              // in one that was applied before
	quiet                // in one without row changes so far
	changed              // in one with row changes
	split                // in one of which a part was taken
)

// maxQuiet is how many bytes of logical messages an unfinished transaction
// without row changes may hold back. Any database user can emit messages
// without end, and what is received must stay bounded.
const maxQuiet = 256 << 10

// Assembler makes batches of transactions out of the messages of one walsender
// connection, in their order. It is for one goroutine; the batches it hands
// over are free of it.
//
// It keeps transactions that have row changes, and with them their
// transactional logical messages, in place. Other transactions carry nothing
// to apply and are dropped, as are logical messages outside the transactional
// order.
//
// It does not bound what it holds: the caller looks at Len and Bytes, and
// takes. Bytes is what the messages took on the wire; in memory a column is 32
// bytes more and a change 128.
type Assembler struct {
	from  replication.LSN
	end   replication.LSN // of the last commit, or from
	last  replication.LSN // end of the last commit on this connection
	state state
	tx    replication.Transaction // the open one, without its changes
	held  held
	err   error

	parser    Parser
	relations map[uint32]*replication.Relation
	recent    *replication.Relation // most rows are of the relation before
	prefix    string                // as are prefixes, so that they share a string
}

// NewAssembler returns an Assembler for a new connection. Transactions that
// committed before from are already applied: the server may send them again
// and they are skipped.
func NewAssembler(from replication.LSN) *Assembler {
	return &Assembler{
		from:      from,
		end:       from,
		held:      newHeld(0, 0),
		relations: make(map[uint32]*replication.Relation),
	}
}

// InTransaction reports whether the stream is between a BEGIN and its COMMIT.
func (a *Assembler) InTransaction() bool { return a.state != idle }

// Len counts the changes held and not yet taken.
func (a *Assembler) Len() int { return a.held.doneLen + a.held.openLen() }

// Bytes is the size of the messages held and not yet taken.
func (a *Assembler) Bytes() int { return a.held.doneBytes + a.held.openBytes }

// EndLSN is the end of the last COMMIT seen, be it of a transaction that was
// dropped, and before the first one the position given to NewAssembler. It may
// be ahead of what was taken.
func (a *Assembler) EndLSN() replication.LSN { return a.end }

// Add takes one message, the payload of an XLogData. It copies what it keeps,
// so src may be reused.
//
// After an error the stream cannot go on: Add returns the same error again.
// Transactions that were whole before can still be taken.
func (a *Assembler) Add(src []byte) error {
	if a.err != nil {
		return a.err
	}
	if err := a.add(src); err != nil {
		if a.state != idle {
			err = fmt.Errorf("in transaction %d committed at %s: %w", a.tx.XID, a.tx.CommitLSN, err)
		}
		a.err = err
	}
	return a.err
}

func (a *Assembler) add(src []byte) error {
	if a.keepsRow(src) {
		// One copy of the message, which the values then alias, instead of a
		// copy a value.
		src = a.held.arena.copy(src)
	}
	m, err := a.parser.Parse(src)
	if err != nil {
		return err
	}
	switch m := m.(type) {
	case *Insert:
		err = a.row(replication.Insert, m.RelationOID, OldNone, nil, m.New, len(src))
	case *Update:
		err = a.row(replication.Update, m.RelationOID, m.OldKind, m.Old, m.New, len(src))
	case *Delete:
		err = a.row(replication.Delete, m.RelationOID, m.OldKind, m.Old, nil, len(src))
	case *Begin:
		err = a.begin(m)
	case *Commit:
		err = a.commit(m)
	case *Truncate:
		err = a.truncate(m, len(src))
	case *Logical:
		err = a.logical(m, len(src))
	case *Origin:
		if a.state == idle {
			err = fmt.Errorf("%w: outside a transaction", ErrOrder)
		}
	case *Relation:
		a.relation(m)
	case *Type:
		// Values are handed on in the form they came in; a type's name is in
		// the catalog for whoever wants it.
	}
	if err != nil {
		return fmt.Errorf("%s message: %w", m.Kind(), err)
	}
	return nil
}

// keepsRow reports whether src is a row change that will be kept if it is
// sound.
func (a *Assembler) keepsRow(src []byte) bool {
	if len(src) == 0 || a.state == idle || a.state == skipped {
		return false
	}
	k := Kind(src[0])
	return k == KindInsert || k == KindUpdate || k == KindDelete
}

func (a *Assembler) begin(m *Begin) error {
	if a.state != idle {
		return fmt.Errorf("%w: the transaction before it is unfinished", ErrOrder)
	}
	if m.FinalLSN < a.last {
		// The checkpoint is one position: it holds only in commit order.
		return fmt.Errorf("%w: commits at %s, but the one before it ended at %s", ErrOrder, m.FinalLSN, a.last)
	}
	a.tx = replication.Transaction{XID: m.XID, CommitLSN: m.FinalLSN, CommitTime: m.CommitTime}
	a.state = quiet
	if m.FinalLSN < a.from {
		a.state = skipped
	}
	return nil
}

func (a *Assembler) commit(m *Commit) error {
	switch {
	case a.state == idle:
		return fmt.Errorf("%w: no transaction is open", ErrOrder)
	case m.CommitLSN != a.tx.CommitLSN:
		return fmt.Errorf("%w: commits at %s", ErrOrder, m.CommitLSN)
	case m.EndLSN <= m.CommitLSN:
		return fmt.Errorf("%w: the commit record ends at %s", ErrInvalid, m.EndLSN)
	}
	switch a.state {
	case quiet:
		a.held.drop()
	case changed, split:
		tx := a.tx
		tx.EndLSN = m.EndLSN
		a.held.finish(tx)
	}
	a.last = m.EndLSN
	a.end = max(a.end, m.EndLSN)
	a.state = idle
	return nil
}

func (a *Assembler) relation(m *Relation) {
	r := &replication.Relation{
		OID:       m.OID,
		Namespace: string(m.Namespace),
		Name:      string(m.Name),
		Identity:  m.Identity,
		Columns:   make([]replication.Column, len(m.Columns)),
	}
	if r.Namespace == "" {
		r.Namespace = "pg_catalog"
	}
	for i, c := range m.Columns {
		r.Columns[i] = replication.Column{Name: string(c.Name), TypeOID: c.TypeOID, Modifier: c.Modifier, Key: c.Key}
	}
	a.relations[m.OID] = r
	a.recent = r
}

func (a *Assembler) lookup(oid uint32) (*replication.Relation, error) {
	if r := a.recent; r != nil && r.OID == oid {
		return r, nil
	}
	r, ok := a.relations[oid]
	if !ok {
		return nil, fmt.Errorf("%w: OID %d", ErrUnknownRelation, oid)
	}
	a.recent = r
	return r, nil
}

// proceed says that a row change has come, and whether to keep it.
func (a *Assembler) proceed() (keep bool, err error) {
	switch a.state {
	case idle:
		return false, fmt.Errorf("%w: no transaction is open", ErrOrder)
	case skipped:
		return false, nil
	case quiet:
		a.state = changed
	}
	return true, nil
}

// row keeps a change. The tuples are the Parser's, their data the arena's.
func (a *Assembler) row(op replication.Op, oid uint32, kind OldKind, old, row replication.Tuple, size int) error {
	if keep, err := a.proceed(); !keep {
		return err
	}
	rel, err := a.lookup(oid)
	if err != nil {
		return err
	}
	c := a.held.add()
	c.Op, c.Relation = op, rel
	if op != replication.Delete {
		if c.New, err = a.tuple(rel, row); err != nil {
			return err
		}
	}
	if kind != OldNone {
		if c.Old, err = a.tuple(rel, old); err != nil {
			return err
		}
		c.OldKey = kind == OldKey
	}
	a.held.openBytes += size
	return nil
}

func (a *Assembler) tuple(r *replication.Relation, t replication.Tuple) (replication.Tuple, error) {
	if len(t) != len(r.Columns) {
		return nil, fmt.Errorf("%w: %d in a tuple of %s, which has %d", ErrColumnCount, len(t), r, len(r.Columns))
	}
	return a.held.arena.tuple(t), nil
}

func (a *Assembler) truncate(m *Truncate, size int) error {
	if keep, err := a.proceed(); !keep {
		return err
	}
	for _, oid := range m.RelationOIDs {
		r, err := a.lookup(oid)
		if err != nil {
			return err
		}
		c := a.held.add()
		c.Op, c.Relation = replication.Truncate, r
	}
	a.held.openBytes += size
	return nil
}

func (a *Assembler) logical(m *Logical, size int) error {
	switch {
	case !m.Transactional || a.state == skipped:
		return nil
	case a.state == idle:
		return fmt.Errorf("%w: transactional, but no transaction is open", ErrOrder)
	}
	if a.prefix != string(m.Prefix) {
		a.prefix = string(m.Prefix)
	}
	c := a.held.add()
	c.Op = replication.Message
	c.Prefix = a.prefix
	c.Content = a.held.arena.copy(m.Content)
	c.Transactional = true
	a.held.openBytes += size
	return nil
}
