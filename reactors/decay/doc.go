// Package decay keeps what is left of memories and psychology layers.
//
//	memories          ─▶ Reactor ─▶ memory_retention    FSRS-6: Good at insert and at each access
//	memories, layers  ─▶ Reactor ─▶ psychology_layers   the seven of each user, made when missing
//	Schedule          ─▶ Service ─▶ Tick ─▶ psychology_layers.decay_rate
//
// An anchor (last_reinforced) and what it takes to compute from it are stored;
// only a reinforcement moves the anchor. So the exact value depends on no tick:
// the SQL functions of schema helix give it as of any time, and the curves here
// give the same to 1e-12. A tick only copies it into decay_rate, for clients that
// read or subscribe to the column.
//
// A client that writes a layer's data reinforces it in its own transaction, by
// the table's trigger: there is nothing left to be done twice or too late.
package decay
