package storage_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors/voice/storage"
)

// policies are those of Supabase's own guides.
const (
	ownFolder  = "bucket_id = 'recordings' and (storage.foldername(name))[1] = (select auth.uid()::text)"
	publicOne  = "bucket_id = 'public'"
	ownerOnly  = "bucket_id = 'owned' and owner_id = (select auth.uid()::text)"
	adminsOnly = "bucket_id = 'staff' and (select auth.jwt() -> 'app_metadata' ->> 'role') = 'admin'"
)

func TestWhoMayRead(t *testing.T) {
	p := newProject(t)
	p.policy(t, "own_folder", ownFolder)
	p.policy(t, "public_one", publicOne)
	p.policy(t, "owner_only", ownerOnly)
	p.policy(t, "admins_only", adminsOnly)
	p.policy(t, "second_factor", "bucket_id = 'secret' and (select auth.jwt() ->> 'aal') = 'aal2'")
	p.policy(t, "known_people", "bucket_id = 'known' and (select (auth.jwt() ->> 'is_anonymous')::boolean) is false")
	p.policy(t, "downloads", "bucket_id = 'downloads' and current_setting('storage.operation', true) = 'storage.object.get_authenticated'")
	alice, bob, admin, guest := p.user(t), p.user(t), p.user(t), p.user(t)
	p.db.Exec(t, "supabase_admin", `update auth.users set raw_app_meta_data = '{"role": "admin"}' where id = $1`, admin)
	p.db.Exec(t, "supabase_admin", `update auth.users set raw_user_meta_data = '{"role": "admin"}', is_anonymous = true, email = null, aud = '', role = null, raw_app_meta_data = null where id = $1`, guest)
	for path, owner := range map[string]string{"recordings/" + alice + "/memo.webm": "", "public/x": "", "owned/x": alice, "staff/x": "", "secret/x": alice, "known/x": "", "downloads/x": "",
		"unmentioned/x": alice, "recordings/" + guest + "/what? (1)+&=.webm": ""} {
		bucket, name, err := storage.ParsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		p.put(t, bucket, name, owner, "content of "+path)
	}
	for _, c := range []struct {
		name, user, path string
		may              bool
	}{
		{"the own folder", alice, "recordings/" + alice + "/memo.webm", true},
		{"another's folder", bob, "recordings/" + alice + "/memo.webm", false},
		{"a folder of an own name with signs", guest, "recordings/" + guest + "/what? (1)+&=.webm", true},
		{"a public bucket", bob, "public/x", true},
		{"an own object", alice, "owned/x", true},
		{"another's object", bob, "owned/x", false},
		{"what a claim of the app allows", admin, "staff/x", true},
		{"what the same claim of the user's own does not", guest, "staff/x", false},
		{"what takes a second factor", alice, "secret/x", false},
		{"what an account that is known may", alice, "known/x", true},
		{"what an anonymous one may not", guest, "known/x", false},
		{"what may be downloaded", alice, "downloads/x", true},
		{"what no policy mentions", alice, "unmentioned/x", false},
		{"nothing", alice, "recordings/" + alice + "/other.webm", false},
		{"nothing in no bucket", alice, "none/x", false},
		{"another case", alice, "Recordings/" + alice + "/memo.webm", false},
		{"a pattern", alice, "recordings/" + alice + "/*", false},
		{"as nobody", uuid.NewString(), "public/x", false},
		{"as no user", "' or true --", "public/x", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := p.server.Requests()
			got, err := read(t.Context(), p.client, c.user, c.path)
			if c.may {
				if err != nil || got != "content of "+c.path {
					t.Errorf("%q, %v", got, err)
				}
				return
			}
			is(t, err, storage.Forbidden, false)
			if _, _, err := p.client.SignedURL(t.Context(), c.user, c.path, time.Minute); err == nil {
				t.Error("its URL is given")
			}
			if p.server.Requests() != before {
				t.Error("the key was used")
			}
		})
	}
	t.Run("is not told from what is not there", func(t *testing.T) {
		_, hidden := read(t.Context(), p.client, bob, "owned/x")
		_, missing := read(t.Context(), p.client, bob, "owned/y")
		if hidden == nil || missing == nil || hidden.Error() != missing.Error() {
			t.Errorf("%v, %v", hidden, missing)
		}
	})
}

func TestAccounts(t *testing.T) {
	p := newProject(t)
	p.policy(t, "public_one", publicOne)
	p.put(t, "public", "x", "", "content")
	for change, may := range map[string]bool{
		"banned_until = now() + interval '1 hour'": false,
		"banned_until = 'infinity'":                false,
		"banned_until = now() - interval '1 hour'": true,
		"deleted_at = now()":                       false,
		"email = null, phone = '4915550100'":       true,
		"raw_user_meta_data = null":                true,
	} {
		t.Run(change, func(t *testing.T) {
			user := p.user(t)
			p.db.Exec(t, "supabase_admin", "update auth.users set "+change+" where id = '"+user+"'")
			got, err := read(t.Context(), p.client, user, "public/x")
			if may && (err != nil || got != "content") {
				t.Errorf("%q, %v", got, err)
			}
			if !may {
				is(t, err, storage.Forbidden, false)
			}
		})
	}
}

