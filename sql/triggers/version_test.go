package triggers_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/helixd/helixd/sql/triggers"
)

// golden is what the files were when their version was given.
var golden = struct{ version, sha256 string }{"20261121001100", "24b733bf523e9df8a009c613fed674a67da8992ea61aa540517c9b4c795e5dfc"}

func TestVersion(t *testing.T) {
	sum := sha256.Sum256([]byte(triggers.SQL()))
	if got := hex.EncodeToString(sum[:]); got != golden.sha256 || triggers.Version != golden.version {
		t.Errorf("the files have changed: bump Version, since the Supabase CLI applies a version once, and write both here: %q, %q",
			triggers.Version, got)
	}
}
