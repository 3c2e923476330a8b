package triggers_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/helixd/helixd/sql/triggers"
)

// golden is what the files were when their version was given.
var golden = struct{ version, sha256 string }{"20261122001400", "7eeef6ac3ac1714bc433f35ecc8442df7cf32a228a28ffc2793643f2b4bc3e3f"}

func TestVersion(t *testing.T) {
	sum := sha256.Sum256([]byte(triggers.SQL()))
	if got := hex.EncodeToString(sum[:]); got != golden.sha256 || triggers.Version != golden.version {
		t.Errorf("the files have changed: bump Version, since the Supabase CLI applies a version once, and write both here: %q, %q",
			triggers.Version, got)
	}
}
