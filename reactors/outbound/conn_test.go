package outbound_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/helixd/helixd/reactors/outbound"
)

// TestAnswerBeforeTheBody: a service that refuses what it has not read all of is heard.
func TestAnswerBeforeTheBody(t *testing.T) {
	body := bytes.Repeat([]byte("x"), 4<<20) // more than a server reads after its answer, and than buffers hold
	for name, start := range map[string]func(*httptest.Server){"HTTP": (*httptest.Server).Start, "TLS": (*httptest.Server).StartTLS} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, `{"error":{"message":"No."}}`, http.StatusUnauthorized)
			}))
			start(s)
			defer s.Close()
			transport := outbound.Transport()
			if name == "TLS" {
				roots := x509.NewCertPool()
				roots.AddCert(s.Certificate())
				transport.TLSClientConfig = &tls.Config{RootCAs: roots}
			}
			client := &http.Client{Transport: transport}
			for range 50 {
				ctx, try := service.Try(t.Context())
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, bytes.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				_, err = try.Do(client, req)
				if e, ok := err.(*outbound.Error); !ok || e.Code != outbound.Unauthorized {
					t.Fatalf("the request gives %v, want %s", err, outbound.Unauthorized)
				}
			}
		})
	}
}
