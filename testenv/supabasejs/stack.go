package supabasejs

import (
	"context"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/testenv"
	"github.com/helixd/helixd/testenv/child"
)

// Stack is a project with helixd beside it, which end-to-end tests drive as an app
// does, and whose database they look into.
type Stack struct {
	Project
	Realtime bool // results come by broadcast
	DB       *pgx.Conn
	Helixd   *child.Process // nil where it runs elsewhere
}

// StartStack gives the stack that HELIX_E2E_SUPABASE_URL names, such as one of
// `supabase start` with `helixd run` beside it, with HELIX_E2E_ANON_KEY and
// HELIX_E2E_DB_URL. Without it, supabase-lite over a test database, with a helixd
// that gets env; Realtime is not to be had there.
func StartStack(t testing.TB, env ...string) Stack {
	t.Helper()
	if url := os.Getenv("HELIX_E2E_SUPABASE_URL"); url != "" {
		conn, err := pgx.Connect(t.Context(), os.Getenv("HELIX_E2E_DB_URL"))
		if err != nil {
			t.Fatalf("HELIX_E2E_DB_URL: %v", err)
		}
		t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
		return Stack{Project: Project{URL: url, Key: os.Getenv("HELIX_E2E_ANON_KEY")}, Realtime: true, DB: conn}
	}
	db := testenv.New(t)
	project := Start(t, db)
	return Stack{Project: project, DB: db.Connect(t, "postgres"), Helixd: Helixd(t, db, env...)}
}
