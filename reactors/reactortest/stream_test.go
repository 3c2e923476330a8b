package reactortest_test

import (
	"testing"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/reactors/decay"
	"github.com/helixd/helixd/reactors/reactortest"
	"github.com/helixd/helixd/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// TestStreamEndsAtOnce: a test may be over before the stream has begun.
func TestStreamEndsAtOnce(t *testing.T) {
	db := testenv.New(t)
	if err := migrations.Up(t.Context(), db.Connect(t, "postgres"), func(migrations.Migration) {}); err != nil {
		t.Fatal(err)
	}
	pool := db.Pool(t, "postgres")
	t.Run("it", func(t *testing.T) { reactortest.Stream(t, db, pool, decay.Reactor{}) })
}