// TestRequest: what a policy sees is what it sees of a user's own request.
func TestRequest(t *testing.T) {
	p := newProject(t)
	user := p.user(t)
	p.db.Exec(t, "supabase_admin", `update auth.users set phone = '4915550100', raw_app_meta_data = '{"provider": "email", "role": "editor"}', raw_user_meta_data = '{"name": "O''Brien \"x\""}' where id = $1`, user)
	p.db.Exec(t, "postgres", `
		create function public.seen() returns boolean language plpgsql as $$
		begin
			raise exception 'a policy tells' using errcode = '57014', detail = jsonb_build_object('user', current_user, 'uid', auth.uid(), 'role', auth.role(), 'email', auth.email(), 'jwt', auth.jwt(),
				'sub', current_setting('request.jwt.claim.sub'), 'claim', current_setting('request.jwt.claim.role'), 'readonly', current_setting('transaction_read_only'),
				'path', current_setting('search_path'), 'timeout', current_setting('statement_timeout'), 'users', has_table_privilege('auth.users', 'select'))::text;
		end $$`)
	p.policy(t, "seen", "public.seen()")
	p.put(t, "b", "x", "", "content")
	tell := &teller{}
	cfg := p.pool.Config()
	cfg.ConnConfig.Tracer = tell
	pool := openPool(t, cfg)
	client := storage.New(pool, storage.Options{URL: p.server.URL, Key: "k"})
	_, err := client.Open(t.Context(), user, "b/x", most)
	is(t, err, storage.Unavailable, true)
	var got map[string]any
	if err := json.Unmarshal([]byte(tell.detail()), &got); err != nil {
		t.Fatalf("%v in %q", err, tell.detail())
	}
	want := `{"user": "authenticated", "uid": "` + user + `", "role": "authenticated", "email": "` + user + `@example.com", "sub": "` + user + `", "claim": "authenticated", "readonly": "on",
		"path": "storage, public, extensions", "timeout": "5s", "users": false,
		"jwt": {"sub": "` + user + `", "aud": "authenticated", "role": "authenticated", "email": "` + user + `@example.com", "phone": "4915550100", "aal": "aal1", "is_anonymous": false,
			"app_metadata": {"provider": "email", "role": "editor"}, "user_metadata": {"name": "O'Brien \"x\""}}}`
	var wanted map[string]any
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, wanted) {
		t.Errorf("a policy sees\n%s", tell.detail())
	}
}

// TestPolicies: they are an app's code, and can do anything.
func TestPolicies(t *testing.T) {
	for name, c := range map[string]struct {
		setup string
		code  storage.Code
		retry bool
	}{
		"that raise show nothing":             {"create function public.p(text) returns boolean language plpgsql as $$ begin raise exception 'row % is hers', $1; end $$", storage.Forbidden, false},
		"that divide by zero as well":         {"create function public.p(text) returns boolean language sql volatile as $$ select 1 / (random() * 0)::int = 1 $$", storage.Forbidden, false},
		"that write as well":                  {"create table public.seen (name text); grant insert on public.seen to authenticated; create function public.p(text) returns boolean language sql volatile as $$ insert into public.seen values ($1) returning true $$", storage.Forbidden, false},
		"that may not read as well":           {"create table public.hidden (); revoke all on public.hidden from authenticated; create function public.p(text) returns boolean language sql volatile as $$ select exists (select from public.hidden) $$", storage.Forbidden, false},
		"that ask again as well":              {"create function public.p(text) returns boolean language sql stable as $$ select exists (select from storage.objects where name = $1) $$", storage.Forbidden, false},
		"that call themselves as well":        {"create function public.p(text) returns boolean language plpgsql as $$ begin return public.p($1); end $$", storage.Forbidden, false},
		"that take long are asked again":      {"create function public.p(text) returns boolean language sql volatile as $$ select pg_sleep(60) is null $$", storage.Unavailable, true},
		"that are locked out are asked again": {"create function public.p(text) returns boolean language plpgsql as $$ begin raise lock_not_available; end $$", storage.Unavailable, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			p.db.Exec(t, "postgres", c.setup)
			p.policy(t, "p", "public.p(name)")
			p.put(t, "b", "x", "", "content")
			if c.retry {
				p.client.SetPatience(2*time.Second, time.Minute)
			}
			_, err := read(t.Context(), p.client, p.user(t), "b/x")
			is(t, err, c.code, c.retry)
			_, missing := read(t.Context(), p.client, p.user(t), "b/y")
			is(t, missing, storage.Forbidden, false)
			if c.code == storage.Forbidden && err.Error() != missing.Error() {
				t.Errorf("%v is told from %v", err, missing)
			}
			if p.server.Requests() != 0 {
				t.Error("the key was used")
			}
			clean(t, p)
		})
	}
	t.Run("that ask themselves show nothing", func(t *testing.T) {
		p := newProject(t)
		p.policy(t, "p", "exists (select from storage.objects as o where o.name = objects.name)")
		p.put(t, "b", "x", "", "content")
		_, err := read(t.Context(), p.client, p.user(t), "b/x")
		is(t, err, storage.Forbidden, false)
	})
	t.Run("that cannot be asked are waited for", func(t *testing.T) {
		p := newProject(t)
		cfg := p.pool.Config()
		cfg.ConnConfig.User = "supabase_storage_admin" // may not read auth.users
		c := storage.New(openPool(t, cfg), storage.Options{URL: p.server.URL, Key: p.server.ServiceRoleKey})
		_, err := read(t.Context(), c, p.user(t), "b/x")
		is(t, err, storage.Unavailable, true)
	})
}

