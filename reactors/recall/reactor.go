package recall

import (
	"context"

	"github.com/helixd/helixd/reactors"
)

// name is the Reactor's.
const name = "recall"

// Reactor stands for recall in helix_status. No change of a row causes anything:
// the Service looks by itself.
type Reactor struct{}

// Name implements reactors.Reactor.
func (Reactor) Name() string { return name }

// Queue is the one whose jobs are maintenance.
func (Reactor) Queue() string { return queue }

// Watches implements reactors.Reactor: nothing.
func (Reactor) Watches() []reactors.Watch { return nil }

// Writes implements reactors.Reactor.
func (Reactor) Writes() []string { return []string{"public.memories"} }

// React implements reactors.Reactor; it is never called.
func (Reactor) React(context.Context, *reactors.Tx, []reactors.Row) error { return nil }
