package serve

import (
	"net"
	"net/netip"
	"sync"
)

// sharedListener closes at once what a network opens beyond hostConns.
type sharedListener struct {
	net.Listener

	mu sync.Mutex
	of map[string]int // open connections of each network
}

func (l *sharedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if host := network(conn.RemoteAddr().String()); l.take(host) {
			return &sharedConn{Conn: conn, release: sync.OnceFunc(func() { l.release(host) })}, nil
		}
		_ = conn.Close()
	}
}

// network is whose an address is: of IPv6 a host has as many as it likes, of one /64.
func network(address string) string {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return address
	}
	ip := at.Addr().Unmap()
	if ip.Is6() {
		return netip.PrefixFrom(ip.WithZone(""), 64).Masked().String()
	}
	return ip.String()
}

func (l *sharedListener) take(host string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of[host] >= hostConns {
		return false
	}
	l.of[host]++
	return true
}

func (l *sharedListener) release(host string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of[host]--; l.of[host] == 0 {
		delete(l.of, host)
	}
}

type sharedConn struct {
	net.Conn
	release func()
}

func (c *sharedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}
