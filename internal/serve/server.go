// Package serve answers operators and their monitoring over HTTP: whether the
// process makes progress, its metrics, and what else is mounted.
package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/rs/zerolog"
	"golang.org/x/net/netutil"
)

// Config says where to listen and who may ask.
type Config struct {
	Address string // host:port
	// Token is asked of whoever wants more than what Open gives; "": of nobody, which
	// only an Address on loopback permits.
	Token string
	Log   zerolog.Logger
}

// ErrNoToken says that an address that others can reach needs a token.
var ErrNoToken = errors.New("an address that is not loopback needs a token")

// ErrShortToken says that a token can be guessed.
var ErrShortToken = fmt.Errorf("a token has at least %d characters", MinToken)

// ErrTaken says that another process has the port.
var ErrTaken = errors.New("the port is taken")

// MinToken is how many characters a token has at least: nothing bounds how often one
// may be tried.
const MinToken = 16

// What clients may take: it is scraped every few seconds, and a person looks now and
// then. No few addresses may hold all connections: the others are for the next, such as
// one that probes.
const (
	maxConns   = 256 // of a few kB
	hostConns  = 32
	maxHeaders = 16 << 10
	maxBody    = 1 << 20

	headerTimeout  = 5 * time.Second
	readTimeout    = 10 * time.Second
	writeTimeout   = 30 * time.Second
	idleTimeout    = time.Minute
	goodbyeTimeout = time.Second
)

// Server is the HTTP server of a process. Open and Mount may come at any time.
type Server struct {
	config Config
	guard  *guard
	mux    *http.ServeMux
	http   *http.Server
}

// New makes a Server that does not listen yet.
func New(c Config) (*Server, error) {
	host, _, err := net.SplitHostPort(c.Address)
	if err != nil {
		return nil, fmt.Errorf("address %q: it looks like 127.0.0.1:9464", c.Address)
	}
	if c.Token == "" && !loopback(host) {
		return nil, fmt.Errorf("listen on %s: %w", c.Address, ErrNoToken)
	}
	if c.Token != "" && utf8.RuneCountInString(c.Token) < MinToken {
		return nil, ErrShortToken
	}
	s := &Server{config: c, guard: newGuard(c.Token), mux: http.NewServeMux()}
	s.http = &http.Server{
		Handler:           http.MaxBytesHandler(s.mux, maxBody),
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeaders,
	}
	return s, nil
}

// Open serves a path to everybody who can reach the address: what it says must be
// fit for that.
func (s *Server) Open(path string, h http.Handler) { s.mux.Handle(path, s.guard.open(h)) }

// Mount serves what is below a prefix, such as "/river/", to who has the token. The
// handler sees the whole path.
func (s *Server) Mount(prefix string, h http.Handler) { s.mux.Handle(prefix, s.guard.closed(h)) }

// Listen begins to answer, and gives the address that it listens on. Where the port
// is taken that is ErrTaken.
func (s *Server) Listen(ctx context.Context) (net.Addr, error) {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", s.config.Address)
	if inUse(err) {
		return nil, fmt.Errorf("listen on %s: %w", s.config.Address, ErrTaken)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", s.config.Address, err)
	}
	go func() {
		if err := s.http.Serve(netutil.LimitListener(&sharedListener{Listener: listener, of: map[string]int{}}, maxConns)); !errors.Is(err, http.ErrServerClosed) {
			s.config.Log.Error().Err(err).Msg("no more answers over HTTP")
		}
	}()
	return listener.Addr(), nil
}

// Close ends the connections, soon if not in order.
func (s *Server) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), goodbyeTimeout)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close()
	}
}
