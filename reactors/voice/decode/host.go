package decode

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/helixd/helixd/reactors/sandbox"
)

// desk serves the host calls of one decoding, in the daemon. The child that
// makes them may be the recording's: it gets what is in the recording, and
// writes as much as was ordered. It may make several calls at once.
type desk struct {
	in  Input
	out io.Writer

	mu      sync.Mutex
	unread  int64 // bytes that may be read
	left    int64 // bytes that may be written
	written int64 // bytes
	failed  error // of in or out; the child only learns that there was one
}

// Call implements sandbox.Host.
func (d *desk) Call(_ context.Context, name string, request []byte) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failed != nil {
		return nil, errFailed
	}
	switch name {
	case callRead:
		return d.read(request)
	case callWrite:
		return nil, d.write(request)
	}
	return nil, errMisuse
}

var (
	errFailed = sandbox.Errorf("recording_failed", "The recording cannot be read or written.")
	errMisuse = sandbox.Errorf("misuse", "No decoder makes this call.")
	errReread = sandbox.Errorf(sandbox.HostCallLimit, "The recording is read again and again.")
)

// mostRead is how much may be read of a recording of so many bytes. Decoders read
// most of it once, and its ends some times; a table of samples may send them to and
// fro, which costs the daemon as much as the child, and no limit of the child's.
func mostRead(size int64) int64 { return 8*size + 64<<20 }

func (d *desk) read(request []byte) ([]byte, error) {
	if len(request) != 12 {
		return nil, errMisuse
	}
	offset, length := binary.LittleEndian.Uint64(request), binary.LittleEndian.Uint32(request[8:])
	size := uint64(d.in.Size())
	if length > readAhead || offset > size || uint64(length) > size-offset {
		return nil, errMisuse
	}
	if d.unread -= int64(length); d.unread < 0 {
		return nil, errReread
	}
	content := make([]byte, length)
	n, err := d.in.ReadAt(content, int64(offset))
	if err != nil && !(errors.Is(err, io.EOF) && n == len(content)) {
		d.failed = fmt.Errorf("read recording: %w", err)
		return nil, errFailed
	}
	return content, nil
}

func (d *desk) write(samples []byte) error {
	if len(samples)%2 != 0 || int64(len(samples)) > d.left {
		return errMisuse
	}
	if _, err := d.out.Write(samples); err != nil {
		d.failed = fmt.Errorf("write samples: %w", err)
		return errFailed
	}
	d.left -= int64(len(samples))
	d.written += int64(len(samples))
	return nil
}
