package reactors

import (
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// SQLState is what Postgres said, "" where it said nothing: an error's message may
// quote the values of a row, its code does not.
func SQLState(err error) string {
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		return pgErr.Code
	}
	return ""
}

// Locked reports whether a row was locked for longer than lock_timeout.
func Locked(err error) bool { return SQLState(err) == "55P03" }

// Refused reports whether Postgres will not take the same another time: an app's
// triggers and constraints, and rights that are missing, say so.
func Refused(err error) bool {
	return Poison(err) || strings.HasPrefix(SQLState(err), "42")
}

// ofServer are the SQLSTATE classes that say nothing of a row: connections,
// transactions, rights to sign in, rollbacks, resources, locks, operators, the
// system, its settings, Postgres itself.
var ofServer = []string{"08", "25", "28", "40", "53", "55", "57", "58", "F0", "XX"}

// OfRow reports whether Postgres, or an app's trigger on the table, refused a row:
// what else it refuses is tried again.
func OfRow(err error) bool {
	state := SQLState(err)
	return len(state) == 5 && !slices.Contains(ofServer, state[:2])
}
