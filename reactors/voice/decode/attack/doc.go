// Package attack is a test of the decoder by recordings that are damaged: cut,
// with bytes changed, left out or repeated, of every format that browsers and
// phones make. Each must come to audio or to an error that says what it is,
// within its limits. Afterwards the daemon must be as large as before, and no
// child be left.
//
// HELIX_TEST_LONG=1 tries 5,000 of them instead of 500.
package attack
