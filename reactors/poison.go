package reactors

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// ErrData marks an error of a Reactor that comes from what is stored about the
// rows at fault: the Dispatcher looks for them, as for any bad data.
var ErrData = errors.New("what is stored about this row cannot be used")

// Poison reports whether err can be the fault of a row's data: ErrData, or
// SQLSTATE class 22 (data exception) or 23 (integrity constraint violation), or
// what an app's own index or trigger on a result table says to a row. All others, a
// full disk, a lost connection, a missing column, would turn good rows into dead
// letters: they stop the stream, acknowledging nothing.
func Poison(err error) bool {
	if errors.Is(err, ErrData) {
		return true
	}
	state := SQLState(err)
	if len(state) != 5 {
		return false
	}
	switch class := state[:2]; class {
	case "22", "23",
		"20", "21", "27", "44": // no CASE fits, a subquery gives two rows, the row was changed meanwhile, a view's check option
		return true
	case "54":
		return state == "54000" // a value that an app's index cannot take
	case "42": // an app's trigger that lets nobody do it; else a right is missing, or a column
		var pgErr *pgconn.PgError
		return state == "42501" && errors.As(err, &pgErr) && pgErr.Routine == "exec_stmt_raise"
	case "53", "55", "57", "58", "72", "XX":
		return false
	default: // the standard leaves these to servers: P0 is PL/pgSQL's, and others an app's trigger has made up, such as PT403
		return class[0] >= '5' && class[0] <= '9' || class[0] >= 'I'
	}
}
