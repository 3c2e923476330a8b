package doctor_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// dnsServer answers for host names with these addresses, and knows no others.
func dnsServer(t *testing.T, hosts map[string]netip.Addr) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			m.Response, m.Additionals = true, nil
			addr, known := hosts[q.Name.String()]
			switch {
			case !known:
				m.RCode = dnsmessage.RCodeNameError
			case q.Type == dnsmessage.TypeAAAA && addr.Is6():
				m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
					Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}}}
			case q.Type == dnsmessage.TypeA && addr.Is4():
				m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
					Body: &dnsmessage.AResource{A: addr.As4()}}}
			}
			if answer, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	}()
	at := conn.LocalAddr().String()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", at)
	}}
}

// relay stands before a Postgres, as a proxy does: it may claim another version of
// the server, and as a pooler it refuses replication. It gives its address.
func relay(t *testing.T, listen, server, version string, pooler bool) string {
	t.Helper()
	l, err := net.Listen("tcp", listen)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				relayOne(client, server, version, pooler)
			}()
		}
	}()
	return l.Addr().String()
}

func relayOne(client net.Conn, server, version string, pooler bool) {
	back, err := net.Dial("tcp", server)
	if err != nil {
		return
	}
	defer back.Close()
	if pooler {
		var length [4]byte
		if _, err := io.ReadFull(client, length[:]); err != nil {
			return
		}
		startup := make([]byte, binary.BigEndian.Uint32(length[:])-4)
		if _, err := io.ReadFull(client, startup); err != nil {
			return
		}
		if bytes.Contains(startup, []byte("\x00replication\x00")) {
			fields := []byte("SFATAL\x00C08P01\x00Munsupported startup parameter: replication\x00\x00")
			_, _ = client.Write(append(binary.BigEndian.AppendUint32([]byte{'E'}, uint32(len(fields)+4)), fields...))
			return
		}
		if _, err := back.Write(append(length[:], startup...)); err != nil {
			return
		}
	}
	go func() {
		_, _ = io.Copy(back, client)
		_ = back.Close()
	}()
	for version != "" { // message by message
		var head [5]byte
		if _, err := io.ReadFull(back, head[:]); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(back, body); err != nil {
			return
		}
		if head[0] == 'S' && bytes.HasPrefix(body, []byte("server_version\x00")) {
			body = []byte("server_version\x00" + version + "\x00")
		}
		if _, err := client.Write(append(binary.BigEndian.AppendUint32(head[:1], uint32(len(body)+4)), body...)); err != nil {
			return
		}
	}
	_, _ = io.Copy(client, back)
}

// outside is an address of this machine that is not loopback.
func outside(t *testing.T) string {
	t.Helper()
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	t.Skip("this machine has no address but loopback")
	return ""
}

// certificate makes a server's own certificate and key, as PEM.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "postgres"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}))
}
