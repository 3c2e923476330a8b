package pgoutput

import "github.com/helixd/helixd/replication"

// Chunks start small, as most batches of a quiet project are one row, and
// double up to these sizes, so that a large batch costs an allocation every
// thousand rows or so.
const (
	minBytes, maxBytes     = 512, 64 << 10
	minValues, maxValues   = 16, 2048
	minChanges, maxChanges = 4, 1024
)

// arena is the memory of one batch. Nothing is ever given back to it: the
// batch keeps its chunks alive for as long as anybody holds a part of it.
type arena struct {
	bytes  chunk[byte]
	values chunk[replication.Value]
}

func newArena() arena {
	return arena{
		bytes:  chunk[byte]{next: minBytes, max: maxBytes},
		values: chunk[replication.Value]{next: minValues, max: maxValues},
	}
}

// copy keeps a copy of b.
func (a *arena) copy(b []byte) []byte {
	c := a.bytes.take(len(b))
	copy(c, b)
	return c
}

// tuple keeps a copy of t; the values' data stays where it is.
func (a *arena) tuple(t replication.Tuple) replication.Tuple {
	c := a.values.take(len(t))
	copy(c, t)
	return c
}

type chunk[T any] struct {
	free      []T
	next, max int
}

// take gives n items. What does not fit into a chunk of the largest size gets
// one of its own, and the one at hand stays in use.
func (c *chunk[T]) take(n int) []T {
	if n == 0 {
		return []T{} // a row of no columns is still a row: not nil
	}
	if n > len(c.free) {
		if n > c.max/4 {
			return make([]T, n)
		}
		for c.next < n {
			c.next *= 2
		}
		c.free = make([]T, c.next)
		c.next = min(2*c.next, c.max)
	}
	s := c.free[:n:n]
	c.free = c.free[n:]
	return s
}
