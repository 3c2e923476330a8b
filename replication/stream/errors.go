package stream

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// SetupError is a fault that trying again does not mend. Its Hint is the next
// step for the operator.
type SetupError struct {
	Problem string
	Hint    string
	Err     error // what the server said, if it said anything
}

func (e *SetupError) Error() string {
	if e.Err == nil {
		return e.Problem
	}
	return fmt.Sprintf("%s: %v", e.Problem, e.Err)
}

func (e *SetupError) Unwrap() error { return e.Err }

// ErrSlotActive says that another connection streams from the slot.
var ErrSlotActive = errors.New("the slot is in use")

// ErrDeposed says that another helixd leads the slot, or none does: this one
// must stop.
var ErrDeposed = errors.New("another helixd has taken the lead")

// ErrSlotMoved says that the slot is ahead of the position to stream from:
// somebody else has read from it, or moved it.
var ErrSlotMoved = errors.New("somebody else moved the slot")

// ErrWALRemoved says that WAL which the slot needs is gone, though the server
// does not call the slot lost: as after a restore that brought an old slot back.
var ErrWALRemoved = errors.New("WAL that the slot needs is gone")

const directHint = "Use the project's direct connection (host db.<ref>.supabase.co, port 5432; IPv6 unless the IPv4 add-on is on). " +
	"A pooler cannot replicate."

// ConnectError explains why a connection could not be made, nil where it cannot, or where trying again may mend it.
func ConnectError(err error) *SetupError {
	var dns *net.DNSError
	var pgErr *pgconn.PgError
	unreachable := "Check its name. The direct host of a project (db.<ref>.supabase.co) has an IPv6 address only, unless the IPv4 add-on is on: " +
		"this machine may lack IPv6."
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return &SetupError{"the host in SUPABASE_DB_URL cannot be found from here", unreachable, dns}
	case errors.Is(err, syscall.ENETUNREACH):
		return &SetupError{"the host in SUPABASE_DB_URL cannot be found from here", unreachable, err}
	case err != nil && strings.Contains(err.Error(), "server refused TLS connection"):
		return &SetupError{"the server does not speak TLS", "Check host and port, or set sslmode=prefer for a server of your own.", err}
	case !errors.As(err, &pgErr):
		return nil
	}
	switch pgErr.Code {
	case "28P01":
		return &SetupError{"the server refuses the password",
			"Check SUPABASE_DB_URL: the password is under dashboard → Database → Settings; special characters must be percent-encoded.", pgErr}
	case "28000":
		return &SetupError{"the server refuses this user or host",
			"Check the user in SUPABASE_DB_URL, and that pg_hba.conf lets it connect, for replication, too.", pgErr}
	case "3D000":
		return &SetupError{"the database does not exist", "Check the last part of SUPABASE_DB_URL; it is postgres on Supabase.", pgErr}
	}
	return nil
}

// connectError explains why a replication connection could not be made.
func connectError(err error) error {
	if setup := ConnectError(err); setup != nil {
		return setup
	}
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) {
		return fmt.Errorf("connect for replication: %w", err)
	}
	switch {
	case pgErr.Code == "42501":
		return &SetupError{"the user may not replicate", "Run as an administrator: alter role <user> replication;", err}
	case pgErr.Code == "08P01", strings.Contains(pgErr.Message, "startup parameter"), strings.Contains(pgErr.Message, "Tenant or user not found"):
		return &SetupError{"this host refuses replication", directHint, err}
	}
	return fmt.Errorf("connect for replication: %w", err)
}
