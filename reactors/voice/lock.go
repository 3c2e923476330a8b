package voice

import (
	"github.com/jackc/pgx/v5"
)

// queueLock makes whoever claims or ends recordings of a user come one after the
// other. An account that is being deleted is locked from its row on down, so that
// row is first here, too.
func queueLock(batch *pgx.Batch, user string) {
	batch.Queue("select set_config('lock_timeout', '2s', true), set_config('idle_in_transaction_session_timeout', '60s', true)")
	batch.Queue("select from auth.users where id = $1 for key share", user)
	batch.Queue("insert into helix.voice_queues (user_id) select id from auth.users where id = $1 on conflict do nothing", user)
	// Its own statement: the next one must see what was committed until it had the lock.
	batch.Queue("select from helix.voice_queues where user_id = $1 for update", user)
}

// queueRowLock locks a claim's recording for what is written about it, from the
// account on down, as a deletion of either does: in another order one of the two
// would be a deadlock's victim.
func queueRowLock(batch *pgx.Batch, c *claim) {
	batch.Queue("select from auth.users where id = $1 for key share", c.user)
	batch.Queue("select from public.voice_recordings where id = $1 for no key update", c.id)
}
