package pgoutput

import "github.com/helixd/helixd/replication"

// Ready reports whether Take would give the end of a transaction, or a further
// part of one that is already being handed over in parts. It is the question
// to ask when the socket has nothing more to read; that enough is held to
// begin with parts is for the caller to say.
func (a *Assembler) Ready() bool {
	return len(a.held.done) > 0 || a.state == split && a.held.openLen() > 0
}

// Take hands over all finished transactions as one batch, nil if nothing is held.
//
// An unfinished transaction stays behind, since its beginning would keep the
// others from being committed. Only where nothing else is held it is handed over
// in parts, with More set. As long as it has only logical messages it is held
// back even then, because it may come to nothing; unless they are many.
func (a *Assembler) Take() *replication.Batch {
	h := &a.held
	part := a.takesPart()
	if len(h.done) == 0 && !part {
		return nil
	}
	b := &replication.Batch{Transactions: h.done, Bytes: h.doneBytes}
	if !part {
		b.EndLSN = a.end // no change before it is still held
		a.held = h.rest()
		return b
	}
	b.More = true
	b.Bytes += h.openBytes
	tx := a.tx
	tx.Changes = h.open()
	b.Transactions = append(b.Transactions, tx)
	a.tx.Ordinal += len(tx.Changes)
	a.state = split
	a.held = newHeld(len(b.Transactions), len(tx.Changes)+h.doneLen)
	return b
}

func (a *Assembler) takesPart() bool {
	if a.err != nil {
		return false // its end will never come
	}
	switch a.state {
	case changed:
		return len(a.held.done) == 0 && a.held.openLen() > 0
	case split:
		return a.held.openLen() > 0
	case quiet:
		return len(a.held.done) == 0 && a.held.openBytes > maxQuiet
	}
	return false
}
