package usage

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/internal/metric"
)

// Hold is what one request may take, set aside. It is settled or released once;
// whatever is done with it then does nothing. What is neither stays as it was held.
type Hold struct {
	Requests int // how many it came to, if more than one; to be set before Settle

	ledger   *Ledger
	id       uuid.UUID
	user     uuid.UUID
	purpose  string
	provider string
	price    *Price
}

// settleWithin is how long a Settle waits for the database. What was spent is
// written even where the work around it has been called off.
const settleWithin = 10 * time.Second

// Settle writes what the request has taken, be it more than was held.
func (h *Hold) Settle(ctx context.Context, input, output int64) error {
	err := h.alone(ctx, func(batch *pgx.Batch) { h.queueSettle(batch, input, output) })
	if err == nil {
		h.count(input, output)
	}
	return err
}

// SettleIn is Settle in the caller's transaction, whose rollback undoes it. It
// comes last there: until the commit, others who ask the same provider wait. A
// transaction that has locked anything that goes with the account must have locked
// the account's row before.
func (h *Hold) SettleIn(ctx context.Context, tx pgx.Tx, input, output int64) error {
	batch := &pgx.Batch{}
	h.queueSettle(batch, input, output)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("settle a hold: %w", err)
	}
	h.count(input, output)
	return nil
}

// count counts in the process's metrics what a request has taken.
func (h *Hold) count(input, output int64) {
	input, output = tokens(input), tokens(output)
	metric.Spent(h.provider, h.purpose, input, output, h.price.dollars(input, output))
}

// Release gives back what was held: certainly nothing was sent.
func (h *Hold) Release(ctx context.Context) error {
	return h.alone(ctx, func(batch *pgx.Batch) { h.queue(batch, 1, 0, 0, nil, nil) })
}

// alone runs what it queues in a transaction of its own.
func (h *Hold) alone(ctx context.Context, queue func(*pgx.Batch)) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleWithin)
	defer cancel()
	batch := begin()
	queue(batch)
	if err := h.ledger.commit(ctx, batch); err != nil {
		return fmt.Errorf("settle a hold: %w", err)
	}
	return nil
}

func (h *Hold) queueSettle(batch *pgx.Batch, input, output int64) {
	var in, out *string
	if h.price != nil {
		in, out = &h.price.Input, &h.price.Output
	}
	h.queue(batch, -int64(max(h.Requests-1, 0)), tokens(input), tokens(output), in, out)
}

// queue takes the hold away, and puts in its place what it came to. Each row is
// locked only once the one before it is: the statement's parts wait for each other.
func (h *Hold) queue(batch *pgx.Batch, requests, input, output int64, inputPrice, outputPrice *string) {
	queueAccount(batch, h.user)
	const set = `set requests = t.requests - $2::bigint, held_tokens = t.held_tokens - h.tokens,
		input_tokens = t.input_tokens + $3::bigint, output_tokens = t.output_tokens + $4::bigint,
		cost_usd = case when h.cost is null then t.cost_usd else coalesce(t.cost_usd, 0) + h.cost end`
	batch.Queue(`with h as (
			delete from helix.usage_holds where id = $1 returning *, ($3::bigint * $5::text::numeric + $4::bigint * $6::text::numeric) / 1000000 as cost),
		total as (
			update helix.usage_totals t `+set+` from h where t.day = h.day and t.purpose = h.purpose and t.provider = h.provider returning 1)
		update helix.usage t `+set+` from h
		where t.user_id = h.user_id and t.day = h.day and t.purpose = h.purpose and t.provider = h.provider and exists (select from total)`,
		h.id, requests, input, output, inputPrice, outputPrice)
}
