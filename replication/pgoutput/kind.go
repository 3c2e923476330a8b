package pgoutput

import "fmt"

// Kind is a message's first byte.
type Kind byte

// The messages of protocol version 1.
const (
	KindBegin    Kind = 'B'
	KindCommit   Kind = 'C'
	KindOrigin   Kind = 'O'
	KindRelation Kind = 'R'
	KindType     Kind = 'Y'
	KindInsert   Kind = 'I'
	KindUpdate   Kind = 'U'
	KindDelete   Kind = 'D'
	KindTruncate Kind = 'T'
	KindLogical  Kind = 'M'
)

// later holds the messages of later versions: Stream Start, Stop, Commit and
// Abort (2), and those of two-phase commit (3).
var later = map[Kind]string{
	'S': "Stream Start",
	'E': "Stream Stop",
	'c': "Stream Commit",
	'A': "Stream Abort",
	'b': "Begin Prepare",
	'P': "Prepare",
	'K': "Commit Prepared",
	'r': "Rollback Prepared",
	'p': "Stream Prepare",
}

// String gives the message's name in the Postgres documentation.
func (k Kind) String() string {
	switch k {
	case KindBegin:
		return "Begin"
	case KindCommit:
		return "Commit"
	case KindOrigin:
		return "Origin"
	case KindRelation:
		return "Relation"
	case KindType:
		return "Type"
	case KindInsert:
		return "Insert"
	case KindUpdate:
		return "Update"
	case KindDelete:
		return "Delete"
	case KindTruncate:
		return "Truncate"
	case KindLogical:
		return "Message"
	}
	if name, ok := later[k]; ok {
		return name
	}
	return fmt.Sprintf("%q", byte(k))
}
