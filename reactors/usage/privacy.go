package usage

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// What a user may opt out of having sent to providers: the entries of
// privacy_settings.opt_out.
const (
	Memories      = "memories.content"
	Conversations = "memory_synthesis_jobs.conversations"
	Voice         = "voice_recordings.audio_data"
	SkillModel    = "skill_runs.llm"
)

// Querier is a pool, a connection or a transaction.
type Querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Privacy is a user's row of privacy_settings.
type Privacy struct {
	OptOut map[string]bool
	Names  []string // placeholders stand for them in what is sent
}

// LoadPrivacy reads what a user wants; who has said nothing has opted out of nothing.
func LoadPrivacy(ctx context.Context, db Querier, user uuid.UUID) (Privacy, error) {
	p := Privacy{OptOut: map[string]bool{}}
	var out []string
	err := db.QueryRow(ctx, "select opt_out, redact_names from public.privacy_settings where user_id = $1", user).Scan(&out, &p.Names)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return Privacy{}, fmt.Errorf("read privacy_settings: %w", err)
	}
	for _, what := range out {
		p.OptOut[what] = true
	}
	return p, nil
}

// Pseudonym is what a provider is told instead of the user's id: always the same
// for a user of this project, and without the project's secret nobody's.
func (l *Ledger) Pseudonym(ctx context.Context, user uuid.UUID) (string, error) {
	l.mu.Lock()
	secret := l.secret
	l.mu.Unlock()
	if secret == nil {
		var err error
		if secret, err = readSecret(ctx, l.pool); err != nil {
			return "", err
		}
		l.mu.Lock()
		l.secret = secret
		l.mu.Unlock()
	}
	return pseudonym(secret, user), nil
}

func readSecret(ctx context.Context, db Querier) ([]byte, error) {
	var secret string
	if err := db.QueryRow(ctx, "select secret from helix.instance").Scan(&secret); err != nil {
		return nil, fmt.Errorf("read the project's secret: %w", err)
	}
	if len(secret) < 32 {
		return nil, errors.New("the project's secret in helix.instance is too short to hide a user's id")
	}
	return []byte(secret), nil
}

// pseudonym's words before the id keep it apart from whatever else the secret is for.
func pseudonym(secret []byte, user uuid.UUID) string {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte("helixd: pseudonym of a user for providers\x00")) //nolint:errcheck // a hash takes everything
	h.Write(user[:])                                                 //nolint:errcheck // as above
	return hex.EncodeToString(h.Sum(nil))
}
