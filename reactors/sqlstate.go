package reactors

import (
	"errors"
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
