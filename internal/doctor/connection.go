package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/replication/stream"
)

var (
	urlUnusable    = Kind{"url", Fail}
	isPooler       = Kind{"pooler", Fail}
	ipv6Only       = Kind{"ipv6-only", Fail}
	unknownHost    = Kind{"unknown-host", Fail}
	badCertificate = Kind{"certificate", Fail}
	loginRefused   = Kind{"refused", Fail}
	unreachable    = Kind{"unreachable", Fail}

	plainText  = Kind{"plain-text", Warn}
	unverified = Kind{"unverified", Warn}

	noAttribute        = Kind{"no-attribute", Fail}
	walLevel           = Kind{"wal-level", Fail}
	replicationRefused = Kind{"refused", Fail}
)

var connectionChecks = []Check{
	{"connection", []Kind{urlUnusable, isPooler, ipv6Only, unknownHost, badCertificate, loginRefused, unreachable}, nothing, lookAtConnection},
	{"tls", []Kind{plainText, unverified}, database, lookAtTLS},
	{"replication", []Kind{noAttribute, walLevel, replicationRefused}, database, lookAtReplication},
}

const (
	directRemedy = "Set SUPABASE_DB_URL to the project's direct connection (dashboard → Connect → Direct connection: host db.<ref>.supabase.co, port 5432)."
	tlsRemedy    = "Add sslmode=verify-full&sslrootcert=<file> to SUPABASE_DB_URL; the file is the dashboard's, under Database → Settings → SSL Configuration → Download certificate."
)

func lookAtConnection(ctx context.Context, d *Doctor) ([]Finding, error) {
	if d.Unusable != nil {
		return []Finding{urlUnusable.found(d.Unusable.Hint, "", "%s", d.Unusable.Problem)}, nil
	}
	cfg, err := pgconn.ParseConfig(d.DatabaseURL)
	if err != nil { // which quotes it, and a password may be in it
		return []Finding{urlUnusable.found("It looks like postgresql://postgres:<password>@db.<ref>.supabase.co:5432/postgres", "", "SUPABASE_DB_URL is no connection string")}, nil
	}
	if cfg.Port == 6543 || strings.Contains(cfg.Host, ".pooler.") {
		return []Finding{isPooler.found(directRemedy, "", "%s:%d is a connection pooler, which cannot replicate", cfg.Host, cfg.Port)}, nil
	}
	if found, err := d.resolve(ctx, cfg.Host); found != nil || err != nil {
		return found, err
	}
	if d.pool != nil {
		var version, user, name string
		if err := d.pool.QueryRow(ctx, "select current_setting('server_version'), current_user::text, current_database()::text").Scan(&version, &user, &name); err != nil {
			return nil, err
		}
		return fine("connected to %s:%d, database %s, as %s; Postgres %s", cfg.Host, cfg.Port, name, user, version), nil
	}
	cfg.LookupFunc = d.Resolver.LookupHost
	conn, err := pgconn.ConnectConfig(ctx, cfg)
	if err == nil { // what is wrong comes after that
		return nil, errors.Join(d.unreachable, conn.Close(context.WithoutCancel(ctx)))
	}
	return []Finding{explain(cfg, err)}, nil
}

// explain says why there is no connection, without the connection string.
func explain(cfg *pgconn.Config, err error) Finding {
	at := net.JoinHostPort(cfg.Host, strconv.Itoa(int(cfg.Port)))
	var pgErr *pgconn.PgError
	var verify *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	switch {
	case errors.As(err, &pgErr) && pgErr.Code == "28P01":
		return loginRefused.found("Check the password in SUPABASE_DB_URL (dashboard → Database → Settings); special characters must be percent-encoded.", "",
			"%s refuses the password of %s", at, cfg.User)
	case errors.As(err, &pgErr) && pgErr.Code == "53300":
		return loginRefused.found("End sessions that nobody needs, or run as an administrator, then restart the server:",
			"alter system set max_connections = 200;", "%s has no connection left: %s", at, pgErr.Message)
	case errors.As(err, &pgErr):
		return loginRefused.found("Check user and database in SUPABASE_DB_URL.", "", "%s refuses the connection: %s (%s)", at, pgErr.Message, pgErr.Code)
	case errors.As(err, &verify), errors.As(err, &authority), errors.As(err, &name):
		return badCertificate.found(tlsRemedy, "", "the certificate of %s is not one that SUPABASE_DB_URL trusts", at)
	case strings.Contains(err.Error(), "server refused TLS connection"):
		return badCertificate.found("Switch TLS on at the server, or set sslmode=prefer in SUPABASE_DB_URL for a server of your own network.", "", "%s does not speak TLS", at)
	case errors.Is(err, context.DeadlineExceeded):
		return unreachable.found("Check host and port in SUPABASE_DB_URL, firewalls, and the project's network restrictions.", "", "%s does not answer", at)
	}
	return unreachable.found("Check host and port in SUPABASE_DB_URL, and that the project is not paused.", "", "%s cannot be reached: nothing accepts connections there", at)
}

