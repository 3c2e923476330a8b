package voice_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/voice/decode"
	"github.com/helixd/helixd/reactors/voice/provider"
)

// slow is raw that waits first.
type slow struct {
	raw
	gate chan struct{}
}

func (d slow) Decode(ctx context.Context, opts decode.Options, in decode.Input, out io.Writer) (decode.Info, error) {
	if err := wait(ctx, d.gate); err != nil {
		return decode.Info{}, err
	}
	return d.raw.Decode(ctx, opts, in, out)
}

// TestDeletionIsNoDeadlock: who deletes a recording, or an account, waits for what
// is being written about it, and is never refused for it.
func TestDeletionIsNoDeadlock(t *testing.T) {
	for _, deleted := range []struct{ name, table, column string }{{"Recording", "public.voice_recordings", "user_id"}, {"Account", "auth.users", "id"}} {
		for _, writing := range []string{"ARequestIsCounted", "AnAnswerIsStored"} {
			t.Run(deleted.name+"/"+writing, func(t *testing.T) {
				b := newBench(t)
				b.unswept(t)
				b.stream(t)
				gate, none := make(chan struct{}), make(chan struct{})
				close(none)
				d, e := slow{gate: gate}, &ear{mostDuration: time.Second}
				if writing == "AnAnswerIsStored" {
					d.gate = none
					e.hear = func(ctx context.Context, _ provider.Request, _ []byte) (provider.Answer, error) {
						return provider.Answer{Transcript: "hello"}, wait(ctx, gate)
					}
				}
				b.work(t, parts{decoder: d, ear: e})
				user := b.User(t)
				b.record(t, user, pcm(24000, 1))
				b.until(t, "the work", "select exists (select from helix.voice_work where job_id is not null) and ($1 or attempts = 1) from voice_recordings", d.gate == gate)
				tx, err := b.DB.Connect(t, "postgres").Begin(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer tx.Rollback(context.WithoutCancel(t.Context())) // after the commit it does nothing
				// A deletion of many rows locks them long before it comes to what hangs on them.
				of := " where " + deleted.column + " = $1"
				if _, err := tx.Exec(t.Context(), "select from "+deleted.table+of+" for update", user); err != nil {
					t.Fatal(err)
				}
				close(gate)
				// Who waits looks for a deadlock once, when it has waited for that long: after
				// that the deletion would be the victim.
				b.until(t, "the writing to wait", `select exists (select from pg_locks l join pg_stat_activity a using (pid) where a.datname = current_database()
					and not l.granted and l.waitstart < clock_timestamp() - 1.5 * current_setting('deadlock_timeout')::interval)`)
				if _, err := tx.Exec(t.Context(), "delete from "+deleted.table+of, user); err != nil {
					t.Fatalf("the deletion: %v", err)
				}
				if err := tx.Commit(t.Context()); err != nil {
					t.Fatal(err)
				}
				b.clear(t)
			})
		}
	}
}
