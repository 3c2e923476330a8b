package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors"
)

// mostCommands bounds how many of a user's commands a transcript is compared with.
const mostCommands = 100

// Act writes the rows that a transcript leads to, in the transaction that stores
// it: so it leads to them once. What is wrong with such a row, or what the project's
// own rules say of it, is in its Action; the transcript is not lost for it. An error
// is the server's.
func Act(ctx context.Context, tx pgx.Tx, r Recording) ([]Action, error) {
	if strings.TrimSpace(r.Transcript) == "" {
		return nil, nil
	}
	var actions []Action
	if r.Memo {
		made := Action{Action: Memory}
		err := attempt(ctx, tx, &made, `insert into public.memories (user_id, type, content, created_at) values ($1, 'episodic', $2, $3) returning id`,
			r.UserID, r.Transcript, r.CreatedAt.UTC()) // in UTC, for a column without a time zone
		if err != nil {
			return nil, fmt.Errorf("write the memory of recording %s: %w", r.ID, err)
		}
		actions = append(actions, made)
	}
	c, err := find(ctx, tx, r)
	if err != nil {
		return nil, fmt.Errorf("look for the command of recording %s: %w", r.ID, err)
	}
	if c == nil {
		return actions, nil
	}
	made := Action{Action: Command, CommandID: &c.id}
	if made.Error, err = refusal(ctx, tx, r.UserID, c); err == nil && made.Error == nil {
		err = attempt(ctx, tx, &made, "insert into public.skill_runs (user_id, skill_id, input) values ($1, $2, $3) returning id", r.UserID, c.skill, c.input)
	}
	if err != nil {
		return nil, fmt.Errorf("run command %s: %w", c.id, err)
	}
	return append(actions, made), nil
}

// spoken is a command that a transcript is.
type spoken struct {
	id    uuid.UUID
	skill *uuid.UUID // nil: it was deleted
	input []byte
}

// find gives the command that the transcript is, nil for none.
func find(ctx context.Context, tx pgx.Tx, r Recording) (*spoken, error) {
	said, ok := Listen(r.Transcript)
	if !ok {
		return nil, nil
	}
	rows, err := tx.Query(ctx, `select id, phrase, skill_id, arguments from public.voice_commands
		where user_id = $1 and enabled order by created_at, id limit $2`, r.UserID, mostCommands)
	if err != nil {
		return nil, err
	}
	var (
		best  *spoken
		words int
		row   struct {
			id        uuid.UUID
			phrase    string
			skill     *uuid.UUID
			arguments json.RawMessage
		}
	)
	_, err = pgx.ForEachRow(rows, []any{&row.id, &row.phrase, &row.skill, &row.arguments}, func() error {
		phrase, err := Parse(row.phrase)
		if err != nil {
			return nil // from before the table's trigger: nothing is this phrase
		}
		m, ok := phrase.Match(said)
		if !ok || m.Words <= words {
			return nil
		}
		input, err := Input(row.arguments, phrase, m.Slots)
		if err != nil {
			return nil // likewise
		}
		encoded, err := json.Marshal(input)
		if err != nil {
			return err
		}
		best, words = &spoken{row.id, row.skill, encoded}, m.Words
		return nil
	})
	return best, err
}

// refusal says why the user may not run the command's skill now. The tables' own
// triggers let through whatever helixd writes.
func refusal(ctx context.Context, tx pgx.Tx, user uuid.UUID, c *spoken) (*Error, error) {
	notFound := &Error{CodeSkillNotFound, "The command's skill is no longer there for you: choose another one, or delete the command."}
	if c.skill == nil {
		return notFound, nil
	}
	var enabled bool
	err := tx.QueryRow(ctx, `select enabled is not false from public.skills
		where id = $1 and (user_id = $2 or user_id is null or visibility = 'public')`, c.skill, user).Scan(&enabled)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return notFound, nil
	case err != nil:
		return nil, err
	case !enabled:
		return &Error{CodeSkillDisabled, "The command's skill is switched off: enable it, or choose another one."}, nil
	}
	return nil, nil
}

// attempt inserts a row and notes its id, or what is wrong with it.
func attempt(ctx context.Context, tx pgx.Tx, made *Action, sql string, args ...any) error {
	var id uuid.UUID
	err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error { // under a savepoint
		return tx.QueryRow(ctx, sql, args...).Scan(&id)
	})
	switch {
	case err == nil:
		made.ID = &id
	case errors.Is(err, pgx.ErrNoRows):
		made.Error = &Error{CodeRowRefused, "A trigger of the project left the row out."}
	case reactors.OfRow(err):
		made.Error = &Error{CodeRowRefused, fmt.Sprintf("The project's rules refused the row (SQLSTATE %s): see the server's log.", reactors.SQLState(err))}
	default:
		return err
	}
	return nil
}
