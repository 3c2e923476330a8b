package reactors

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// Poison reports whether err can be the fault of a row's data: SQLSTATE class
// 22 (data exception) or 23 (integrity constraint violation). All others, a
// full disk, a lost connection, a missing column, would turn good rows into dead
// letters: they stop the stream, acknowledging nothing.
func Poison(err error) bool {
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) || len(pgErr.Code) != 5 {
		return false
	}
	class := pgErr.Code[:2]
	return class == "22" || class == "23"
}

func sqlState(err error) *string {
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		return &pgErr.Code
	}
	return nil
}
