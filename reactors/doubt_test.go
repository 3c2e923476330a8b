package reactors_test

import (
	"bytes"
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/helixd/helixd/internal/metric"
	"github.com/helixd/helixd/reactors"
)

// deaf is a connection that is lost at a commit, before the server has it or after.
type deaf struct {
	net.Conn
	armed *atomic.Bool
	after bool
}

func (d *deaf) Write(p []byte) (int, error) {
	if !bytes.Contains(p, []byte("commit\x00")) || !d.armed.CompareAndSwap(true, false) {
		return d.Conn.Write(p)
	}
	if d.after {
		if _, err := d.Conn.Write(p); err != nil {
			return 0, err
		}
		if _, err := d.Conn.Read(make([]byte, 1024)); err != nil { // it is done
			return 0, err
		}
	}
	return len(p), d.Conn.Close()
}

func counted(t *testing.T, c prometheus.Metric) float64 {
	t.Helper()
	var m dto.Metric
	if err := c.Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.GetCounter().GetValue()
}

// TestLostAnswer: an apply counts as what became of it, where its commit's answer was
// lost too. It is not parallel: the metrics are the process's.
func TestLostAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		after                 bool
		changes, errors, rows float64
	}{
		"Committed": {true, 3, 0, 3},
		"Aborted":   {false, 0, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, copier{})
			cfg, err := pgxpool.ParseConfig(b.db.URL("postgres"))
			if err != nil {
				t.Fatal(err)
			}
			var armed atomic.Bool
			dial := cfg.ConnConfig.DialFunc
			cfg.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := dial(ctx, network, address)
				return &deaf{conn, &armed, c.after}, err
			}
			if b.pool, err = pgxpool.NewWithConfig(t.Context(), cfg); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(b.pool.Close)
			d := b.dispatcher(t, copier{})
			ctx, stop := context.WithCancel(t.Context())
			settled := make(chan struct{})
			go func() {
				defer close(settled)
				reactors.Settle(ctx, b.pool)
			}()
			t.Cleanup(func() { stop(); <-settled })

			changes, failed := counted(t, metric.Changes), counted(t, metric.ApplyErrors)
			armed.Store(true)
			if err := d.Apply(t.Context(), batch(b.transaction(row(b.source, 1, 1), row(b.source, 2, 1), row(b.source, 3, 1)))); err == nil {
				t.Fatal("the answer was not lost")
			}
			deadline := time.After(30 * time.Second)
			for tick := time.NewTicker(5 * time.Millisecond); counted(t, metric.Changes)-changes+counted(t, metric.ApplyErrors)-failed == 0; {
				select {
				case <-tick.C:
				case <-deadline:
					t.Fatal("it never counted")
				}
			}
			if rows := query[float64](t, b, "select count(*)::float8 from target"); rows != c.rows {
				t.Errorf("%v rows, want %v", rows, c.rows)
			}
			if got := counted(t, metric.Changes) - changes; got != c.changes {
				t.Errorf("%v changes are counted, want %v", got, c.changes)
			}
			if got := counted(t, metric.ApplyErrors) - failed; got != c.errors {
				t.Errorf("%v errors are counted, want %v", got, c.errors)
			}
		})
	}
}
