package main_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors/llm/llmtest"
	"github.com/helixd/helixd/reactors/voice/provider/providertest"
	"github.com/helixd/helixd/testenv"
)

// place is where something could be that must not be there.
type place struct{ name, text string }

// forms are those in which a secret may turn up.
func forms(secret string) map[string]string {
	return map[string]string{
		"plain":        secret,
		"in a query":   url.QueryEscape(secret),
		"in a path":    url.PathEscape(secret),
		"in a URL":     strings.TrimPrefix(url.UserPassword("", secret).String(), ":"),
		"in JSON":      strings.Trim(fmt.Sprintf("%q", secret), `"`),
		"in base64":    strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(secret)), "="),
		"in base64url": base64.RawURLEncoding.EncodeToString([]byte(secret)),
		"in hex":       hex.EncodeToString([]byte(secret)),
	}
}

// absent looks for secrets, by their names, in places.
func absent(t *testing.T, secrets map[string]string, places []place) {
	t.Helper()
	for name, secret := range secrets {
		if len(secret) < 12 {
			t.Fatalf("%s is too short to be recognised", name)
		}
		for form, text := range forms(secret) {
			for _, p := range places {
				if at := strings.Index(strings.ToLower(p.text), strings.ToLower(text)); at >= 0 {
					t.Errorf("%s is %s in %s: …%s…", name, form, p.name, p.text[max(0, at-200):min(len(p.text), at+len(text)+100)])
				}
			}
		}
	}
}

// echoServer is a provider that refuses every request, and tells all that it was sent.
func echoServer(t *testing.T) (address string, asked func(path string) bool) {
	t.Helper()
	var mu sync.Mutex
	paths := map[string]bool{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		mu.Lock()
		for _, part := range strings.Split(r.URL.Path, "/") {
			paths[part] = true
		}
		mu.Unlock()
		w.Header().Set("WWW-Authenticate", fmt.Sprint(r.Header))
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error": {"message": %q}}`, fmt.Sprint(r.Header, string(body)))
	}))
	t.Cleanup(s.Close)
	return s.URL, func(path string) bool {
		mu.Lock()
		defer mu.Unlock()
		return paths[path]
	}
}

// dump gives a place for each table of schema helix, for the column error of each
// table, and for helix_status.
func dump(t *testing.T, conn *pgx.Conn) (places []place) {
	t.Helper()
	for _, sql := range strings.Split(get[string](t, conn, `select string_agg(line, E'\n') from (
			select format('select coalesce(string_agg(t::text, E''\n''), '''') from %s t', c.oid::regclass) as line
			from pg_class c where relnamespace = 'helix'::regnamespace and relkind in ('r', 'p') and c.oid <> 'helix.instance'::regclass
			union all select format('select coalesce(string_agg(%I::text, E''\n''), '''') from %s', attname, attrelid::regclass)
			from pg_attribute join pg_class c on c.oid = attrelid where relnamespace = 'public'::regnamespace and relkind = 'r' and attname in ('error', 'logs', 'audit_log')
			union all select 'select coalesce(string_agg(t::text, E''\n''), '''') from helix_status t'
			union all select 'select string_agg(application_name, E''\n'') from pg_stat_activity where datname = current_database()') s`), "\n") {
		places = append(places, place{sql, get[string](t, conn, sql)})
	}
	return places
}

// proc gives the arguments of a process and of its worker children, and the
// children's environment.
func proc(t *testing.T, p *process) (places []place) {
	t.Helper()
	read := func(pid int, name string) {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
		if err == nil { // else it has ended
			places = append(places, place{fmt.Sprintf("/proc/%d/%s", pid, name), string(b)})
		}
	}
	read(p.Pid(), "cmdline")
	if len(places) == 0 {
		t.Error("the arguments of helixd cannot be read")
	}
	for _, child := range children(t, p.Pid()) {
		read(child, "cmdline")
		read(child, "environ")
	}
	return places
}

