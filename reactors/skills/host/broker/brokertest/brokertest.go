// Package brokertest makes a small Internet for tests: a name server and https
// servers on loopback, and a Broker that knows them.
package brokertest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/helixd/helixd/reactors/skills/host/broker"
)

// Internet is what a Broker of a test can reach.
type Internet struct {
	Broker *broker.Broker
	// Permitted is the loopback address that the Broker takes for a public one.
	Permitted netip.Addr

	ca  *x509.Certificate
	key *ecdsa.PrivateKey

	mu      sync.Mutex
	names   map[string][][]netip.Addr
	lookups map[string]int
}

// New makes an Internet that ends with the test.
func New(t testing.TB) *Internet {
	t.Helper()
	n := &Internet{Permitted: netip.MustParseAddr("127.0.0.1"), names: map[string][][]netip.Addr{}, lookups: map[string]int{}}
	var err error
	if n.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	n.ca = n.certificate(t, &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}, nil)
	roots := x509.NewCertPool()
	roots.AddCert(n.ca)
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		n.serveNames(server)
	}()
	t.Cleanup(func() {
		server.Close() //nolint:errcheck // it ends serveNames
		<-served
	})
	n.Broker = broker.New(broker.Options{TestAddress: n.Permitted, TestRoots: roots,
		Resolver: &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "udp", server.LocalAddr().String())
		}}})
	t.Cleanup(n.Broker.Close)
	return n
}

// Name says which addresses a name has. Given several times, each lookup of a
// kind of address gives the next.
func (n *Internet) Name(name string, addresses ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []netip.Addr
	for _, a := range addresses {
		all = append(all, netip.MustParseAddr(a))
	}
	n.names[name+"."] = append(n.names[name+"."], all)
}

// Serve starts an https server under the names, and gives host:port of each. They
// resolve to Permitted.
func (n *Internet) Serve(t testing.TB, handler http.Handler, names ...string) []string {
	t.Helper()
	leaf := n.certificate(t, &x509.Certificate{DNSNames: names}, n.ca)
	s := httptest.NewUnstartedServer(handler)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{leaf.Raw}, PrivateKey: n.key}}, NextProtos: []string{"h2", "http/1.1"}}
	s.EnableHTTP2, s.Config.ErrorLog = true, log.New(io.Discard, "", 0) // what clients refuse
	s.StartTLS()
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	var hosts []string
	for _, name := range names {
		n.Name(name, n.Permitted.String())
		hosts = append(hosts, net.JoinHostPort(name, port))
	}
	return hosts
}

// Lookups is how often the IPv4 addresses of a name were asked for.
func (n *Internet) Lookups(name string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lookups[name+". "+strconv.Itoa(int(dnsmessage.TypeA))]
}

func (n *Internet) certificate(t testing.TB, c, parent *x509.Certificate) *x509.Certificate {
	t.Helper()
	c.SerialNumber, c.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: "test"}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	if parent == nil {
		parent = c
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &n.key.PublicKey, n.key)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (n *Internet) serveNames(server net.PacketConn) {
	b := make([]byte, 4096)
	for {
		size, from, err := server.ReadFrom(b)
		if err != nil {
			return
		}
		if answer, err := n.answer(b[:size]); err == nil {
			server.WriteTo(answer, from) //nolint:errcheck // who asked tries again
		}
	}
}

func (n *Internet) answer(question []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil || len(m.Questions) != 1 {
		return nil, fmt.Errorf("a question of %d: %w", len(m.Questions), err)
	}
	q := m.Questions[0]
	n.mu.Lock()
	defer n.mu.Unlock()
	answers, known := n.names[q.Name.String()]
	asked := q.Name.String() + " " + strconv.Itoa(int(q.Type))
	m.Response, m.Authoritative, m.Additionals = true, true, nil
	if !known {
		m.RCode = dnsmessage.RCodeNameError
		return m.Pack()
	}
	addresses := answers[min(n.lookups[asked], len(answers)-1)]
	n.lookups[asked]++
	for _, a := range addresses {
		header := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: dnsmessage.ClassINET}
		switch {
		case q.Type == dnsmessage.TypeA && a.Is4():
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: a.As4()}})
		case q.Type == dnsmessage.TypeAAAA && a.Is6():
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	return m.Pack()
}
