package pgoutput

import (
	"encoding/binary"

	"github.com/helixd/helixd/replication"
)

// tuple takes a TupleData ("TupleData" in "Logical Replication Message
// Formats") into dst, or into a larger tuple where dst is too small. A column
// takes at least a byte of the message, which bounds the allocation.
//
// This is where the time goes, one round for each column of each row: so it
// works on locals, not through the reader's methods.
func (r *reader) tuple(dst replication.Tuple) replication.Tuple {
	n := r.count(uint64(r.uint16()), 1)
	if cap(dst) < n {
		dst = make(replication.Tuple, n)
	}
	dst = dst[:n]
	src, off := r.src, r.off
	for i := range dst {
		if off >= len(src) {
			r.failAt(off, ErrShort)
			return dst[:0]
		}
		kind := replication.ValueKind(src[off])
		switch kind {
		case replication.Null, replication.Unchanged:
			dst[i] = replication.Value{Kind: kind}
			off++
		case replication.Text, replication.Binary:
			if len(src)-off < 5 {
				r.failAt(off+1, ErrShort)
				return dst[:0]
			}
			size := int(int32(binary.BigEndian.Uint32(src[off+1:])))
			if size < 0 {
				r.failAt(off+1, ErrInvalid)
				return dst[:0]
			}
			off += 5
			if size > len(src)-off {
				r.failAt(off, ErrShort)
				return dst[:0]
			}
			dst[i] = replication.Value{Kind: kind, Data: src[off : off+size : off+size]}
			off += size
		default:
			r.failAt(off, ErrInvalid)
			return dst[:0]
		}
	}
	r.off = off
	return dst
}

func (r *reader) failAt(off int, err error) {
	r.off = off
	r.fail(err)
}
