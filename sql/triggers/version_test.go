package triggers_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/helixd/helixd/sql/triggers"
)

// golden is what the files were when their version was given.
var golden = struct{ version, sha256 string }{"20261121001400", "48c49e5e8a6b9a8dcd4f900fd9954f56ae4d9cd13333b6fbb747c34ca2df43c6"}

func TestVersion(t *testing.T) {
	sum := sha256.Sum256([]byte(triggers.SQL()))
	if got := hex.EncodeToString(sum[:]); got != golden.sha256 || triggers.Version != golden.version {
		t.Errorf("the files have changed: bump Version, since the Supabase CLI applies a version once, and write both here: %q, %q",
			triggers.Version, got)
	}
}
