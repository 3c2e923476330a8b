package pgoutput

import "errors"

// What is wrong with the bytes of one message. Parse wraps these with the
// message's kind and the offset.
var (
	// ErrShort: the message ends before its last field does, or a count in it
	// promises more than its length can hold.
	ErrShort = errors.New("message is too short")
	// ErrTrailing: bytes follow the message's last field.
	ErrTrailing = errors.New("bytes after the end of the message")
	// ErrInvalid: a field holds a value that the protocol does not know.
	ErrInvalid = errors.New("invalid value")
	// ErrUnknownMessage: the first byte names no message of the protocol.
	ErrUnknownMessage = errors.New("unknown message type")
	// ErrVersion: the message belongs to a later version of the protocol
	// (streamed or prepared transactions).
	ErrVersion = errors.New("message of protocol version 2 or later, helixd asks for version 1")
)

// What is wrong with a message where it stands. Add wraps these with the
// message's kind and the transaction.
var (
	// ErrOrder: the message may not follow the ones before it.
	ErrOrder = errors.New("message out of order")
	// ErrUnknownRelation: the server has not described the relation on this
	// connection.
	ErrUnknownRelation = errors.New("unknown relation")
	// ErrColumnCount: a tuple has more or fewer columns than its relation.
	ErrColumnCount = errors.New("wrong number of columns")
)
