package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors/skills/host/audit"
	"github.com/helixd/helixd/testenv"
)

func TestSecret(t *testing.T) {
	db := testenv.New(t)
	migrated(t, db)
	user := db.NewUser(t).ID
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"HELIX_AGE_KEY=" + identity.String()}
	run := func(stdin string, args ...string) (string, string, int) {
		return command(t, db.URL("postgres"), stdin, env, append([]string{"secret"}, args...)...)
	}
	t.Run("is set from stdin, listed and removed", func(t *testing.T) {
		if out, errs, status := run("the-secret-value\n", "set", "--user", user, "--host", "api.example.com", "--host", "b.example.com", "api"); status != 0 || out+errs != "" {
			t.Fatalf("set: %d %s%s", status, out, errs)
		}
		out, _, status := run("", "list", "--user", user)
		if status != 0 || !strings.Contains(out, "api   api.example.com,b.example.com  helix.secrets (age)") || strings.Contains(out, "value") {
			t.Errorf("list: %d %s", status, out)
		}
		if out, errs, status := run("", "remove", "--user", user, "api"); status != 0 || out+errs != "" {
			t.Errorf("remove: %d %s%s", status, out, errs)
		}
		if _, errs, status := run("", "remove", "--user", user, "api"); status != 1 || !strings.Contains(errs, "no secret of this name") {
			t.Errorf("remove again: %d %s", status, errs)
		}
	})
	t.Run("is refused with a reason and never quoted", func(t *testing.T) {
		for _, test := range []struct {
			args   []string
			status int
			want   string
		}{
			{[]string{"set", "--user", "x", "api"}, 2, "a uuid"},
			{[]string{"set", "api"}, 2, "say whose"},
			{[]string{"set", "--user", user}, 2, "accepts 1 arg"},
			{[]string{"set", "--user", user, "API"}, 1, "a secret's name"},
			{[]string{"set", "--user", user, "--host", "*.example.com", "api"}, 1, "wildcard"},
			{[]string{"set", "--user", uuid.NewString(), "api"}, 1, "no user"},
			{[]string{"sett"}, 2, "unknown command"},
		} {
			if out, errs, status := run("the-secret-value", test.args...); status != test.status || !strings.Contains(errs, test.want) || strings.Contains(out+errs, "the-secret-value") {
				t.Errorf("%v: %d %s%s", test.args, status, out, errs)
			}
		}
		if _, errs, status := command(t, db.URL("postgres"), "the-secret-value", nil, "secret", "set", "--user", user, "api"); status != 1 || !strings.Contains(errs, "HELIX_AGE_KEY") {
			t.Errorf("without a key: %d %s", status, errs)
		}
	})
}

func TestAuditVerify(t *testing.T) {
	db := testenv.New(t)
	conn := migrated(t, db)
	one, two := uuid.MustParse(db.NewUser(t).ID), uuid.MustParse(db.NewUser(t).ID)
	for range 3 {
		err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			return audit.Append(t.Context(), tx, []audit.Entry{{User: one, Event: audit.Event{Kind: audit.Granted}}, {User: two, Event: audit.Event{Kind: audit.Granted}}})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) (string, string, int) {
		return command(t, db.URL("postgres"), "", nil, append([]string{"audit", "verify"}, args...)...)
	}
	if out, errs, status := run(); status != 0 || out != "chains: 2, entries: 6, broken: 0\n" || errs != "" {
		t.Errorf("whole: %d %s%s", status, out, errs)
	}
	heads, errs, status := run("--heads")
	if status != 0 || strings.Count(heads, "\n") != 2 || errs != "chains: 2, entries: 6, broken: 0\n" {
		t.Errorf("heads: %d %s%s", status, heads, errs)
	}
	file := filepath.Join(t.TempDir(), "heads")
	if err := os.WriteFile(file, []byte(heads), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, status := run("--expect", file); status != 0 {
		t.Errorf("as expected: %d %s%s", status, out, errs)
	}
	exec1(t, conn, "update helix.audit set event = '{}' where user_id = $1 and seq = 2", one)
	if out, errs, status := run(); status != 1 || out != one.String()+" 2 its hash is not that of its columns\nchains: 2, entries: 6, broken: 1\n" || !strings.Contains(errs, "does not hold") {
		t.Errorf("changed: %d %s%s", status, out, errs)
	}
	if out, errs, status := run("--user", two.String()); status != 0 || out != "chains: 1, entries: 3, broken: 0\n" {
		t.Errorf("of another user: %d %s%s", status, out, errs)
	}
	exec1(t, conn, `with gone as (delete from helix.audit where user_id = $1 and seq = 3 returning prev_hash)
		update helix.audit_heads set seq = 2, hash = prev_hash from gone where user_id = $1`, two)
	if out, _, status := run("--user", two.String()); status != 0 {
		t.Errorf("cut off: %d %s", status, out)
	}
	if out, _, status := run("--user", two.String(), "--expect", file); status != 1 || !strings.Contains(out, two.String()+" 0 the chain ends at 2") {
		t.Errorf("cut off: %d %s", status, out)
	}
	for _, args := range [][]string{{"--user", "x"}, {"x"}, {"--nothing"}} {
		if _, _, status := run(args...); status != 2 {
			t.Errorf("%v exits with %d", args, status)
		}
	}
}
