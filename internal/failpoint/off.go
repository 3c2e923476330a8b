//go:build !failpoint

package failpoint

// Here does nothing in a build without the tag failpoint.
func Here(string) {}