// seen gives what helixd run answers over HTTP.
func seen(t *testing.T, p *process, token string) (places []place) {
	t.Helper()
	at := p.http(t)
	for _, path := range []string{"/livez", "/readyz", "/status", "/metrics", "/river/", "/river/api/queues?limit=50", "/river/api/jobs?limit=100&state=available",
		"/river/api/jobs?limit=100&state=completed", "/river/api/jobs?limit=100&state=discarded", "/river/api/jobs?limit=100&state=retryable",
		"/river/api/jobs?limit=100&state=scheduled", "/river/api/jobs?limit=many", "/river/api/jobs/0", "/river/api/states"} {
		code, body := fetch(t, at+path, token)
		if code == http.StatusUnauthorized {
			t.Errorf("%s: %d %s", path, code, body)
		}
		places = append(places, place{path, body})
	}
	return places
}

// TestSecretsStayInside: everything that helixd says at its most talkative, about
// all that it can be configured with, and all that it writes. What users wrote is in
// their rows, and not in logs.
func TestSecretsStayInside(t *testing.T) {
	t.Parallel()
	cluster := testenv.StartCluster(t, testenv.Options{})
	db := testenv.NewOn(t, cluster)
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	secrets := map[string]string{
		"the database's password":   `Zq#7/@pw:%41 ?&canary"'\é`,
		"a refused password":        `Wrong#/@pw:%42-canary`,
		"the age key":               identity.String(),
		"the key of the model":      llmtest.Key,
		"the key of the recogniser": providertest.Key,
		"a refused key":             "refused-canary-3f1d77c09ab24e",
		"the service key":           "eyJhbGciOiJIUzI1NiJ9.canary-service-5d21.c2lnbmF0dXJl",
		"a user's secret":           "users-canary-91ce/55+77aa==",
		"the token of HTTP":         `http-canary/7c:12+"é'&<93ab>`,
		"the project's JWT secret":  "jwt-canary-/40d1+b2ee==-of-32-characters",
	}
	db.Exec(t, "supabase_admin", "alter role postgres password '"+strings.ReplaceAll(secrets["the database's password"], "'", "''")+"'")
	admin := db.Connect(t, "supabase_admin")
	reach := func(password, host string) string {
		u, err := url.Parse(db.URL("postgres"))
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.UserPassword("postgres", password)
		if host != "" {
			u.Host = host
		}
		return u.String()
	}
	address := reach(secrets["the database's password"], "")
	var places []place
	say := func(stdin, url string, env []string, want int, args ...string) {
		t.Helper()
		out, errs, status := commandOf(t, plainBinary, url, stdin, append(env, "HELIX_AGE_KEY="+secrets["the age key"], "HELIX_LOG_LEVEL=trace"), args...)
		if status != want {
			t.Errorf("%v: exit status %d, want %d: %s%s", args, status, want, out, errs)
		}
		places = append(places, place{strings.Join(args, " "), out + errs})
	}
	say("", address, nil, 0, "migrate")
	for _, refused := range []string{
		reach(secrets["a refused password"], ""),
		reach(secrets["the database's password"], "127.0.0.1:1"),
		reach(secrets["the database's password"], "no-such-host.invalid:5432"),
		"postgresql://postgres:" + secrets["the database's password"] + "@127.0.0.1:5432/postgres", // not percent-encoded
		"postgresql://postgres:" + secrets["a refused password"] + "@127.0.0.1:port/postgres?sslmode=sometimes",
		"host=127.0.0.1 port=1 password='" + secrets["a refused password"] + "' user=postgres nonsense",
	} {
		p := startOf(t, plainBinary, refused, []string{"HELIX_LOG_LEVEL=trace"}, "run")
		until(t, "helixd run to end, or to try again", func() bool { return p.says("retry_in_ms") || len(alive([]int{p.Pid()})) == 0 })
		p.Kill()
		places = append(places, place{"run, refused", p.log.String()})
		say("", refused, nil, 1, "usage")
		say("", refused, nil, 1, "migrate", "--output", "json")
	}
	user := db.NewUser(t).ID
	say(secrets["a user's secret"], address, nil, 0, "secret", "set", "--user", user, "api")
	say("", address, nil, 0, "secret", "list", "--user", user)
	say(secrets["a user's secret"], address, nil, 1, "secret", "set", "--user", user, "--host", "*.example.com", "api")

	// Rows that a user wrote: each has a word that is nowhere else.
	values := map[string]string{"a memory": "memorycanary" + uuid.NewString(), "a conversation": "talkcanary" + uuid.NewString(),
		"a note": "notecanary" + uuid.NewString(), "a poisoned note": "poisoncanary" + uuid.NewString(), "an input": "inputcanary" + uuid.NewString()}
	app := db.AsUser(t, user)
	exec1(t, admin, "alter table sync_state disable trigger a_helix_guard")
	rows := func() (run uuid.UUID) {
		exec1(t, app, "insert into memories (type, content) values ('episodic', $1)", values["a memory"])
		exec1(t, app, "insert into memory_synthesis_jobs (synthesis_type, conversations) values ('emotional_patterns', jsonb_build_array(jsonb_build_object('id', 'c', 'text', $1::text)))", values["a conversation"])
		exec1(t, app, "insert into voice_recordings (audio_data) values ($1)", beep(1, time.Second))
		exec1(t, app, "insert into voice_recordings (storage_path) values ('recordings/one.wav')")
		exec1(t, app, "insert into sync_state (entity_type, entity_id, device_id, data, vector_clock) values ('note', gen_random_uuid(), 'phone', jsonb_build_object('text', $1::text), '{\"phone\": 1}')", values["a note"])
		exec1(t, app, "insert into sync_state (entity_type, entity_id, device_id, data, vector_clock) values ('note', gen_random_uuid(), 'phone', jsonb_build_object('text', $1::text), jsonb_build_object('phone', $1::text))", values["a poisoned note"])
		return get[uuid.UUID](t, app, "insert into skill_runs (definition, input) values ($1, jsonb_build_object('text', $2::text)) returning id", `{"kind": "composite", "capabilities": ["secrets:api", "network:https"],
			"steps": [{"stepId": "a", "toolName": "http", "inputMapping": {"url": "https://api.invalid/", "headers": {"Authorization": "Bearer {{secret:api}}"}}}]}`, values["an input"])
	}
	exec1(t, admin, "insert into storage.buckets (id, name) values ('recordings', 'recordings')")
	exec1(t, admin, "insert into storage.objects (bucket_id, name, owner, owner_id, metadata) values ('recordings', 'one.wav', $1::uuid, $1::text, '{\"size\": 100}')", user)
	exec1(t, admin, "create policy mine on storage.objects for select to authenticated using (owner_id = auth.uid()::text)")

	slot := db.SlotName("leak")
	daemon := func(env ...string) *process {
		return startOf(t, plainBinary, address, append([]string{"HELIX_AGE_KEY=" + secrets["the age key"], "HELIX_LOG_LEVEL=trace", "DEEPGRAM_API_KEY=",
			"HELIX_VOICE_PROVIDER=openai", "HELIX_VOICE_RATE=0", "SUPABASE_SERVICE_ROLE_KEY=" + secrets["the service key"], "HELIX_SKILLS_HOSTS=api.invalid",
			"HELIX_HTTP=127.0.0.1:0", "HELIX_HTTP_TOKEN=" + secrets["the token of HTTP"], "SUPABASE_JWT_SECRET=" + secrets["the project's JWT secret"]}, env...), "run", "--slot", slot)
	}
	ended := func(run uuid.UUID) {
		until(t, "the run to end", func() bool {
			return get[bool](t, admin, "select finished_at is not null from skill_runs where id = $1", run)
		})
	}
	model, recogniser := llmtest.New(t), providertest.NewOpenAI(t)
	storage, askedStorage := echoServer(t)
	p := daemon("ANTHROPIC_API_KEY="+llmtest.Key, "HELIX_ANTHROPIC_URL="+model.URL, "EMBEDDINGS_URL="+model.URL, "EMBEDDINGS_API_KEY="+llmtest.Key,
		"HELIX_VOICE_URL="+recogniser.URL, "HELIX_VOICE_KEY="+providertest.Key, "SUPABASE_URL="+storage)
	until(t, "the stream", func() bool { return p.says(`"streaming"`) })
	ended(rows())
	until(t, "what the providers answer", func() bool {
		return askedStorage("object") && get[bool](t, admin, `select exists (select from voice_recordings where transcript is not null)
			and exists (select from memory_synthesis_jobs where status = 'done') and exists (select from memories where embedding is not null)
			and exists (select from helix.dead_letters)`)
	})
	values["a transcript"] = get[string](t, admin, "select transcript from voice_recordings where transcript is not null")
	places = append(append(places, proc(t, p)...), seen(t, p, secrets["the token of HTTP"])...)
	p.Kill()
	logs := []place{{"the log of helixd run", p.log.String()}}

	refuser, asked := echoServer(t)
	key := secrets["a refused key"]
	p = daemon("ANTHROPIC_API_KEY="+key, "HELIX_ANTHROPIC_URL="+refuser, "EMBEDDINGS_URL="+refuser, "EMBEDDINGS_API_KEY="+key,
		"HELIX_VOICE_URL="+refuser, "HELIX_VOICE_KEY="+key, "SUPABASE_URL="+refuser)
	until(t, "the stream", func() bool { return p.says(`"streaming"`) })
	ended(rows())
	for _, path := range []string{"messages", "embeddings", "transcriptions", "object"} {
		until(t, "a request for "+path, func() bool { return asked(path) })
	}
	until(t, "the recording to show why it waits", func() bool {
		return get[bool](t, admin, "select exists (select from voice_recordings where transcript is null and storage_path is null and error is not null)")
	})
	places = append(append(places, proc(t, p)...), seen(t, p, secrets["the token of HTTP"])...)
	// Whoever is asked refuses, and repeats what it was told.
	all := []string{"ANTHROPIC_API_KEY=sk-ant-" + key, "HELIX_ANTHROPIC_URL=" + refuser, "EMBEDDINGS_URL=" + refuser, "EMBEDDINGS_API_KEY=" + key, "HELIX_VOICE_PROVIDER=openai",
		"HELIX_VOICE_URL=" + refuser, "HELIX_VOICE_KEY=" + key, "SUPABASE_URL=" + refuser, "SUPABASE_SERVICE_ROLE_KEY=" + secrets["the service key"],
		"HELIX_HTTP_TOKEN=" + secrets["the token of HTTP"], "SUPABASE_JWT_SECRET=" + secrets["the project's JWT secret"]}
	for _, args := range [][]string{{"doctor", "--ask-providers"}, {"doctor", "--ask-providers", "--output", "json"}} {
		say("", address, all, 3, append(args, "--slot", slot)...)
	}
	say("", reach(secrets["a refused password"], ""), all, 3, "doctor", "--skip", "sandbox")
	say("", strings.Replace(address, `%27`, `'`, 1), all, 2, "init", "--no-check") // which cannot stand in .env
	all[slices.Index(all, "HELIX_HTTP_TOKEN="+secrets["the token of HTTP"])] = "HELIX_HTTP_TOKEN="
	say("", address, all, 0, "init", "--systemd", "--compose")
	say("", address, all, 0, "status", "--slot", slot, "--output", "json")
	p.stop(t)
	logs = append(logs, place{"the log after the restart", p.log.String()})

	for _, args := range [][]string{{"audit", "verify", "--heads"}, {"usage"}, {"secret", "list", "--user", user}, {"synthesize", "--help"}, {"version"},
		{"dlq", "list"}, {"dlq", "show", get[string](t, admin, "select min(id)::text from helix.dead_letters"), "--slot", slot},
		{"slot", "show", "--slot", slot}, {"pause"}, {"uninstall", "--dry-run", "--slot", slot}} {
		say("", address, nil, 0, args...)
	}
	places = append(append(places, logs...), dump(t, admin)...)
	secrets["the secret of logical messages"] = get[string](t, admin, "select secret::text from helix.instance")
	absent(t, secrets, places)
	// What jobs, dead letters and logs are about is named by key.
	for _, p := range places {
		if strings.Contains(p.name, "river_job") || strings.Contains(p.name, "dead_letters") || strings.HasPrefix(p.name, "/") {
			logs = append(logs, p)
		}
	}
	absent(t, values, logs)
}
