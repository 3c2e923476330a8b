package pgoutput

import "github.com/helixd/helixd/replication"

// held is the batch in the making: whole transactions, then the changes of the
// open one.
type held struct {
	arena arena
	done  []replication.Transaction
	// changes is the chunk that new changes go to; those of the open
	// transaction are changes[start:]. A transaction's changes are one slice,
	// so it moves to a larger chunk when it outgrows its own.
	changes []replication.Change
	start   int
	ahead   int // size of the first chunk, if that is large

	doneLen   int // changes in done
	doneBytes int // of the messages that done was decoded from
	openBytes int // the same for changes[start:]
}

// maxAhead bounds what newHeld allocates before anything is there to hold.
const maxAhead = 16 << 10

// newHeld makes room for as many transactions and changes as the batch before
// had: a stream that is catching up goes on with batches of about one size.
func newHeld(transactions, changes int) held {
	h := held{arena: newArena(), ahead: min(changes, maxAhead)}
	if transactions > 1 {
		h.done = make([]replication.Transaction, 0, min(transactions, maxAhead))
	}
	return h
}

// open gives the changes of the open transaction.
func (h *held) open() []replication.Change {
	return h.changes[h.start:len(h.changes):len(h.changes)]
}

func (h *held) openLen() int { return len(h.changes) - h.start }

// add makes room for one more change, which the caller fills in.
func (h *held) add() *replication.Change {
	n := len(h.changes)
	if n == cap(h.changes) {
		open := h.open()
		size := max(minChanges, min(2*n, maxChanges), 2*len(open), h.ahead)
		h.ahead = 0
		h.changes = append(make([]replication.Change, 0, size), open...)
		h.start, n = 0, len(open)
	}
	h.changes = h.changes[:n+1]
	return &h.changes[n]
}

// finish moves the open transaction's changes to the finished ones.
func (h *held) finish(tx replication.Transaction) {
	tx.Changes = h.open()
	h.done = append(h.done, tx)
	h.start = len(h.changes)
	h.doneLen += len(tx.Changes)
	h.doneBytes += h.openBytes
	h.openBytes = 0
}

// drop forgets the open transaction's changes.
func (h *held) drop() {
	clear(h.open()) // add hands out zero changes
	h.changes = h.changes[:h.start]
	h.openBytes = 0
}

// rest gives what is held when the finished transactions go and the open one stays.
// Its bytes stay where they are, beside those of the batch that goes: nobody writes
// to either.
func (h *held) rest() held {
	r := newHeld(len(h.done), h.doneLen)
	for _, c := range h.open() {
		*r.add() = c
	}
	r.openBytes = h.openBytes
	return r
}
