package usage_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/reactors/usage"
)

func TestLoadPrivacy(t *testing.T) {
	b := newBench(t)
	user, other := b.User(t), b.User(t)
	app := b.DB.AsUser(t, user.String())
	load := func(who uuid.UUID) usage.Privacy {
		t.Helper()
		p, err := usage.LoadPrivacy(t.Context(), b.Admin, who)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := load(user); len(p.OptOut) != 0 || len(p.Names) != 0 {
		t.Errorf("of a user who has said nothing: %+v", p)
	}
	if _, err := app.Exec(t.Context(), `insert into privacy_settings (opt_out, redact_names) values ('{memories.content,skill_runs.llm}', '{Ada,"Ada Lovelace"}')`); err != nil {
		t.Fatal(err)
	}
	p := load(user)
	for what, want := range map[string]bool{usage.Memories: true, usage.SkillModel: true, usage.Conversations: false, usage.Voice: false} {
		if p.OptOut[what] != want {
			t.Errorf("%s: opted out %t", what, p.OptOut[what])
		}
	}
	if !slices.Equal(p.Names, []string{"Ada", "Ada Lovelace"}) {
		t.Errorf("names %q", p.Names)
	}
	if p := load(other); len(p.OptOut) != 0 {
		t.Errorf("of another user: %+v", p)
	}
	// Every entry that a user may give is one that this package knows.
	if _, err := app.Exec(t.Context(), "update privacy_settings set opt_out = $1", []string{usage.Memories, usage.Conversations, usage.Voice, usage.SkillModel}); err != nil {
		t.Error(err)
	}
	_, err := app.Exec(t.Context(), "update privacy_settings set opt_out = '{memories}'")
	if err == nil || !strings.Contains(err.Error(), "opt_out takes memories.content, memory_synthesis_jobs.conversations, voice_recordings.audio_data and skill_runs.llm") {
		t.Errorf("an unknown column: error %v", err)
	}
}

func TestPseudonym(t *testing.T) {
	b, elsewhere := newBench(t), newBench(t)
	l := b.ledger(t, nil, nil)
	alice, bob := uuid.New(), uuid.New()
	of := func(l *usage.Ledger, user uuid.UUID) string {
		t.Helper()
		p, err := l.Pseudonym(t.Context(), user)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := of(l, alice)
	if raw, err := hex.DecodeString(p); err != nil || len(raw) != 32 || strings.Contains(p, strings.ReplaceAll(alice.String(), "-", "")) {
		t.Errorf("pseudonym %q", p)
	}
	if of(l, alice) != p || of(b.ledger(t, nil, nil), alice) != p {
		t.Error("it is another one each time")
	}
	if of(l, bob) == p || of(elsewhere.ledger(t, nil, nil), alice) == p {
		t.Error("another user, or another project, has the same")
	}
	// It is for this only: the bare HMAC of the id is something else.
	mac := hmac.New(sha256.New, []byte(get[string](t, b.Admin, "select secret from helix.instance")))
	mac.Write(alice[:])
	if hex.EncodeToString(mac.Sum(nil)) == p {
		t.Error("it is not kept apart from other uses of the secret")
	}
}

// TestPrivacyOfTheApps: a project that has had helixd, and has a table of this name
// of its own, keeps it.
func TestPrivacyOfTheApps(t *testing.T) {
	b := newBench(t)
	for _, sql := range []string{"drop table privacy_settings", "create table privacy_settings (user_id uuid, theme text)",
		"delete from helix.migrations where name in ('privacy', 'helix_triggers')"} {
		if _, err := b.Admin.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	err := migrations.Up(t.Context(), b.Admin, func(migrations.Migration) {})
	if err == nil || !strings.Contains(err.Error(), "Run: alter table public.privacy_settings rename to privacy_settings_old;") {
		t.Errorf("error %v", err)
	}
	if got := get[string](t, b.Admin, "select string_agg(attname, ' ' order by attnum) from pg_attribute where attrelid = 'privacy_settings'::regclass and attnum > 0"); got != "user_id theme" {
		t.Errorf("columns %s", got)
	}
}
