package capture

import "sync/atomic"

// Ring carries samples from the thread of an audio device to one reader. The
// thread must never wait, so there is no lock: one side only writes, the other
// only reads, and what does not fit is lost and counted.
type Ring struct {
	buf   []byte
	write atomic.Int64 // bytes that were ever put in; only Put moves it
	read  atomic.Int64 // bytes that were ever taken; only Take moves it
	lost  atomic.Int64
}

// NewRing has room for so many samples.
func NewRing(samples int) *Ring { return &Ring{buf: make([]byte, 2*samples)} }

// Put takes whole samples. It neither waits nor allocates.
func (r *Ring) Put(p []byte) {
	at := r.write.Load()
	n := min(int64(len(p)), int64(len(r.buf))-(at-r.read.Load()))
	r.lost.Add(int64(len(p)) - n)
	start := at % int64(len(r.buf))
	first := copy(r.buf[start:], p[:n])
	copy(r.buf, p[first:n])
	r.write.Store(at + n)
}

// Take fills p with the oldest samples, and gives the number of bytes.
func (r *Ring) Take(p []byte) int {
	at := r.read.Load()
	n := min(int64(len(p)), r.write.Load()-at)
	start := at % int64(len(r.buf))
	first := copy(p[:n], r.buf[start:])
	copy(p[first:n], r.buf)
	r.read.Store(at + n)
	return int(n)
}

// Lost is the number of samples that did not fit.
func (r *Ring) Lost() int64 { return r.lost.Load() / 2 }
