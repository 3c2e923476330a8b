package skills_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/skills"
	"github.com/helixd/helixd/reactors/skills/host/audit"
	"github.com/helixd/helixd/replication"
)

// ready waits for a skill's check and gives its sha256.
func (b *bench) ready(t testing.TB, skill uuid.UUID) string {
	t.Helper()
	b.until(t, "the check", "select status <> 'pending' from skills where id = $1", skill)
	if fault := get[string](t, b.Admin, "select coalesce(error::text, '') from skills where id = $1", skill); fault != "" {
		t.Fatalf("the skill is not valid: %s", fault)
	}
	return get[string](t, b.Admin, "select sha256 from skills where id = $1", skill)
}

// grant lets a skill do something for a user, as its code is now.
func (b *bench) grant(t testing.TB, user, skill uuid.UUID, capability string) {
	t.Helper()
	b.Exec(t, "insert into skill_grants (user_id, skill_id, sha256, capability) values ($1, $2, $3, $4)", user, skill, b.ready(t, skill), capability)
}

// chain is a user's audit: event, capability or call, and outcome of each entry.
func (b *bench) chain(t testing.TB, user uuid.UUID) string {
	t.Helper()
	return get[string](t, b.Admin, `select coalesce(string_agg(concat_ws(' ', event ->> 'event', coalesce(event ->> 'call', event ->> 'capability'),
		event ->> 'outcome'), ', ' order by seq), '') from helix.audit where user_id = $1`, user)
}

// repair reads all tables again, as after a lost slot.
func (b *bench) repair(t testing.TB) {
	t.Helper()
	jobs, err := reactors.NewJobs(b.Pool, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	slot := b.DB.SlotName("repair")
	d, err := reactors.NewDispatcher(t.Context(), b.Pool, slot, jobs, zerolog.New(zerolog.NewTestWriter(t)), skills.Reactor{})
	if err != nil {
		t.Fatal(err)
	}
	tx, err := b.DB.Connect(t, "postgres").BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.WithoutCancel(t.Context())) //nolint:errcheck // it only exports
	at := replication.Checkpoint{Slot: slot, SystemIdentifier: "test"}
	var snapshot string
	if err := tx.QueryRow(t.Context(), "select pg_export_snapshot(), pg_current_wal_insert_lsn()").Scan(&snapshot, &at.LSN); err != nil {
		t.Fatal(err)
	}
	if err := d.Backfill(t.Context(), snapshot, at, "test", func(string, int) {}); err != nil {
		t.Fatal(err)
	}
}

// TestAudit: a user's chain tells of grants, denials, host calls and revocations,
// in their order and once each.
func TestAudit(t *testing.T) {
	b := newBench(t)
	ada, bob := b.User(t), b.User(t)
	skill := b.skill(t, bob, "kind = 'javascript', visibility = 'public', capabilities = '{memories:read,kv}', "+
		"source = 'export default async (input, helix) => (await helix.memories.list()).length'")
	b.work(t, skills.DefaultConfig, boxes(t))
	early := b.User(t) // who grants before there is a stream: a backfill tells of it
	b.Exec(t, `insert into skill_grants (user_id, skill_id, sha256, capability) values ($1, $2, repeat('a', 64), 'kv')`, early, skill)
	b.Exec(t, "delete from skill_grants where user_id = $1", early)
	b.stream(t)
	b.grant(t, ada, skill, "memories:read")
	run := b.run(t, ada, skill, `{}`)
	if got := b.ended(t, run); got != "succeeded" {
		t.Fatalf("it ended with %q: %s", got, b.fault(t, run))
	}
	b.Exec(t, "delete from skill_grants where user_id = $1", ada)
	b.until(t, "the revocation", "select exists (select from helix.audit where user_id = $1 and event ->> 'event' = 'revoked')", ada)
	b.repair(t)
	const want = "granted memories:read, denied kv capability_not_granted, host_call memories.list ok, revoked memories:read"
	if got := b.chain(t, ada); got != want {
		t.Errorf("the chain is\n%s\nwant\n%s", got, want)
	}
	if got := b.chain(t, early); got != "granted kv, revoked kv" {
		t.Errorf("the chain of who granted before the stream is %s", got)
	}
	if !get[bool](t, b.Admin, `select bool_and(skill_id = $2 and (event ->> 'sha256' = (select sha256 from skills where id = $2)) is not false)
		from helix.audit where user_id = $1`, ada, skill) {
		t.Error("an entry is of another skill, or of other code")
	}
	if got := get[string](t, b.Admin, `select string_agg(concat_ws(' ', e ->> 'event', coalesce(e ->> 'call', e ->> 'capability')), ', ')
		from skill_runs, jsonb_array_elements(audit_log) e where id = $1`, run); got != "denied kv, host_call memories.list" {
		t.Errorf("the run's audit_log has %s", got)
	}
	sum, err := audit.Verify(t.Context(), b.Admin, audit.Verification{})
	if err != nil || sum.Broken != 0 || sum.Entries != 6 {
		t.Errorf("verified: %+v, %v", sum, err)
	}
	if n := get[int](t, b.Admin, "select count(*) from helix.dead_letters"); n != 0 {
		t.Errorf("%d dead letters", n)
	}
}
