package sandbox

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// A frame is a type, the length of its payload (4 bytes, little endian) and the
// payload. Both sides of the socket between the daemon and a child write frames.
type frameType byte

const frameHead = 5

// To the child.
const (
	frameStart  frameType = 1 + iota // JSON of start
	frameCheck                       // program
	frameLoad                        // program
	frameUnload                      // program
	frameCall                        // callMessage
	frameReply                       // replyMessage
)

// From the child.
const (
	frameHello    frameType = 32 + iota // JSON of []Layer: it stands behind its layers
	frameReport                         // outcome with the JSON of a Report
	frameLoaded                         // outcome without content
	frameHostCall                       // requestMessage
	frameLog                            // bytes
	frameDone                           // peak memory and outcome with the output
)

// What one payload may hold, besides what a call's Limits say.
const (
	maxControl  = 256 << 10 // of hello, report and loaded
	maxRequest  = 1 << 20   // of a host call
	maxResponse = 8 << 20   // of a host call; a fetched body of 5 MB in base64 fits
	maxName     = 64        // of a host call
	maxMessage  = 2 << 10   // of an error
	maxToChild  = math.MaxInt32
	readPart    = 64 << 10
)

var (
	errFrameTooLarge = errors.New("frame is larger than it may be")
	errFrame         = errors.New("frame does not parse")
)

// frameReader reads frames. A length that was announced costs no memory until
// its bytes have come.
type frameReader struct {
	r   *bufio.Reader
	buf []byte
}

func newFrameReader(r io.Reader) *frameReader {
	return &frameReader{r: bufio.NewReaderSize(r, 8<<10)}
}

// next gives the next frame, whose payload holds until the following call and
// may be as long as limit says for its type: a negative limit refuses the type.
func (f *frameReader) next(limit func(frameType) int) (frameType, []byte, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(f.r, head[:]); err != nil {
		return 0, nil, err
	}
	kind, size := frameType(head[0]), binary.LittleEndian.Uint32(head[1:])
	most := limit(kind)
	if most < 0 {
		return kind, nil, fmt.Errorf("frame of type %d: %w", kind, errFrame)
	}
	if uint64(size) > uint64(most) {
		return kind, nil, errFrameTooLarge
	}
	if cap(f.buf) > readPart {
		f.buf = nil // of a large frame before: it is not kept
	}
	f.buf = f.buf[:0]
	for left := int(size); left > 0; {
		part := min(left, max(readPart, len(f.buf)))
		start := len(f.buf)
		if cap(f.buf) < start+part {
			grown := make([]byte, start+part)
			copy(grown, f.buf)
			f.buf = grown
		}
		f.buf = f.buf[:start+part]
		if _, err := io.ReadFull(f.r, f.buf[start:]); err != nil {
			return kind, nil, io.ErrUnexpectedEOF
		}
		left -= part
	}
	return kind, f.buf, nil
}

// beginFrame and endFrame put a frame's head around what is appended between.
func beginFrame(kind frameType) []byte {
	return append(make([]byte, 0, 256), byte(kind), 0, 0, 0, 0)
}

func endFrame(frame []byte) []byte {
	binary.LittleEndian.PutUint32(frame[1:], uint32(len(frame)-frameHead))
	return frame
}

func appendBytes[T ~string | ~[]byte](b []byte, v T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}

// fields reads a payload from its start. After the first field that is not
// there, all are zero and bad says so.
type fields struct {
	b   []byte
	bad bool
}

func (f *fields) number() uint64 {
	v, n := binary.Uvarint(f.b)
	if n <= 0 {
		f.b, f.bad = nil, true
		return 0
	}
	f.b = f.b[n:]
	return v
}

// size reads a number that is at most most.
func (f *fields) size(most int) int {
	v := f.number()
	if v > uint64(most) {
		f.b, f.bad = nil, true
		return 0
	}
	return int(v)
}

// bytes reads bytes, at most most; they share the payload's memory.
func (f *fields) bytes(most int) []byte {
	n := f.size(most)
	if n > len(f.b) {
		f.b, f.bad = nil, true
		return nil
	}
	v := f.b[:n:n]
	f.b = f.b[n:]
	return v
}

func (f *fields) fixed(v []byte) {
	if len(f.b) < len(v) {
		f.b, f.bad = nil, true
		return
	}
	f.b = f.b[copy(v, f.b):]
}

// end says whether all was there, and nothing more.
func (f *fields) end() error {
	if f.bad || len(f.b) > 0 {
		return errFrame
	}
	return nil
}
