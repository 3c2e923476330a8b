package reactors

import "errors"

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
	switch state {
	case "54000", // a value that an app's index cannot take
		"P0001": // an app's trigger that raises
		return true
	}
	class := state[:2]
	return class == "22" || class == "23"
}
