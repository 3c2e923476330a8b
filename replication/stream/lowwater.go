package stream

import (
	"net"
	"syscall"
)

// lowWater is how many bytes must be there before a sleeping reader is woken
// (SO_RCVLOWAT). The walsender sends each message of a small transaction by
// itself, and a wake-up for each costs both sides far more than the message.
// The zero lowWater, of a connection that is no socket, does nothing.
type lowWater struct {
	raw syscall.RawConn
	now int
}

func newLowWater(conn net.Conn) lowWater {
	if tls, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = tls.NetConn()
	}
	if c, ok := conn.(syscall.Conn); ok {
		if raw, err := c.SyscallConn(); err == nil {
			return lowWater{raw, 1}
		}
	}
	return lowWater{}
}

// set takes effect with the next sleep. It is no more than a hint: where the
// system refuses, the reader wakes up more often.
func (l *lowWater) set(bytes int) {
	if l.raw == nil || bytes == l.now {
		return
	}
	l.now = bytes
	_ = l.raw.Control(func(fd uintptr) { setLowWater(fd, bytes) })
}
