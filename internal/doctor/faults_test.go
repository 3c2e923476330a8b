package doctor_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/internal/doctor"
	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/replication/stream"
	"github.com/helixd/helixd/testenv"
)

const (
	makeSlot   = "select pg_create_logical_replication_slot('" + slot + "', 'pgoutput')"
	dropSlot   = "select pg_drop_replication_slot('" + slot + "') from pg_replication_slots where slot_name = '" + slot + "'"
	reload     = "select pg_reload_conf()"
	cap4GB     = "alter system set max_slot_wal_keep_size = '4GB'; " + reload
	checkpoint = "insert into helix.checkpoints (slot, system_identifier, lsn, epoch) values ('" + slot + "', '1', '%s', 1)"
	forget     = "delete from helix.checkpoints"
	write45MB  = "select pg_logical_emit_message(false, 'x', repeat('x', 1000000)) from generate_series(1, 45)"
	loseSlots  = "alter system set max_slot_wal_keep_size = '1MB'; " + reload + "; " + write45MB + "; select pg_switch_wal(); checkpoint"
	noSend     = "alter function realtime.send(jsonb, text, text, boolean) rename to sent"
	send       = "alter function realtime.sent(jsonb, text, text, boolean) rename to send"
)

func faults(t *testing.T) []fault {
	closed := "127.0.0.1:1"
	host := func(hosts map[string]netip.Addr) func(*testing.T, *patient, *doctor.Config) *pgx.Conn {
		return func(t *testing.T, _ *patient, c *doctor.Config) *pgx.Conn {
			through(t, c, "db.helix.supabase.co:5432", "")
			c.Resolver, c.Timeout = dnsServer(t, hosts), 2*time.Second
			c.Reaches = func(netip.Addr) bool { return false }
			return nil
		}
	}
	secret := with(func(p *patient, c *doctor.Config) { c.JWTSecret = p.gateway.Secret })
	layer := func(l sandbox.Layer) func(*testing.T, *patient, *doctor.Config) *pgx.Conn {
		return with(func(_ *patient, c *doctor.Config) {
			c.Sandbox = func(context.Context) ([]sandbox.Layer, error) { return []sandbox.Layer{l}, nil }
		})
	}
	ask := func(value, path string) func(*testing.T, *patient, *doctor.Config) *pgx.Conn {
		return with(func(p *patient, c *doctor.Config) {
			c.Ask = true
			c.Keys = []doctor.Key{{Name: "some", Setting: "SOME_KEY", Value: value, Ask: path, Header: "apikey: ", Without: "rows wait"}}
			if strings.HasPrefix(path, "/") {
				c.Keys[0].Ask = p.gateway.URL + path
			}
		})
	}
	fresh := func(sql string) func(*testing.T, *patient, *doctor.Config) *pgx.Conn {
		return func(t *testing.T, p *patient, c *doctor.Config) *pgx.Conn {
			db := testenv.NewOn(t, p.db.Cluster())
			admin := db.Connect(t, "supabase_admin")
			runOn(t, admin, strings.ReplaceAll(sql, "%db", db.Name()))
			c.DatabaseURL = db.URL("postgres")
			return admin
		}
	}
	token := func(claims map[string]any) func(*testing.T, *patient, *doctor.Config) *pgx.Conn {
		return with(func(p *patient, c *doctor.Config) { c.ServiceKey = p.gateway.Token(claims) })
	}
	service := func(address string) func(*testing.T, *patient, *doctor.Config) *pgx.Conn {
		return with(func(_ *patient, c *doctor.Config) { c.SupabaseURL = address })
	}
	foreign := with(func(_ *patient, c *doctor.Config) {
		c.ServiceKey = "eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoic2VydmljZV9yb2xlIn0.canary"
	})
	unset := with(func(_ *patient, c *doctor.Config) { c.ServiceKey = "" })
	publication := func(t *testing.T, p *patient) {
		if _, err := stream.EnsurePublication(t.Context(), p.conn, "helix", watched, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	return []fault{
		{check: "connection", kind: "url", by: with(func(_ *patient, c *doctor.Config) {
			c.Unusable = &stream.SetupError{Problem: "SUPABASE_DB_URL is not set", Hint: "Put it into .env."}
		})},
		{check: "connection", kind: "url", by: with(func(_ *patient, c *doctor.Config) { c.DatabaseURL = "postgres://u:canary@h:port/d" })},
		{check: "connection", kind: "pooler", by: func(t *testing.T, _ *patient, c *doctor.Config) *pgx.Conn {
			through(t, c, "127.0.0.1:6543", "")
			return nil
		}},
		{check: "connection", kind: "ipv6-only", by: host(map[string]netip.Addr{"db.helix.supabase.co.": netip.MustParseAddr("2001:db8::1")})},
		{check: "connection", kind: "unknown-host", by: host(nil)},
		{check: "connection", kind: "certificate", by: func(t *testing.T, _ *patient, c *doctor.Config) *pgx.Conn {
			through(t, c, "", "sslmode=require")
			return nil
		}, says: "does not speak TLS"},
		{check: "connection", kind: "refused", by: func(t *testing.T, _ *patient, c *doctor.Config) *pgx.Conn {
			u, _ := url.Parse(c.DatabaseURL)
			u.User = url.UserPassword("postgres", "canary-wrong")
			c.DatabaseURL = u.String()
			return nil
		}, says: "refuses the password"},
		{check: "connection", kind: "unreachable", by: func(t *testing.T, _ *patient, c *doctor.Config) *pgx.Conn {
			through(t, c, closed, "")
			return nil
		}, says: "cannot be reached"},
		{check: "connection", kind: "unreachable", by: func(t *testing.T, _ *patient, c *doctor.Config) *pgx.Conn {
			l, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and says nothing
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
			through(t, c, l.Addr().String(), "")
			c.Timeout = 300 * time.Millisecond
			return nil
		}, says: "does not answer"},
		{check: "tls", kind: "plain-text", by: func(t *testing.T, p *patient, c *doctor.Config) *pgx.Conn {
			through(t, c, relay(t, net.JoinHostPort(outside(t), "0"), p.address(), "", false), "")
			return nil
		}},
		{check: "tls", kind: "unverified", by: func(t *testing.T, p *patient, c *doctor.Config) *pgx.Conn {
			p.encrypt(t)
			through(t, c, relay(t, net.JoinHostPort(outside(t), "0"), p.address(), "", false), "sslmode=require")
			return nil
		}},
		{check: "connection", kind: "certificate", by: func(t *testing.T, p *patient, c *doctor.Config) *pgx.Conn {
			p.encrypt(t)
			through(t, c, "", "sslmode=verify-full")
			return nil
		}, says: "is not one that SUPABASE_DB_URL trusts"},
		{check: "replication", kind: "no-attribute", sql: "alter role postgres noreplication"},
		{check: "replication", kind: "refused", by: func(t *testing.T, p *patient, c *doctor.Config) *pgx.Conn {
			through(t, c, relay(t, "127.0.0.1:0", p.address(), "", true), "")
			return nil
		}},
		{check: "version", kind: "old", by: func(t *testing.T, p *patient, c *doctor.Config) *pgx.Conn {
			through(t, c, relay(t, "127.0.0.1:0", p.address(), "14.19", false), "")
			return nil
		}},
		{check: "sender-timeout", kind: "long", sql: "alter system set wal_sender_timeout = 0; " + reload},
		{check: "clock", kind: "skewed", by: with(func(_ *patient, c *doctor.Config) {
			c.Now = func() time.Time { return time.Now().Add(-time.Hour) }
		}), says: "behind"},
		{check: "transactions", kind: "open", by: func(t *testing.T, p *patient, c *doctor.Config) *pgx.Conn {
			other := p.db.Connect(t, "postgres")
			runOn(t, other, "begin; select pg_current_xact_id()")
			c.Long = time.Millisecond
			return nil
		}},
		{check: "transactions", kind: "prepared", by: func(t *testing.T, p *patient, c *doctor.Config) *pgx.Conn {
			runOn(t, p.conn, "begin; create table half_done (); prepare transaction 'half''s'")
			c.Long = time.Millisecond
			return nil
		}},
		{check: "connections", kind: "too-few", by: with(func(_ *patient, c *doctor.Config) { c.Connections = 500 }), restart: true},
		{check: "extensions", kind: "vector-missing", by: fresh("drop extension vector")},
		{check: "extensions", kind: "vector-not-installed", by: fresh("drop extension vector; create view public.pg_available_extensions as " +
			"select name, default_version from pg_catalog.pg_available_extensions where name <> 'vector'; alter role postgres in database %db set search_path = public, pg_catalog")},
		{check: "extensions", kind: "vector-old", sql: "update pg_extension set extversion = '0.4.4' where extname = 'vector'",
			undo: "update pg_extension set extversion = '0.8.0' where extname = 'vector'"},
		{check: "extensions", kind: "vector-without-iterative-scans", sql: "update pg_extension set extversion = '0.7.4' where extname = 'vector'",
			undo: "update pg_extension set extversion = '0.8.0' where extname = 'vector'"},

		{check: "wal-cap", kind: "none", sql: "alter system reset max_slot_wal_keep_size; " + reload},
		{check: "wal-cap", kind: "small", sql: "alter system set max_slot_wal_keep_size = '100MB'; " + reload},
		{check: "wal-cap", kind: "half-used", sql: "alter system set max_slot_wal_keep_size = '64MB'; " + reload + ";" + makeSlot + ";" + write45MB,
			also: "small", cleanup: dropSlot + ";" + cap4GB},
		{check: "slot", kind: "not-made", undo: makeSlot, cleanup: dropSlot},
		{check: "slot", kind: "gone", sql: fmt.Sprintf(checkpoint, "0/1"), undo: forget},
		{check: "slot", kind: "foreign", sql: "select pg_create_physical_replication_slot('" + slot + "')", undo: dropSlot},
		{check: "slot", kind: "lost", sql: makeSlot + ";" + loseSlots, undo: dropSlot, cleanup: cap4GB},
		{check: "slot", kind: "ahead", sql: makeSlot + ";" + fmt.Sprintf(checkpoint, "0/1"), undo: "update helix.checkpoints set lsn = 'FFFFFFFF/0'", cleanup: forget + ";" + dropSlot},
		{check: "slot", kind: "idle", sql: makeSlot},
		{check: "slot", kind: "taken", sql: makeSlot, by: func(t *testing.T, p *patient, _ *doctor.Config) *pgx.Conn {
			p.read(t)
			return nil
		}, cleanup: dropSlot},
		{check: "decoding", kind: "spills", sql: makeSlot + "; select pg_logical_emit_message(true, 'x', repeat('x', 1000)) from generate_series(1, 1000); set logical_decoding_work_mem = '64kB';" +
			"select count(*) from pg_logical_slot_get_binary_changes('" + slot + "', null, null, 'proto_version', '1', 'publication_names', 'helix')",
			cleanup: dropSlot + "; reset logical_decoding_work_mem; alter role postgres reset logical_decoding_work_mem"},
		{check: "other-slots", kind: "idle", sql: "select pg_create_physical_replication_slot('standby', true)", says: "-"},
		{check: "other-slots", kind: "idle", sql: "select pg_create_physical_replication_slot('standby', true); " + loseSlots, cleanup: cap4GB},

		{check: "migrations", kind: "pending", sql: "delete from helix.migrations where name = 'helix_triggers'", mend: func(t *testing.T, p *patient) { p.migrate(t) }},
		{check: "migrations", kind: "newer", sql: "insert into helix.migrations (version, name) values ('99990101000000', 'from_the_future')",
			undo: "delete from helix.migrations where name = 'from_the_future'"},
		{check: "owners", kind: "another-role", sql: "alter table public.memories owner to supabase_admin"},
		{check: "foreign-keys", kind: "missing", sql: "alter table public.sync_entities drop constraint sync_entities_user_id_fkey"},
		{check: "foreign-keys", kind: "not-valid"},
		{check: "replica-identity", kind: "nothing", sql: "alter table public.memories replica identity nothing"},
		{check: "replica-identity", kind: "full", sql: "alter table public.memories replica identity full"},
		{check: "publication", kind: "not-made", sql: "drop publication helix", mend: publication},
		{check: "publication", kind: "drift", sql: "alter publication helix drop table public.memories", mend: publication},
		{check: "publication", kind: "refuses-updates", sql: "alter table public.memories replica identity full"},
		{check: "publication", kind: "table-missing", sql: "alter table public.sync_state rename to sync_state_old", undo: "alter table public.sync_state_old rename to sync_state"},

		{check: "rls", kind: "off", sql: "alter table public.memories disable row level security"},
		{check: "rls", kind: "policy", sql: "drop policy helix_isolation on public.skills"},
		{check: "rls", kind: "policy", sql: "alter policy helix_own_select on public.memories using (true)"},
		{check: "grants", kind: "too-many", sql: "grant truncate on public.memories to authenticated", says: "authenticated may truncate"},
		{check: "grants", kind: "too-many", sql: "grant select on helix.instance to anon", says: "anon may select"},
		{check: "grants", kind: "too-many", sql: "grant all on public.helix_status to anon", says: "anon may everything"},
		{check: "grants", kind: "too-many", sql: "grant usage on schema helix to authenticated", says: "schema helix"},
		{check: "grants", kind: "too-many", sql: "grant execute on function helix.write_inbox to public", says: "PUBLIC may"},
		{check: "grants", kind: "too-many", sql: "grant update (status) on public.skills to anon", says: "column"},
		{check: "grants", kind: "too-few", sql: "revoke insert on public.memories from authenticated", says: "authenticated insert lacks"},
		{check: "grants", kind: "too-few", sql: "revoke execute on function public.match_memories from authenticated"},
		{check: "guards", kind: "missing", sql: "drop trigger a_helix_guard on public.memories", mend: func(t *testing.T, p *patient) { p.migrate(t) }},
		{check: "guards", kind: "disabled", sql: "alter table public.skills disable trigger a_helix_guard"},
		{check: "default-privileges", kind: "open", sql: "alter default privileges for role postgres in schema helix grant select on tables to anon"},
		{check: "default-privileges", kind: "open", sql: "alter default privileges for role postgres grant all on sequences to authenticated", says: "every schema"},

		{check: "realtime-publication", kind: "missing", sql: "drop publication supabase_realtime"},
		{check: "realtime-publication", kind: "not-member", sql: "alter publication supabase_realtime drop table public.skills"},
		{check: "realtime-publication", kind: "column-list", sql: "alter publication supabase_realtime drop table public.skills; alter publication supabase_realtime add table public.skills (id, user_id)"},
		{check: "realtime-policies", kind: "missing", sql: "drop policy helix_no_sending on realtime.messages"},
		{check: "realtime-policies", kind: "no-realtime", sql: noSend, undo: send},
		{check: "supabase", kind: "not-set", by: unset},
		{check: "supabase", kind: "not-service-role", by: token(map[string]any{"role": "anon"})},
		{check: "supabase", kind: "not-service-role", by: with(func(_ *patient, c *doctor.Config) { c.ServiceKey = "sb_publishable_canary" })},
		{check: "supabase", kind: "expired", by: token(map[string]any{"role": "service_role", "exp": 1})},
		{check: "supabase", kind: "another-project", by: with(func(p *patient, c *doctor.Config) {
			c.ServiceKey, c.SupabaseURL = p.gateway.Token(map[string]any{"role": "service_role", "ref": "aaaa"}), "https://bbbb.supabase.co"
		})},
		{check: "supabase", kind: "in-the-clear", by: with(func(_ *patient, c *doctor.Config) { c.SupabaseURL = "http://api.example.test" })},
		{check: "supabase", kind: "rejected", by: foreign},
		{check: "supabase", kind: "unreachable", by: service("http://" + closed)},
		{check: "storage", kind: "not-set", by: unset},
		{check: "storage", kind: "rejected", by: foreign},
		{check: "storage", kind: "unreachable", by: service("http://" + closed)},
		{check: "realtime", kind: "not-set", by: unset},
		{check: "realtime", kind: "no-realtime", sql: noSend, undo: send},
		{check: "realtime", kind: "unreachable", by: service("http://" + closed)},
		{check: "realtime", kind: "unreachable", by: with(func(p *patient, c *doctor.Config) {
			p.gateway.Deaf.Store(true)
			c.Timeout = 5 * time.Second // of which a busy machine takes some until it joins
		}), mend: func(_ *testing.T, p *patient) { p.gateway.Deaf.Store(false) }, says: "does not answer a join"},
		{check: "realtime", kind: "rejected", by: foreign},
		{check: "realtime", kind: "join-refused", by: token(map[string]any{"role": "anon"}), says: "do not have permissions"},
		{check: "realtime", kind: "not-sent", sql: "alter table realtime.messages owner to supabase_admin; revoke insert on realtime.messages from postgres, anon, authenticated, service_role, supabase_realtime_admin",
			cleanup: "alter table realtime.messages owner to supabase_realtime_admin; grant insert on realtime.messages to anon, authenticated, service_role"},
		{check: "realtime", kind: "not-seen", by: with(func(p *patient, c *doctor.Config) {
			p.gateway.Mute.Store(true)
			c.Timeout = 5 * time.Second
		}), mend: func(_ *testing.T, p *patient) { p.gateway.Mute.Store(false) }},
		{check: "realtime", kind: "own-topic-refused", sql: "drop policy helix_receive on realtime.messages", by: secret},
		{check: "realtime", kind: "others-topic-open", sql: "drop policy helix_receive_own_only on realtime.messages; create policy everyone on realtime.messages for select to authenticated using (true)",
			by: secret, cleanup: "drop policy everyone on realtime.messages"},
		{check: "realtime", kind: "jwt-secret-rejected", by: with(func(_ *patient, c *doctor.Config) { c.JWTSecret = "canary-another" })},

		{check: "leader", kind: "none", undo: "insert into helix.leaders (slot, epoch, holder) values ('" + slot + "', 1, 'helixd here')", cleanup: "delete from helix.leaders"},
		{check: "leader", kind: "silent", sql: "insert into helix.leaders (slot, epoch, holder, heartbeat_at) values ('" + slot + "', 1, 'helixd here', now() - interval '1 minute')",
			undo: "update helix.leaders set heartbeat_at = now()", cleanup: "delete from helix.leaders"},
		{check: "dead-letters", kind: "present", sql: "insert into helix.dead_letters (slot, reactor, table_name, op, key, lsn, ordinal, error, committed_at) values ('" + slot +
			"', 'sync', 'sync_state', 'INSERT', '{}', '0/1', 0, 'x', now())", undo: "delete from helix.dead_letters", says: "1 of sync_state by sync"},
		{check: "jobs", kind: "waiting", sql: "insert into helix.river_job (kind, args, max_attempts, queue, scheduled_at) values ('x', '{}', 5, 'voice', now() - interval '1 hour')",
			undo: "delete from helix.river_job"},
		{check: "jobs", kind: "waiting", sql: "insert into helix.river_queue (name, paused_at, updated_at) values ('voice', now(), now()); " +
			"insert into helix.river_job (kind, args, max_attempts, queue, scheduled_at) values ('x', '{}', 5, 'voice', now() - interval '1 hour')",
			undo: "delete from helix.river_job", cleanup: "delete from helix.river_queue", says: "it is paused"},
		{check: "jobs", kind: "discarded", sql: "insert into helix.river_job (kind, args, max_attempts, queue, state, finalized_at) values ('x', '{}', 5, 'voice', 'discarded', now())",
			cleanup: "delete from helix.river_job"},

		{check: "keys", kind: "missing", by: ask("", "")},
		{check: "keys", kind: "malformed", by: ask("<your key>", "")},
		{check: "keys", kind: "malformed", by: with(func(_ *patient, c *doctor.Config) {
			c.Keys = []doctor.Key{{Name: "some", Setting: "SOME_KEY", Value: "canary", Prefix: "sk-"}}
		}), says: "does not begin with"},
		{check: "keys", kind: "rejected", by: ask("canary", "/rest/v1/")},
		{check: "keys", kind: "unreachable", by: ask("canary", "http://"+closed+"/v1/models")},
		{check: "sandbox", kind: "required-missing", by: layer(sandbox.Layer{Name: "seccomp", Required: true, Detail: "socket is not refused"})},
		{check: "sandbox", kind: "optional-missing", by: layer(sandbox.Layer{Name: "landlock", Detail: "the kernel has none"})},
		{check: "sandbox", kind: "no-child", by: with(func(_ *patient, c *doctor.Config) {
			c.Sandbox = func(context.Context) ([]sandbox.Layer, error) { return nil, context.DeadlineExceeded }
		})},
		{check: "sandbox", kind: "unsafe", by: with(func(_ *patient, c *doctor.Config) { c.Unsafe = true })},
	}
}
