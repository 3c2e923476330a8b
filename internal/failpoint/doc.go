// Package failpoint names the points at which crash tests kill or stop helixd. Without
// the build tag failpoint, as in every release, it does nothing.
package failpoint
