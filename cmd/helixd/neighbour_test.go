package main_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/helixd/helixd/testenv"
)

// TestNeighbours: what goes wrong with one entity must not stop another's.
func TestNeighbours(t *testing.T) {
	for name, c := range map[string]struct{ before, spoil string }{
		"UnreadableState":    {spoil: `update sync_entities set seen = '{"phone": "x"}' where entity_id = $1`},
		"DeferredConstraint": {before: `create table allowed (id uuid primary key); alter table sync_entities add foreign key (entity_id) references allowed (id) deferrable initially deferred not valid`},
		"AppsIndex":          {before: `create index on sync_entities ((data->>'text'))`},
		"AppsTrigger": {before: `create function no() returns trigger language plpgsql as $$ begin
			if new.data->>'text' like 'bad%' then raise exception 'no'; end if; return new; end $$;
			create trigger no before insert or update on sync_entities for each row execute function no()`},
		"IdentityFull": {before: `alter table sync_state replica identity full`, spoil: `update sync_entities set seen = '{"phone": "x"}' where entity_id = $1`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := testenv.New(t)
			admin := migrated(t, db)
			app := db.AsUser(t, db.NewUser(t).ID)
			if c.before != "" {
				exec1(t, admin, c.before)
			}
			bad, good := uuid.New(), uuid.New()
			if name == "DeferredConstraint" {
				exec1(t, admin, "insert into allowed values ($1)", good)
			}
			p := start(t, db.URL("postgres"), nil, "run", "--slot", db.SlotName("n"))
			if c.spoil != "" {
				write(t, app, bad, "phone", `{"phone": 1}`, "first")
				resolvedTo(t, admin, bad, "first")
				exec1(t, admin, c.spoil, bad)
			}
			tx, err := app.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, entity := range []uuid.UUID{bad, good} {
				if _, err := tx.Exec(t.Context(), `insert into sync_state (entity_type, entity_id, device_id, data, vector_clock)
					values ('note', $1, 'laptop', jsonb_build_object('text', case when $2 then 'bad' || (select string_agg(md5(n::text), '') from generate_series(1, 500) n)
						else 'good' end), '{"laptop": 1}')`, entity, entity == bad); err != nil {
					t.Fatal(err)
				}
			}
			if err := tx.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			resolvedTo(t, admin, good, "good")
			if n := get[int](t, admin, "select count(*) from helix.dead_letters where not key ? 'data'"); n != 1 {
				t.Errorf("%d dead letters without content, want 1", n)
			}
			p.stop(t)
		})
	}
}

// TestClientEncoding: text is UTF-8, whatever the role is set to.
func TestClientEncoding(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	app := db.AsUser(t, db.NewUser(t).ID)
	exec1(t, admin, "alter role postgres in database "+db.Name()+" set client_encoding = 'LATIN1'")
	before, after := uuid.New(), uuid.New()
	write(t, app, before, "phone", `{"phone": 1}`, "電 café")
	p := start(t, db.URL("postgres"), nil, "run", "--slot", db.SlotName("latin"))
	resolvedTo(t, admin, before, "電 café")
	write(t, app, after, "phone", `{"phone": 1}`, "café 電")
	resolvedTo(t, admin, after, "café 電")
	p.stop(t)
}
