package analysis

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/helixd/helixd/reactors/synthesis/analysis/local"
	"github.com/helixd/helixd/reactors/usage"
)

// Bounds of what is analysed.
const (
	MostTexts = 1000
	mostID    = 200      // characters of an id
	mostText  = 32 << 10 // bytes of a text; what comes after is not read
	mostRest  = 1 << 10  // bytes that are read after it, for what begins in it and is to be redacted
)

// Where texts are from, as analysis.texts.source says.
const (
	sourceMemories      = "memories"
	sourceConversations = "conversations"
)

// Order says what is to be analysed.
type Order struct {
	Type          string          // a synthesis_type
	Conversations json.RawMessage // nil or null: the user's memories
	Since, Until  *time.Time      // of what is analysed; Until is not part of it
}

// ours reports whether the order is about the user's memories.
func (o *Order) ours() bool {
	raw := bytes.TrimSpace(o.Conversations)
	return len(raw) == 0 || string(raw) == "null"
}

// source is the table's column that the texts are from, as opt-outs name it.
func (o *Order) source() string {
	if o.ours() {
		return usage.Memories
	}
	return usage.Conversations
}

// input is what an analysis is made of.
type input struct {
	source string
	texts  []local.Text      // not blank, the oldest first
	blank  int               // texts without a word, which are left out
	cut    int               // texts of which only the beginning is read
	rest   map[string]string // by id, what comes next in those
}

// load reads the order's texts.
func load(ctx context.Context, db interface {
	Query(context.Context, string, ...any) (pgx.Rows, error)
}, user uuid.UUID, o *Order) (*input, error) {
	var in *input
	var err error
	if o.ours() {
		in, err = loadMemories(ctx, db, user, o)
	} else {
		in, err = readConversations(o)
	}
	if err != nil {
		return nil, err
	}
	kept := in.texts[:0]
	for _, t := range in.texts {
		if all := t.Text; len(all) > mostText {
			if in.rest == nil {
				in.rest = map[string]string{}
			}
			t.Text = strings.ToValidUTF8(all[:mostText], "")
			in.rest[t.ID] = strings.ToValidUTF8(all[len(t.Text):min(len(all), mostText+mostRest)], "")
			in.cut++
		}
		if strings.TrimSpace(t.Text) == "" {
			in.blank++
			continue
		}
		kept = append(kept, t)
	}
	in.texts = kept
	slices.SortStableFunc(in.texts, func(a, b local.Text) int { return a.Time.Compare(b.Time) })
	return in, nil
}

// loadMemories reads the newest ones, as of one statement.
func loadMemories(ctx context.Context, db interface {
	Query(context.Context, string, ...any) (pgx.Rows, error)
}, user uuid.UUID, o *Order) (*input, error) {
	rows, err := db.Query(ctx, `select id::text, coalesce(left(content, $5), ''), helix.utc(created_at), emotional_valence
		from public.memories where user_id = $1 and ($2::timestamptz is null or helix.utc(created_at) >= $2)
			and ($3::timestamptz is null or helix.utc(created_at) < $3)
		order by created_at desc nulls last, id limit $4`, user, o.Since, o.Until, MostTexts, mostText+mostRest+1)
	if err != nil {
		return nil, fmt.Errorf("load memories: %w", err)
	}
	in := &input{source: sourceMemories}
	var id, content string
	var at pgtype.Timestamptz
	var valence *float64
	_, err = pgx.ForEachRow(rows, []any{&id, &content, &at, &valence}, func() error {
		t := local.Text{ID: id, Text: content}
		if at.Valid && at.InfinityModifier == pgtype.Finite {
			t.Time = at.Time.UTC()
		}
		if valence != nil && *valence >= -1 && *valence <= 1 {
			v := *valence
			t.Valence = &v
		}
		in.texts = append(in.texts, t)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load memories: %w", err)
	}
	slices.Reverse(in.texts)
	return in, nil
}

// readConversations reads and checks what the client sent.
func readConversations(o *Order) (*input, error) {
	var entries []json.RawMessage
	if err := json.Unmarshal(o.Conversations, &entries); err != nil {
		return nil, invalid("conversations is not an array: send [{\"id\", \"text\", \"timestamp\"}]")
	}
	if len(entries) > MostTexts {
		return nil, invalid("conversations has %d entries; at most %d are possible", len(entries), MostTexts)
	}
	in := &input{source: sourceConversations}
	seen := make(map[string]bool, len(entries))
	for i, raw := range entries {
		t, problem := readConversation(raw)
		if problem == "" && seen[t.ID] {
			problem = "its id was given before: send each id once"
		}
		if problem != "" {
			return nil, invalid("conversations[%d]: %s.", i, problem)
		}
		seen[t.ID] = true
		// Of one without a time nothing says that it lies outside.
		if !t.Time.IsZero() && (o.Since != nil && t.Time.Before(*o.Since) || o.Until != nil && !t.Time.Before(*o.Until)) {
			continue
		}
		in.texts = append(in.texts, t)
	}
	return in, nil
}

// readConversation gives a text, or what is wrong with it.
func readConversation(raw json.RawMessage) (local.Text, string) {
	var entry map[string]json.RawMessage
	if json.Unmarshal(raw, &entry) != nil || entry == nil {
		return local.Text{}, `it is not an object: send {"id", "text", "timestamp"}`
	}
	var t local.Text
	if !readString(entry["id"], &t.ID) {
		return t, `its id is not a string: send {"id", "text", "timestamp"}, each id once`
	}
	if n := utf8.RuneCountInString(t.ID); n == 0 || n > mostID {
		return t, fmt.Sprintf("its id has %d characters; it must have 1 to %d", n, mostID)
	}
	if !readString(entry["text"], &t.Text) {
		return t, `its text is not a string: send {"id", "text", "timestamp"}`
	}
	var ok bool
	if t.Time, ok = readTime(entry["timestamp"]); !ok {
		return t, "its timestamp is no time: send ISO 8601, such as 2026-11-21T09:30:00Z, or leave it out"
	}
	return t, ""
}

// readString takes JSON's own strings only: null is none.
func readString(raw json.RawMessage, into *string) bool {
	return len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, into) == nil
}

// readTime reads what JavaScript and Postgres write: text, or milliseconds since
// 1970; the zero time where there is none.
func readTime(raw json.RawMessage) (time.Time, bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return time.Time{}, true
	}
	var text string
	if readString(raw, &text) {
		for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z07", "2006-01-02 15:04:05", "2006-01-02"} {
			if at, err := time.Parse(layout, text); err == nil {
				return at.UTC(), at.Year() > 0
			}
		}
		return time.Time{}, false
	}
	var ms float64
	if json.NewDecoder(io.LimitReader(bytes.NewReader(raw), 64)).Decode(&ms) != nil || math.Abs(ms) > 1e14 {
		return time.Time{}, false
	}
	return time.UnixMilli(int64(ms)).UTC(), true
}
