package replication

import "time"

// Op is what happened to a row, or to a table.
type Op byte

// The operations of the write-ahead log. Message is a logical message
// (pg_logical_emit_message); it belongs to no table.
const (
	Insert   Op = 'I'
	Update   Op = 'U'
	Delete   Op = 'D'
	Truncate Op = 'T'
	Message  Op = 'M'
)

// String gives the operation in Postgres's words.
func (o Op) String() string {
	switch o {
	case Insert:
		return "INSERT"
	case Update:
		return "UPDATE"
	case Delete:
		return "DELETE"
	case Truncate:
		return "TRUNCATE"
	case Message:
		return "MESSAGE"
	}
	return "UNKNOWN"
}

// ValueKind tells a column's value apart from the two ways of not having one.
type ValueKind byte

// The kinds of a Value, by their bytes in the protocol, so that decoding is a copy.
const (
	Null      ValueKind = 'n'
	Unchanged ValueKind = 'u' // a TOASTed value that the UPDATE left as it was: not NULL
	Text      ValueKind = 't'
	Binary    ValueKind = 'b'
)

// Value is one column of a tuple. Data is in the type's text form for Text and
// in its send form for Binary, and is valid as long as its Batch.
type Value struct {
	Kind ValueKind
	Data []byte
}

// Tuple has one Value for each of its Relation's Columns, in their order.
type Tuple []Value

// Change is one operation on one row, one TRUNCATE of one table, or one
// logical message.
type Change struct {
	Op       Op
	Relation *Relation // nil for a Message

	// New is the row after an Insert or Update, else nil.
	New Tuple
	// Old is the row before an Update or Delete where the server sent it, else
	// nil. With OldKey only the replica identity's columns are meaningful: the
	// others are Null in the protocol and say nothing.
	Old    Tuple
	OldKey bool

	// Prefix and Content are a Message's.
	Prefix  string
	Content []byte
	// Transactional says that a Message is part of its transaction. The others
	// are sent at once and take part in no order.
	Transactional bool
}

// Transaction is a committed transaction, or a part of a large one.
type Transaction struct {
	XID        uint32
	CommitLSN  LSN       // of the commit record; transactions are ordered by it
	EndLSN     LSN       // end of the commit record; zero in all but the last part
	CommitTime time.Time // at the server
	Ordinal    int       // of Changes[0] within the transaction
	Changes    []Change
}

// Batch is a run of transactions in commit order, applied as one.
type Batch struct {
	Transactions []Transaction
	// More says that the last transaction goes on in the next Batch. Both must
	// be applied in one SQL transaction.
	More bool
	// EndLSN is the position that is durable once this batch is. Zero with More.
	EndLSN LSN
	// Bytes is the size of the messages that the batch was decoded from.
	Bytes int
}

// Len counts the changes.
func (b *Batch) Len() int {
	n := 0
	for i := range b.Transactions {
		n += len(b.Transactions[i].Changes)
	}
	return n
}
