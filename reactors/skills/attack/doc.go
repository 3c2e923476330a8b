// Package attack is a test of the sandbox by programs that want to do harm:
// modules, written in bytes, and scripts (testdata/scripts), each with the code
// that it must end with, or the output that shows that it found nothing.
//
// They run in one Pool, in the workers of one tenant, as many at a time as there
// are CPUs, while two others run good programs. Afterwards the daemon must be as
// large as before, and nothing may be left: no child, no file.
//
// HELIX_TEST_LONG=1 adds those that cost half a minute of CPU each.
package attack
