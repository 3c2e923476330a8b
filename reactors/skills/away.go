package skills

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/helixd/helixd/reactors"
)

// patiently asks the database for something until it answers, or ctx ends: a run
// is not failed because the server was restarted. f may be done any number of times.
func patiently(ctx context.Context, f func() error) error {
	for {
		err := f()
		if !isAway(err) || pause(ctx, commitRetry) != nil {
			return err
		}
	}
}

// isAway reports whether err says nothing but that the database is not there, or
// that it broke off.
func isAway(err error) bool {
	if state := reactors.SQLState(err); len(state) == 5 {
		// 57014: somebody ended this statement.
		return slices.Contains([]string{"08", "40", "53", "57"}, state[:2]) && state != "57014"
	}
	var network net.Error
	var connect *pgconn.ConnectError
	return errors.As(err, &connect) || errors.As(err, &network) && !errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err)
}
