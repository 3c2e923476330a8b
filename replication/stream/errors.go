package stream

import (
	"errors"
	"fmt"
	"strings"

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

const directHint = "Use the project's direct connection (host db.<ref>.supabase.co, port 5432; IPv6 unless the IPv4 add-on is on). " +
	"A pooler cannot replicate."

// connectError explains why a replication connection could not be made.
func connectError(err error) error {
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) {
		return fmt.Errorf("connect for replication: %w", err)
	}
	switch {
	case pgErr.Code == "28P01":
		return &SetupError{"the server refuses the password",
			"Check SUPABASE_DB_URL: the password is under Settings → Database; special characters must be percent-encoded.", err}
	case pgErr.Code == "28000":
		return &SetupError{"the server refuses this user or host",
			"Check the user in SUPABASE_DB_URL, and that pg_hba.conf lets it connect for replication.", err}
	case pgErr.Code == "3D000":
		return &SetupError{"the database does not exist", "Check the last part of SUPABASE_DB_URL; it is postgres on Supabase.", err}
	case pgErr.Code == "42501":
		return &SetupError{"the user may not replicate", "Run as an administrator: alter role <user> replication;", err}
	case pgErr.Code == "08P01", strings.Contains(pgErr.Message, "startup parameter"), strings.Contains(pgErr.Message, "Tenant or user not found"):
		return &SetupError{"this host refuses replication", directHint, err}
	}
	return fmt.Errorf("connect for replication: %w", err)
}
