package outbound

import (
	"context"
	"errors"
	"net"
	"syscall"
)

// dial connects as a net.Dialer does.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: connectTimeout}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return conn{c}, nil
}

// conn is a connection whose end is told by what reads it. A service that refuses a
// request may answer and hang up before it has read the body: of the failed write
// and the answer, both there, net/http takes either, and a wrong key would now and
// then be a service that cannot be reached, to be asked again.
type conn struct{ net.Conn }

// Write implements net.Conn.
func (c conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return len(p), nil
	}
	return n, err
}
