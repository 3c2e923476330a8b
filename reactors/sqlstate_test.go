package reactors

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestSQLState: what a row is to blame for, and what it is not.
func TestSQLState(t *testing.T) {
	for state, want := range map[string]struct{ poison, refused, ofRow bool }{
		"22P02": {true, true, true}, // bad text
		"23505": {true, true, true}, // twice
		"54000": {true, true, true}, // too large for an app's index
		"P0001": {true, true, true}, // an app's trigger
		"42501": {false, true, true},
		"42703": {false, true, true}, // a column is gone
		"08006": {}, "25P03": {}, "40P01": {}, "53100": {}, "55P03": {}, "57014": {}, "58030": {}, "F0000": {}, "XX002": {},
		"28P01": {}, // the password was changed: nothing was asked yet
		"":      {},
	} {
		err := fmt.Errorf("write: %w", &pgconn.PgError{Code: state})
		if got := Poison(err); got != want.poison {
			t.Errorf("Poison of %s: %t", state, got)
		}
		if got := Refused(err); got != want.refused {
			t.Errorf("Refused of %s: %t", state, got)
		}
		if got := OfRow(err); got != want.ofRow {
			t.Errorf("OfRow of %s: %t", state, got)
		}
	}
	if err := errors.New("no connection"); Poison(err) || Refused(err) || OfRow(err) {
		t.Error("an error that is not Postgres's is a row's fault")
	}
	if !Poison(fmt.Errorf("x: %w", ErrData)) {
		t.Error("ErrData is no poison")
	}
}
