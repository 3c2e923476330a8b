package migrations_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/testenv"
)

// ensurePolicies does what each start of helixd does.
func ensurePolicies(t *testing.T, db *testenv.Database) error {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), db.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	return reactors.EnsureBroadcastPolicies(t.Context(), pool)
}

// join sets the channel that a client joins, as the Realtime service does.
func join(t *testing.T, conn *pgx.Conn, topic string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), "select set_config('realtime.topic', $1, false)", topic); err != nil {
		t.Fatal(err)
	}
}

func TestBroadcastIsolation(t *testing.T) {
	const insert = `insert into realtime.messages (topic, extension, event, private) values ($1, 'broadcast', 'sync_entities', true)`
	for name, older := range map[string]bool{"AsMade": false, "WithAnOlderPermissivePolicy": true} {
		t.Run(name, func(t *testing.T) {
			db, admin := migrated(t)
			if older {
				db.Exec(t, "supabase_admin", "create policy everyone on realtime.messages for all to authenticated, anon using (true) with check (true)")
			}
			if err := ensurePolicies(t, db); err != nil {
				t.Fatal(err)
			}
			alice, bob := db.NewUser(t), db.NewUser(t)
			own, others, room := "helix:"+alice.ID, "helix:"+bob.ID, "room:1"
			for _, topic := range []string{own, others, room, "helix:", "helix:" + strings.ToUpper(alice.ID)} {
				if _, err := admin.Exec(t.Context(), "select realtime.send('{}', 'sync_entities', $1, true)", topic); err != nil {
					t.Fatal(err)
				}
			}
			roomRows := 0
			if older {
				roomRows = 1
			}
			user, anon := db.AsUser(t, alice.ID), db.AsAnon(t)
			for _, tt := range []struct {
				name  string
				conn  *pgx.Conn
				topic string
				want  int
			}{
				{"OwnTopic", user, own, 1},
				{"OthersTopic", user, others, 0},
				{"TopicPrefix", user, "helix:", 0},
				{"OwnTopicInUpperCase", user, "helix:" + strings.ToUpper(alice.ID), 0},
				{"OtherTopic", user, room, roomRows},
				{"AnonOwnTopic", anon, own, 0},
				{"AnonOtherTopic", anon, room, roomRows},
			} {
				t.Run("Receive/"+tt.name, func(t *testing.T) {
					join(t, tt.conn, tt.topic)
					if got := attempt(t, tt.conn, "select from realtime.messages where topic = $1", tt.topic); got != tt.want {
						t.Errorf("sees %d messages, want %d", got, tt.want)
					}
				})
				t.Run("ReceiveThroughAnotherChannel/"+tt.name, func(t *testing.T) {
					join(t, tt.conn, room)
					if tt.topic != room && tt.topic != own {
						if got := attempt(t, tt.conn, "select from realtime.messages where topic = $1", tt.topic); got != 0 {
							t.Errorf("sees %d messages of %s, want none", got, tt.topic)
						}
					}
				})
				want := refused
				if tt.topic == room && older {
					want = 1
				}
				t.Run("Send/"+tt.name, func(t *testing.T) {
					join(t, tt.conn, tt.topic)
					if got := attempt(t, tt.conn, insert, tt.topic); got != want {
						t.Errorf("%d messages, want %d; %d is a refusal", got, want, refused)
					}
				})
				t.Run("SendThroughAnotherChannel/"+tt.name, func(t *testing.T) {
					join(t, tt.conn, room)
					if got := attempt(t, tt.conn, insert, tt.topic); got != want {
						t.Errorf("%d messages, want %d; %d is a refusal", got, want, refused)
					}
				})
			}
			for _, who := range askers(t, db, alice.ID, bob.ID) {
				if who.column != "unsigned" && who.column != "odd" && who.column != "gone" {
					continue
				}
				for _, topic := range []string{own, others, "helix:"} {
					t.Run("Nobody/"+who.column+"/"+topic, func(t *testing.T) {
						join(t, who.conn, topic)
						codes := slices.Concat(refusals, who.also)
						if got, _ := tryAs(t, who.conn, codes, nil, "select from realtime.messages where topic = $1", topic); got > 0 {
							t.Errorf("sees %d messages", got)
						}
						if got, _ := tryAs(t, who.conn, codes, nil, insert, topic); got != refused {
							t.Errorf("sent %d messages", got)
						}
					})
				}
			}
			// realtime.send runs with its caller's rights, and swallows the refusal.
			t.Run("SendFunction", func(t *testing.T) {
				count := "select count(*) from realtime.messages where topic = '" + others + "'"
				before := get[int](t, admin, count)
				if _, err := user.Exec(t.Context(), "select realtime.send('{\"forged\": true}', 'sync_entities', $1, true)", others); err != nil {
					t.Fatal(err)
				}
				if got := get[int](t, admin, count); got != before {
					t.Errorf("%d messages were sent on another user's topic", got-before)
				}
			})
		})
	}
}