// TestSession: a connection goes back as it came, whatever policies did to it.
func TestSession(t *testing.T) {
	p := newProject(t)
	p.db.Exec(t, "postgres", `create function public.p() returns boolean language plpgsql as $$
		begin
			perform set_config('search_path', 'evil', false), set_config('statement_timeout', '1', false), set_config('role', 'anon', false), set_config('request.jwt.claims', '{"sub": "x"}', false);
			return true;
		end $$`)
	p.policy(t, "p", "bucket_id = 'b' and public.p()")
	p.put(t, "b", "x", "", "content")
	alice, bob := p.user(t), p.user(t)
	p.policy(t, "own_folder", ownFolder)
	p.put(t, "recordings", alice+"/x", "", "hers")
	for range 3 { // the second time, the statement is prepared
		if got, err := read(t.Context(), p.client, alice, "b/x"); err != nil || got != "content" {
			t.Errorf("%q, %v", got, err)
		}
		clean(t, p)
		if got, err := read(t.Context(), p.client, alice, "recordings/"+alice+"/x"); err != nil || got != "hers" {
			t.Errorf("%q, %v", got, err)
		}
		_, err := read(t.Context(), p.client, bob, "recordings/"+alice+"/x")
		is(t, err, storage.Forbidden, false)
		clean(t, p)
	}
	t.Run("when the caller goes", func(t *testing.T) {
		p.db.Exec(t, "postgres", "create function public.slow() returns boolean language sql volatile as 'select pg_sleep(60) is null'")
		p.policy(t, "slow", "bucket_id = 'slow' and public.slow()")
		p.put(t, "slow", "x", "", "content")
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if _, err := read(ctx, p.client, alice, "slow/x"); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		clean(t, p)
	})
}

// clean fails the test where the pool's one connection is not as it was opened.
func clean(t testing.TB, p *project) {
	t.Helper()
	conn, err := p.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	if status := conn.Conn().PgConn().TxStatus(); status != 'I' {
		t.Errorf("the connection is in a transaction: %c", status)
	}
	var state string
	err = conn.QueryRow(t.Context(), `select concat_ws(' ', current_user, current_setting('role'), current_setting('search_path'), current_setting('statement_timeout'), current_setting('transaction_read_only'),
		nullif(current_setting('request.jwt.claims', true), ''), nullif(current_setting('request.jwt.claim.sub', true), ''), nullif(current_setting('request.jwt.claim.role', true), ''),
		nullif(current_setting('storage.operation', true), ''))`).Scan(&state)
	if want := `postgres none "$user", public, extensions 2min off`; err != nil || state != want {
		t.Errorf("the connection is %s, not %s, %v", state, want, err)
	}
}

// teller keeps what the database's last error told.
type teller struct {
	mu   sync.Mutex
	told string
}

func (*teller) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

func (l *teller) TraceQueryEnd(_ context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	if detail := detailOf(data.Err); detail != "" {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.told = detail
	}
}

func (l *teller) detail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.told
}

// between does something between the check and the request.
type between func()

func (b between) RoundTrip(r *http.Request) (*http.Response, error) {
	b()
	return http.DefaultTransport.RoundTrip(r)
}

func TestInBetween(t *testing.T) {
	p := newProject(t)
	p.policy(t, "public_one", publicOne)
	user := p.user(t)
	for name, change := range map[string]func() error{
		"an object that is deleted is forbidden": func() error { return p.server.Remove(t.Context(), "public", "x") },
		"an object that is renamed is forbidden": func() error { return p.server.Move(t.Context(), "public", "x", "y") },
	} {
		t.Run(name, func(t *testing.T) {
			p.put(t, "public", "x", "", "content")
			c := p.new(t, p.server.ServiceRoleKey, &http.Client{Transport: between(func() {
				if err := change(); err != nil {
					t.Error(err)
				}
			})})
			before := p.server.Requests()
			_, err := read(t.Context(), c, user, "public/x")
			is(t, err, storage.Forbidden, false)
			if p.server.Requests() != before+1 {
				t.Error("Storage was not asked")
			}
			p.db.Exec(t, "supabase_storage_admin", "set storage.allow_delete_query = 'true'; delete from storage.objects")
			p.put(t, "public", "x", "", "content")
			_, _, err = c.SignedURL(t.Context(), user, "public/x", time.Minute)
			is(t, err, storage.Forbidden, false)
		})
	}
}
