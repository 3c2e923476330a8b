// Package rights says what a skill may do in a run: no more than the operator's
// policy permits, than the skill asks for in its capabilities, and than the
// runner has granted to exactly this code; and within a nested skill no more
// than its caller may.
//
//	asked ──Parse──▶ expanded ──∩ granted──∩ policy (Cedar)──∩ caller──▶ Set, and a Denial for each that is not in it
//
// It is pure: the rows come from the caller, and no time or network is looked at.
package rights
