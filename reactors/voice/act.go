package voice

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/voice/command"
)

// act does what the user wants done with the transcript. Where that fails the
// transcript stands, and the row says that nothing followed.
func (s *Service) act(ctx context.Context, tx pgx.Tx, r command.Recording) error {
	var actions []command.Action
	err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) (err error) { // a savepoint
		actions, err = command.Act(ctx, tx, r)
		return err
	})
	if err != nil {
		if passing(err) {
			return fmt.Errorf("do what a transcript says: %w", err) // all of it once more
		}
		s.log.Warn().Str("sqlstate", reactors.SQLState(err)).Stringer("recording", r.ID).Msg("what a transcript leads to was not done")
		kind := command.Command
		if r.Memo {
			kind = command.Memory
		}
		actions = []command.Action{{Action: kind, Error: &command.Error{Code: CodeInternal,
			Message: "What the transcript leads to could not be written; helixd's log says more."}}}
	}
	if len(actions) == 0 {
		return nil
	}
	raw, err := json.Marshal(actions)
	if err != nil {
		return fmt.Errorf("write actions: %w", err)
	}
	if _, err := tx.Exec(ctx, "update public.voice_recordings set actions = $2::jsonb where id = $1", r.ID, string(raw)); err != nil {
		return fmt.Errorf("write actions: %w", err)
	}
	return nil
}

// passing reports whether an error may be gone at another time: a lost connection,
// a deadlock, a lock, a full disk, a server that is restarted.
func passing(err error) bool {
	state := reactors.SQLState(err)
	return state == "" || slices.Contains([]string{"08", "40", "53", "55", "57", "58"}, state[:2])
}
