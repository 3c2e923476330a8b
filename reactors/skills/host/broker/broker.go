package broker

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills/rights"
)

const (
	// MaxBody is the size of the largest body of a response, in bytes after
	// decompression.
	MaxBody       = 5 << 20
	smallBody     = 256 << 10
	maxHeader     = 64 << 10
	maxAddresses  = 16 // of one name
	dialTimeout   = 5 * time.Second
	headerTimeout = 30 * time.Second
)

// Options are all zero in a daemon.
type Options struct {
	Resolver *net.Resolver // nil: the system's

	// TestAddress is permitted though it is not public, and servers are known by
	// TestRoots: a test's server is on loopback.
	TestAddress netip.Addr
	TestRoots   *x509.CertPool
}

// Broker makes requests.
type Broker struct {
	options   Options
	transport *http.Transport
}

// New makes a Broker.
func New(o Options) *Broker {
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	b := &Broker{options: o}
	b.transport = &http.Transport{
		Proxy:                  nil, // of the environment least of all: it would resolve names itself
		DialContext:            b.dial,
		TLSClientConfig:        &tls.Config{RootCAs: o.TestRoots, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    dialTimeout,
		ResponseHeaderTimeout:  headerTimeout,
		MaxResponseHeaderBytes: maxHeader,
		MaxIdleConns:           32,
		IdleConnTimeout:        30 * time.Second,
		// What is not read yet is in memory too: 4 MB of a stream, if nothing is said.
		// A connection has no such bound: a stream that waits must not hold up others.
		HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: smallBody},
	}
	return b
}

// Close closes connections that are kept for later.
func (b *Broker) Close() { b.transport.CloseIdleConnections() }

// Allow says which hosts may be reached, by names as rights.Host gives them.
type Allow func(host string, port uint16) bool

// RoundTripper gives a transport to the allowed hosts. Its responses' bodies end
// with a ResponseTooLarge after MaxBody. A client's redirects pass it one by one.
func (b *Broker) RoundTripper(allow Allow) http.RoundTripper {
	return &tripper{broker: b, allow: allow}
}

type tripper struct {
	broker *Broker
	allow  Allow
}

// RoundTrip implements http.RoundTripper.
func (t *tripper) RoundTrip(r *http.Request) (*http.Response, error) {
	address, err := t.check(r)
	if err != nil {
		if r.Body != nil {
			r.Body.Close() //nolint:errcheck // as the interface asks; nothing was read
		}
		return nil, err
	}
	r = r.Clone(r.Context())
	r.URL.Host, r.Host = address, address // as it was checked, in one spelling
	resp, err := t.broker.transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = &boundedBody{body: resp.Body, left: MaxBody}
	return resp, nil
}

// check looks at where the request goes, and gives host[:port].
func (t *tripper) check(r *http.Request) (string, error) {
	host, port, err := Target(r.URL)
	if err != nil {
		return "", err
	}
	// The connection is made by r.URL, and the server is told r.Host.
	if r.Host != "" && r.Host != r.URL.Host {
		return "", sandbox.Errorf(InvalidRequest, "a request names one host")
	}
	if !t.allow(host, port) {
		return "", notAllowed(host, port)
	}
	if port != rights.HTTPS {
		return fmt.Sprintf("%s:%d", host, port), nil
	}
	return host, nil
}

func notAllowed(host string, port uint16) error {
	c := rights.Capability{Kind: rights.Network, Host: host, Port: port}
	return sandbox.Errorf(HostNotAllowed, "the skill may not reach %s; it takes the capability %s, and the runner's grant of it", host, c)
}

// Target reads where a URL leads to.
func Target(u *url.URL) (host string, port uint16, err error) {
	if u.Scheme != "https" {
		return "", 0, sandbox.Errorf(InvalidRequest, "a URL begins with https://")
	}
	if u.User != nil {
		return "", 0, sandbox.Errorf(InvalidRequest, "a URL holds no name and password: they go into a header")
	}
	host, port, err = rights.ParseHost(u.Host)
	if err != nil {
		return "", 0, sandbox.Errorf(HostNotAllowed, "%s", err.(*rights.Error).Message)
	}
	return host, port, nil
}

// dial connects to a name's first checked address that answers.
func (b *Broker) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	// The dot at the end keeps the machine's search domains out.
	addresses, err := b.options.Resolver.LookupNetIP(ctx, "ip", host+".")
	if err != nil {
		return nil, err
	}
	if len(addresses) == 0 || len(addresses) > maxAddresses {
		return nil, sandbox.Errorf(NetworkError, "%s has %d addresses", host, len(addresses))
	}
	for i, a := range addresses {
		addresses[i] = a.Unmap()
		if !IsPublic(a) && !b.isTest(a) {
			return nil, forbidden(host)
		}
	}
	dialer := net.Dialer{Timeout: dialTimeout}
	for _, a := range addresses {
		var conn net.Conn
		if conn, err = dialer.DialContext(ctx, "tcp", net.JoinHostPort(a.String(), port)); err != nil {
			continue
		}
		// A public address may be this machine's own.
		if local, ok := conn.LocalAddr().(*net.TCPAddr); ok && local.AddrPort().Addr().Unmap() == a && !b.isTest(a) {
			conn.Close() //nolint:errcheck // nothing was sent
			return nil, forbidden(host)
		}
		return conn, nil
	}
	return nil, err
}

func (b *Broker) isTest(a netip.Addr) bool {
	return b.options.TestAddress.IsValid() && a.Unmap() == b.options.TestAddress
}

func forbidden(host string) error {
	return sandbox.Errorf(AddressForbidden, "%s has an address that is not of the public Internet", host)
}

// boundedBody reads so many bytes of a body.
type boundedBody struct {
	body io.ReadCloser
	left int
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if len(p) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.body.Read(p)
	if n > b.left {
		return b.left, sandbox.Errorf(ResponseTooLarge, "the response has more than %d bytes", MaxBody)
	}
	b.left -= n
	return n, err
}

func (b *boundedBody) Close() error { return b.body.Close() }

// explain gives an error of the network in a code and in words that quote
// nothing of the request.
func explain(err error) error {
	var known *sandbox.Error
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var timeout net.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, context.Canceled):
		return sandbox.Errorf(NetworkError, "the request was cancelled")
	case errors.As(err, &name) && name.IsNotFound:
		return sandbox.Errorf(NetworkError, "there is no such host")
	case errors.As(err, &certificate):
		return sandbox.Errorf(NetworkError, "the server's certificate is not valid for its name")
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return sandbox.Errorf(NetworkError, "the server did not answer in time")
	case errors.As(err, &name):
		return sandbox.Errorf(NetworkError, "the host's name cannot be looked up")
	}
	return sandbox.Errorf(NetworkError, "the connection failed")
}
