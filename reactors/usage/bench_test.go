package usage_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/reactors/usage"
	"github.com/helixd/helixd/testenv"
)

// BenchmarkHold is a hold and its settlement, by eight workers of one budget.
func BenchmarkHold(b *testing.B) {
	db := testenv.New(b)
	if err := migrations.Up(b.Context(), db.Connect(b, "postgres"), func(migrations.Migration) {}); err != nil {
		b.Fatal(err)
	}
	cfg, err := pgxpool.ParseConfig(db.URL("postgres"))
	if err != nil {
		b.Fatal(err)
	}
	cfg.MaxConns = 8
	pool, err := pgxpool.NewWithConfig(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pool.Close)
	l := usage.NewLedger(pool, map[string]usage.Budget{"analysis": {Tokens: 1 << 60}}, nil)
	user := uuid.MustParse(db.NewUser(b).ID)
	b.ResetTimer()
	b.SetParallelism(4)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			h, err := l.Hold(b.Context(), user, "analysis", "p", 1000)
			if err == nil {
				err = h.Settle(b.Context(), 400, 100)
			}
			if err != nil {
				b.Error(err)
				return
			}
		}
	})
}