// resolve says what is wrong with a host's addresses, nil when nothing is.
func (d *Doctor) resolve(ctx context.Context, host string) ([]Finding, error) {
	if strings.HasPrefix(host, "/") {
		return nil, nil
	}
	addrs, err := d.Resolver.LookupNetIP(ctx, "ip", host)
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return []Finding{unknownHost.found("Check the host in SUPABASE_DB_URL, and that the project is not paused or deleted.", "", "there is no host %s", host)}, nil
	case err != nil:
		return nil, err
	}
	is6 := func(a netip.Addr) bool { return a.Unmap().Is6() }
	if !slices.ContainsFunc(addrs, func(a netip.Addr) bool { return !is6(a) }) && !slices.ContainsFunc(addrs, d.Reaches) {
		return []Finding{ipv6Only.found("Give this machine IPv6, or switch on the project's IPv4 add-on (dashboard → Project Settings → Add-ons).", "",
			"%s has IPv6 addresses only, and this machine has no IPv6 route", host)}, nil
	}
	return nil, nil
}

// reaches asks the kernel for a route. A datagram socket that is connected sends nothing.
func reaches(a netip.Addr) bool {
	conn, err := net.DialTimeout("udp", netip.AddrPortFrom(a, 9).String(), time.Second)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

func lookAtTLS(ctx context.Context, d *Doctor) ([]Finding, error) {
	conn, err := d.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	pg := conn.Conn().PgConn()
	var local bool
	switch a := pg.Conn().RemoteAddr().(type) {
	case *net.UnixAddr:
		local = true
	case *net.TCPAddr:
		local = a.IP.IsLoopback()
	}
	if secure, ok := pg.Conn().(*tls.Conn); ok {
		version := tls.VersionName(secure.ConnectionState().Version)
		cfg := conn.Conn().Config().TLSConfig
		if cfg != nil && cfg.InsecureSkipVerify && cfg.VerifyPeerCertificate == nil && cfg.VerifyConnection == nil && !local {
			return []Finding{unverified.found(tlsRemedy, "", "the connection is encrypted (%s), and nobody checks that it leads to the project", version)}, nil
		}
		return fine("the connection is encrypted with %s", version), nil
	}
	if local {
		return fine("the connection is not encrypted, and does not leave this machine"), nil
	}
	return []Finding{plainText.found(tlsRemedy, "", "the connection is not encrypted: who is on the way reads all rows, and the password's proof")}, nil
}

func lookAtReplication(ctx context.Context, d *Doctor) ([]Finding, error) {
	var may bool
	var level, user string
	err := d.pool.QueryRow(ctx, `select rolreplication or rolsuper, current_setting('wal_level'), quote_ident(current_user)
		from pg_roles where rolname = current_user`).Scan(&may, &level, &user)
	if err != nil {
		return nil, err
	}
	var found []Finding
	if !may {
		found = append(found, noAttribute.found("Run as an administrator:", "alter role "+user+" replication;", "role %s may not replicate", user))
	}
	if level != "logical" {
		found = append(found, walLevel.found("Run as an administrator, then restart the server:", "alter system set wal_level = logical;", "wal_level is %s: nothing can be streamed", level))
	}
	if found != nil {
		return found, nil
	}
	s, err := stream.Open(ctx, stream.Config{ConnString: d.DatabaseURL, Slot: d.Slot, Publication: d.Publication, Log: zerolog.Nop(), Name: "helixd doctor"})
	var setup *stream.SetupError
	var pgErr *pgconn.PgError
	switch {
	case errors.As(err, &setup):
		return []Finding{replicationRefused.found(setup.Hint, "", "%s", setup.Problem)}, nil
	case errors.As(err, &pgErr) && pgErr.Code == "53300":
		return []Finding{replicationRefused.found("See what check slots says.", "", "no walsender is free")}, nil
	case errors.As(err, &pgErr):
		return []Finding{replicationRefused.found("See the server's log, and that pg_hba.conf lets this user connect for replication.", "", "the server refuses replication: %s (%s)", pgErr.Message, pgErr.Code)}, nil
	case err != nil:
		return nil, errors.New("no replication connection could be made")
	}
	defer s.Close()
	return fine("role %s may replicate, and wal_level is logical; system %s", user, s.System()), nil
}
