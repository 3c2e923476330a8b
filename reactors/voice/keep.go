package voice

import (
	"context"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"
)

// largeAudio is the size of processed audio that goes in parts, and of a part:
// as a parameter it would be in memory whole, and more than once.
const largeAudio = 1 << 20

// kept is an expression that gives processed_audio, behind done's parameters.
type kept struct {
	sql  string
	args []any
}

// keep brings a WAV file into the transaction; without one there is none on the row.
func keep(ctx context.Context, tx pgx.Tx, audio *spool) (kept, error) {
	if audio == nil {
		return kept{sql: "null"}, nil
	}
	if audio.size <= largeAudio {
		whole := make([]byte, audio.size)
		if _, err := audio.ReadAt(whole, 0); err != nil {
			return kept{}, internal("read a temporary file", err)
		}
		return kept{sql: "$8", args: []any{whole}}, nil
	}
	if _, err := tx.Exec(ctx, "create temp table helix_voice_parts (n int, part bytea) on commit drop"); err != nil {
		return kept{}, fmt.Errorf("keep processed audio: %w", err)
	}
	part := make([]byte, largeAudio)
	n := 0
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"pg_temp", "helix_voice_parts"}, []string{"n", "part"}, pgx.CopyFromFunc(func() ([]any, error) {
		got, err := audio.ReadAt(part, int64(n)*largeAudio)
		if got == 0 && err == io.EOF {
			return nil, nil
		}
		if err != nil && err != io.EOF {
			return nil, internal("read a temporary file", err)
		}
		n++
		return []any{n, part[:got]}, nil
	}))
	if err != nil {
		return kept{}, fmt.Errorf("keep processed audio: %w", err)
	}
	return kept{sql: "(select string_agg(part, '' order by n) from pg_temp.helix_voice_parts)"}, nil
}
