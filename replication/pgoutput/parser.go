package pgoutput

import "fmt"

// Message is one message of the protocol: *Begin, *Commit, *Origin, *Relation,
// *Type, *Insert, *Update, *Delete, *Truncate or *Logical.
type Message interface {
	Kind() Kind
}

// Parser decodes messages. The zero Parser is ready for use, by one goroutine.
type Parser struct {
	begin    Begin
	commit   Commit
	origin   Origin
	relation Relation
	typ      Type
	insert   Insert
	update   Update
	delete   Delete
	truncate Truncate
	logical  Logical
}

// Parse decodes the message that src holds, all of it.
//
// Nothing is allocated for a message: the one returned belongs to the Parser
// and is overwritten by the next call, and every byte slice in it aliases src.
// Whoever keeps either copies it first.
//
// An error wraps one of this package's sentinel errors.
func (p *Parser) Parse(src []byte) (Message, error) {
	if len(src) == 0 {
		return nil, fmt.Errorf("decode an empty message: %w", ErrShort)
	}
	kind := Kind(src[0])
	r := reader{src: src, off: 1}
	var m Message
	switch kind {
	case KindInsert:
		p.insert.decode(&r)
		m = &p.insert
	case KindUpdate:
		p.update.decode(&r)
		m = &p.update
	case KindDelete:
		p.delete.decode(&r)
		m = &p.delete
	case KindBegin:
		p.begin.decode(&r)
		m = &p.begin
	case KindCommit:
		p.commit.decode(&r)
		m = &p.commit
	case KindRelation:
		p.relation.decode(&r)
		m = &p.relation
	case KindType:
		p.typ.decode(&r)
		m = &p.typ
	case KindOrigin:
		p.origin.decode(&r)
		m = &p.origin
	case KindTruncate:
		p.truncate.decode(&r)
		m = &p.truncate
	case KindLogical:
		p.logical.decode(&r)
		m = &p.logical
	default:
		r.off = 0
		if _, ok := later[kind]; ok {
			r.fail(ErrVersion)
		} else {
			r.fail(ErrUnknownMessage)
		}
	}
	if r.remaining() > 0 {
		r.fail(ErrTrailing)
	}
	if r.err != nil {
		return nil, fmt.Errorf("decode %s message, byte %d of %d: %w", kind, r.off, len(src), r.err)
	}
	return m, nil
}
