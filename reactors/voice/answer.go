package voice

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/voice/provider"
)

// stored gives the answer of an earlier time; nil: there is none.
func (s *Service) stored(ctx context.Context, c *claim, key string) (*provider.Answer, error) {
	var raw []byte
	err := s.pool.QueryRow(ctx, "select answer from helix.voice_answers where recording_id = $1 and key = decode($2, 'hex')", c.id, key).Scan(&raw)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for an answer: %w", err)
	}
	a := &provider.Answer{}
	if err := json.NewDecoder(bytes.NewReader(raw)).Decode(a); err != nil {
		return nil, nil // another helixd's form: it is bought again
	}
	return a, nil
}

// store keeps the answer to a part.
func (s *Service) store(ctx context.Context, c *claim, key string, a *provider.Answer) error {
	raw, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("store an answer: %w", err)
	}
	// What was bought is kept whatever happens meanwhile, even where the claim is
	// lost, or the database is away; but not once another lane has ended with all of it.
	ctx, cancel := reactors.Beyond(ctx, s.ctx)
	defer cancel()
	for wait := finishRetry; ; wait = min(2*wait, mostFinishRetry) {
		batch := &pgx.Batch{}
		queueRowLock(batch, c)
		batch.Queue(`with kept as (
				insert into helix.voice_answers (recording_id, key, user_id, answer)
				select id, decode($4, 'hex'), user_id, $5::jsonb from public.voice_recordings where id = $1 and status <> 'done' on conflict do nothing)
			update helix.voice_work set sent = 0 where recording_id = $1 and job_id = $2 and attempt = $3`, c.id, c.job, c.attempt, key, string(raw))
		err := s.pool.SendBatch(ctx, batch).Close()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil || refused(err) {
			return fmt.Errorf("store an answer: %w", err)
		}
		if !reactors.Locked(err) {
			s.log.Warn().Err(err).Stringer("recording", c.id).Msg("an answer is not stored yet; trying again")
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("store an answer: %w", err)
		case <-time.After(wait):
		}
	}
}
