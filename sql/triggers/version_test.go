package triggers_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/helixd/helixd/sql/triggers"
)

// golden is what the files were when their version was given.
var golden = struct{ version, sha256 string }{"20261120000920", "e5034b0bee78318b385d198f6e46b264e43b09055270788a3d6d5d9f4611c581"}

func TestVersion(t *testing.T) {
	sum := sha256.Sum256([]byte(triggers.SQL()))
	if got := hex.EncodeToString(sum[:]); got != golden.sha256 || triggers.Version != golden.version {
		t.Errorf("the files have changed: bump Version, since the Supabase CLI applies a version once, and write both here: %q, %q",
			triggers.Version, got)
	}
}