func TestEnsureBroadcastPolicies(t *testing.T) {
	const policies = `select string_agg(format('%s %s %s %s %s %s', policyname, permissive, roles, cmd, qual, with_check), E'\n' order by policyname)
		from pg_policies where tablename = 'messages'`
	db, conn := migrated(t)
	if err := ensurePolicies(t, db); err != nil {
		t.Fatal(err)
	}
	want := get[string](t, conn, policies)
	t.Run("AgainIsTheSame", func(t *testing.T) {
		if err := ensurePolicies(t, db); err != nil {
			t.Fatal(err)
		}
		same(t, want, get[string](t, conn, policies))
	})
	for _, name := range []string{"helix_receive", "helix_receive_own_only", "helix_no_sending"} {
		t.Run("RestoresDropped/"+name, func(t *testing.T) {
			db.Exec(t, "supabase_admin", "drop policy "+name+" on realtime.messages")
			if err := ensurePolicies(t, db); err != nil {
				t.Fatal(err)
			}
			same(t, want, get[string](t, conn, policies))
		})
	}
	t.Run("RefusalNamesTheSQL", func(t *testing.T) {
		db, conn := migrated(t)
		db.DenyRealtimePolicies(t)
		err := ensurePolicies(t, db)
		if err == nil || !strings.Contains(err.Error(), "create policy helix_receive on realtime.messages") {
			t.Fatalf("error %v", err)
		}
		if n := get[int](t, conn, "select count(*) from pg_policies where tablename = 'messages'"); n != 0 {
			t.Errorf("%d policies were made", n)
		}
		// What it says is what to run.
		_, sql, _ := strings.Cut(err.Error(), ":\n")
		db.Exec(t, "supabase_admin", sql)
		same(t, want, get[string](t, conn, policies))
		if err := ensurePolicies(t, db); err != nil {
			t.Errorf("after an administrator ran it: %v", err)
		}
	})
	t.Run("WithoutRealtimeNothing", func(t *testing.T) {
		db, _ := migrated(t)
		db.Exec(t, "supabase_admin", "drop table realtime.messages")
		if err := ensurePolicies(t, db); err != nil {
			t.Error(err)
		}
	})
}

// The result tables are in Supabase's publication, whole; and where helixd may
// not alter it, or it is not there, migrating goes on.
func TestSupabaseRealtimePublication(t *testing.T) {
	const published = `select coalesce(string_agg(tablename, ' ' order by tablename), '') from pg_publication_tables where pubname = 'supabase_realtime'`
	t.Run("HasTheResultTables", func(t *testing.T) {
		_, conn := migrated(t)
		var want []string
		for _, t := range migrations.Tables {
			if t.Realtime {
				want = append(want, t.Name)
			}
		}
		slices.Sort(want)
		if got := get[string](t, conn, published); got != strings.Join(want, " ") || len(want) == 0 {
			t.Errorf("published: %s, want %s", got, want)
		}
		if n := get[int](t, conn, "select count(*) from pg_publication_rel where prattrs is not null"); n != 0 {
			t.Errorf("%d column lists", n)
		}
	})
	for name, sql := range map[string]string{
		"OwnedByAnother": "alter publication supabase_realtime owner to supabase_admin",
		"Missing":        "drop publication supabase_realtime",
		"ForAllTables":   "drop publication supabase_realtime; create publication supabase_realtime for all tables",
	} {
		t.Run(name, func(t *testing.T) {
			db := testenv.New(t)
			db.Exec(t, "supabase_admin", sql)
			conn := db.Connect(t, "postgres")
			up(t, conn)
			up(t, conn)
			if left := pending(t, conn); len(left) != 0 {
				t.Errorf("pending %v", left)
			}
		})
	}
}
