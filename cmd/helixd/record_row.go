package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/helixd/helixd/replication/stream"
)

// findUser gives the account of this id or email.
func findUser(ctx context.Context, cfg *config, text string) (user uuid.UUID, err error) {
	where := "id = $1"
	if _, err := uuid.Parse(text); err != nil {
		if !strings.Contains(text, "@") {
			return uuid.Nil, &usageError{fmt.Errorf("--user %q: it takes an account's id, a uuid, or its email", text)}
		}
		where = "lower(email) = lower($1)"
	}
	err = withConn(ctx, cfg, func(conn *pgx.Conn) error {
		rows, _ := conn.Query(ctx, "select id from auth.users where "+where+" order by created_at limit 10", text)
		all, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
		switch {
		case err != nil:
			return fmt.Errorf("find the user: %w", err)
		case len(all) == 0:
			return fmt.Errorf("the project has no user %q", text)
		case len(all) > 1: // accounts of single sign-on may share one
			return &usageError{fmt.Errorf("--user %q is the email of several accounts: name one by its id, such as %s", text, all[0])}
		}
		user = all[0]
		return nil
	})
	return user, err
}

// spoolPath names a file for a recording that is to become a row.
func spoolPath() (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", err
	}
	return filepath.Join(os.TempDir(), "helixd-recording-"+id.String()+".wav"), nil
}

// recordRow makes a row of the file and waits for what comes of it. The file stays
// until the row is there.
func recordRow(ctx context.Context, cmd *cobra.Command, cfg *config, o recordOptions, user uuid.UUID, path string) error {
	var id uuid.UUID
	err := withConn(ctx, cfg, func(conn *pgx.Conn) error {
		sound, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return conn.QueryRow(ctx, `insert into public.voice_recordings (id, user_id, audio_data, mime_type, language, keep_audio, memo)
			values (gen_random_uuid(), $1, $2, 'audio/wav', nullif($3, ''), $4, $5) returning id`, user, sound, o.language, o.keepAudio, o.memo).Scan(&id)
	})
	if err != nil {
		return &stream.SetupError{Problem: "insert the recording", Err: err, Hint: "It is kept in " + path}
	}
	if err := os.Remove(path); err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "helixd: the recording is inserted, and its file is left: %v\n", err)
	}
	if o.timeout == 0 {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), id)
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	var transcript string
	err = withConn(ctx, cfg, func(conn *pgx.Conn) error {
		transcript, err = awaitTranscript(ctx, conn, id, cmd.ErrOrStderr())
		return err
	})
	if ctx.Err() != nil {
		return &stream.SetupError{Problem: fmt.Sprintf("the recording %s has no transcript yet", id),
			Hint: "It comes without this command, onto the row: select transcript from voice_recordings where id = '" + id.String() + "'"}
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), transcript)
	return err
}

const rowPoll = 250 * time.Millisecond

// awaitTranscript looks at the row until it is done, and tells its status where
// errs is a terminal.
func awaitTranscript(ctx context.Context, conn *pgx.Conn, id uuid.UUID, errs io.Writer) (string, error) {
	if _, err := voiceIdle.worked(ctx, conn, errs); err != nil {
		return "", err
	}
	terminal, ok := errs.(*os.File)
	show := ok && isTerminal(terminal)
	tick := time.NewTicker(rowPoll)
	defer tick.Stop()
	for shown := ""; ; {
		var status, transcript string
		var fault json.RawMessage
		err := conn.QueryRow(ctx, "select status, coalesce(transcript, ''), error from public.voice_recordings where id = $1", id).Scan(&status, &transcript, &fault)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return "", fmt.Errorf("the recording %s was deleted", id)
		case err != nil:
			return "", fmt.Errorf("look at the recording %s: %w", id, err)
		case status == "done":
			return transcript, nil
		case status == "failed":
			return "", rowFault(id, fault)
		case show && status != shown:
			fmt.Fprintf(errs, "The recording is %s.\n", status)
			shown = status
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-tick.C:
		}
	}
}

// rowFault is a row's error, as one of this program.
func rowFault(id uuid.UUID, column json.RawMessage) error {
	var e struct {
		Code, Message string
		Retryable     bool
	}
	if err := json.Unmarshal(column, &e); err != nil {
		return fmt.Errorf("the recording %s has failed", id)
	}
	fault := &stream.SetupError{Problem: fmt.Sprintf("the recording %s has failed with %s: %s", id, e.Code, e.Message)}
	if e.Retryable {
		fault.Hint = "To try again: update voice_recordings set status = 'pending' where id = '" + id.String() + "'"
	}
	return fault
}

var voiceIdle = idle{
	reactor: "voice",
	absent:  "helixd run is not running; start it, and the recording, which waits on its row, is transcribed",
	older:   "the helixd that runs is older than this one and does not transcribe; the recording waits on its row",
	ill:     "the transcription is not healthy, so it may take long",
}
