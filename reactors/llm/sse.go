package llm

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
)

// maxLine and maxEvent bound what of a stream is in memory: what providers send is
// a thousandth of it, and a proxy may put an answer into one event.
const (
	maxLine  = 1 << 20
	maxEvent = 2 << 20
)

// event is one of a stream of server-sent events.
type event struct {
	kind string // "": it was not told
	data []byte // valid until the next one
}

var (
	errLine  = errors.New("it has a line that is too long")
	errEvent = errors.New("it has an event that is too long")
)

// events reads https://html.spec.whatwg.org/multipage/server-sent-events.html. An
// event that the end of the stream interrupts is none. Ids are of no use here.
func events(r io.Reader) iter.Seq2[event, error] {
	return func(yield func(event, error) bool) {
		lines := lineReader{r: bufio.NewReader(r)}
		var e event
		var data []byte
		begun := false // a data line has come
		for first := true; ; first = false {
			line, err := lines.next()
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(event{}, err)
				return
			}
			if first {
				line = bytes.TrimPrefix(line, []byte("\ufeff"))
			}
			if len(line) == 0 {
				if begun {
					if e.data = data[:len(data)-1]; !yield(e, nil) {
						return
					}
				}
				e, data, begun = event{}, data[:0], false
				continue
			}
			name, value, _ := bytes.Cut(line, []byte(":")) // a comment has no name
			value = bytes.TrimPrefix(value, []byte(" "))
			switch string(name) {
			case "event":
				e.kind = string(value)
			case "data":
				if len(data)+len(value) >= maxEvent {
					yield(event{}, errEvent)
					return
				}
				data, begun = append(append(data, value...), '\n'), true
			}
		}
	}
}

// lineReader gives lines, which end with CR LF, LF or CR.
type lineReader struct {
	r    *bufio.Reader
	line []byte
	cr   bool // the last line ended with CR: an LF belongs to it
}

// next is valid until the one after it. What follows the last end of a line is none.
func (l *lineReader) next() ([]byte, error) {
	l.line = l.line[:0]
	for {
		if _, err := l.r.Peek(1); err != nil {
			return nil, err
		}
		piece, _ := l.r.Peek(l.r.Buffered()) // all that is there
		if l.cr && piece[0] == '\n' {
			l.cr = false
			l.r.Discard(1) // it was peeked at
			continue
		}
		l.cr = false
		end := bytes.IndexAny(piece, "\r\n")
		length := end
		if end < 0 {
			length = len(piece)
		}
		if len(l.line)+length > maxLine {
			return nil, errLine
		}
		l.line = append(l.line, piece[:length]...)
		if end >= 0 {
			l.cr = piece[end] == '\r'
			length++
		}
		l.r.Discard(length) // as above
		if end >= 0 {
			return l.line, nil
		}
	}
}
