package main_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/helixd/helixd/internal/phoenix/phoenixtest"
	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/testenv"
)

// TestDoctorAsksTheProject: with its keys, doctor asks the project's services, and
// goes a result's way through Realtime, as a user where it may sign a token.
func TestDoctorAsksTheProject(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	db.Exec(t, "postgres", reactors.BroadcastPolicies)
	gateway := phoenixtest.New(t, db.URL("supabase_admin"))
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ secret, wants string }{
		"WithTheServiceKey": {"", `(?m)^ok    realtime  .*a broadcast came back in .*ms, to the service role`},
		"AsAUser":           {gateway.Secret, `(?m)^ok    realtime  .*a broadcast came back in .*ms, to a user on their own topic, and another one's is refused`},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), path, "doctor", "--only", "supabase,storage,realtime,realtime-policies", "--timeout", "1m")
			cmd.Dir = t.TempDir()
			cmd.Env = append(os.Environ(), "SUPABASE_DB_URL="+db.URL("postgres"), "SUPABASE_URL="+gateway.URL,
				"SUPABASE_SERVICE_ROLE_KEY="+gateway.ServiceKey, "SUPABASE_JWT_SECRET="+c.secret)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v:\n%s", err, out)
			}
			for _, wants := range []string{c.wants, `(?m)^ok    supabase .*takes the service key`, `(?m)^ok    storage .*there are 1 buckets`, "Nothing is wrong"} {
				if !regexp.MustCompile(wants).Match(out) {
					t.Errorf("%s is not in:\n%s", wants, out)
				}
			}
			if strings.Contains(string(out), gateway.ServiceKey) || strings.Contains(string(out), "canary") {
				t.Errorf("a secret is in:\n%s", out)
			}
			if n := get[int](t, db.Connect(t, "postgres"), "select count(*) from realtime.messages"); n != 0 {
				t.Errorf("%d messages are left", n)
			}
		})
	}
}
