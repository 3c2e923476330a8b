package pgoutput

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/helixd/helixd/replication"
)

// reader takes fields off a message, and never reads past its end. The first
// failure stays in err, with off where it happened; all later reads give zero
// values, so that a decoder checks once, at its end.
type reader struct {
	src []byte
	off int
	err error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
		r.src = r.src[:r.off] // nothing remains to be read
	}
}

func (r *reader) remaining() int { return len(r.src) - r.off }

// bytes takes the next n bytes, nil if there are fewer. The result aliases the
// message; its capacity ends where it does, so an append cannot overwrite what
// follows.
func (r *reader) bytes(n int) []byte {
	if n < 0 || n > r.remaining() {
		r.fail(ErrShort)
		return nil
	}
	b := r.src[r.off : r.off+n : r.off+n]
	r.off += n
	return b
}

func (r *reader) uint8() uint8 {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) uint16() uint16 {
	if b := r.bytes(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (r *reader) uint32() uint32 {
	if b := r.bytes(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *reader) uint64() uint64 {
	if b := r.bytes(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// string takes bytes up to a zero byte, which it drops.
func (r *reader) string() []byte {
	n := bytes.IndexByte(r.src[r.off:], 0)
	if n < 0 {
		r.fail(ErrShort)
		return nil
	}
	b := r.bytes(n)
	r.off++
	return b
}

// count checks that n items of at least size bytes each can still follow, and
// gives 0 when they cannot. Whoever allocates by a count in a message asks here
// first.
func (r *reader) count(n uint64, size int) int {
	if n > uint64(r.remaining()/size) {
		r.fail(ErrShort)
		return 0
	}
	return int(n)
}

func (r *reader) lsn() replication.LSN { return replication.LSN(r.uint64()) }

// year2000 is Postgres's epoch, 2000-01-01 UTC, in Unix microseconds.
const year2000 = 946_684_800_000_000

// time takes a TimestampTz: microseconds since the year 2000.
func (r *reader) time() time.Time {
	return time.UnixMicro(int64(r.uint64()) + year2000).UTC()
}

// flags takes a byte of which only the given bits have a meaning.
func (r *reader) flags(known uint8) uint8 {
	f := r.uint8()
	if f&^known != 0 {
		r.off--
		r.fail(ErrInvalid)
	}
	return f
}

// tag takes a byte that must be one of those given, and gives 0 if it is not.
func (r *reader) tag(want string) byte {
	if r.off < len(r.src) {
		t := r.src[r.off]
		for i := range len(want) {
			if want[i] == t {
				r.off++
				return t
			}
		}
		r.fail(ErrInvalid)
	}
	r.fail(ErrShort)
	return 0
}
