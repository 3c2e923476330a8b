package replication

import "context"

// Checkpoint says how far a slot's changes have been applied. It is committed
// together with their results, and the slot is acknowledged only after: so
// the slot is never ahead of it, unless somebody else moved the slot.
type Checkpoint struct {
	Slot             string
	SystemIdentifier string // of the cluster: another one means a restored or different project
	LSN              LSN    // end of the last applied commit
	Epoch            int64  // of the leader; each new leader adds one
	Published        string // fingerprint of the publication as it must be, as its package gives it
	Repair           string // why the slot must be made anew, "" as a rule
}

// Sink receives committed changes.
type Sink interface {
	// Apply makes a batch's results durable before it returns nil, its
	// EndLSN included. After a Batch with More it holds its SQL transaction
	// open and nothing is durable until the batch that ends it. A Batch with
	// no transactions only moves the checkpoint; with More too, it shows that the
	// open SQL transaction is still wanted.
	//
	// After an error nothing of the open SQL transaction is kept, and the
	// caller streams again from the last durable position.
	//
	// The batch and everything in it are the sink's until it returns.
	Apply(ctx context.Context, b *Batch) error
}
