package main

// psqlLines make a user and let it write and read a note and a memory, as PostgREST would for supabase-js. They can be
// pasted into psql in one go.
const psqlLines = `insert into auth.users (id, aud, role, email)
  values (gen_random_uuid(), 'authenticated', 'authenticated',
    gen_random_uuid() || '@example.com') returning id as me \gset
set role authenticated;
select set_config('request.jwt.claims',
  json_build_object('sub', :'me', 'role', 'authenticated')::text, false);
insert into sync_state (entity_type, entity_id, device_id, data, vector_clock, last_modified)
  values ('note', gen_random_uuid(), 'phone', '{"text": "Milk"}', '{"phone": 1}', now());
select pg_sleep(0.1); -- helixd takes some milliseconds
select data, vector_clock, resolution, revision from sync_entities;
insert into memories (type, content, created_at, emotional_valence)
  select 'episodic', 'Walked by the river.', now() - n * interval '1 day', 0.6 from generate_series(0, 27) n;
select pg_sleep(6); -- patterns are looked for two seconds after the last change
select pattern_type, round(confidence_score::numeric, 2) as confidence, synthesis_content from memory_synthesis;
select content, round(100 * retention) as percent from memories_with_retention order by created_at desc limit 3;
`

// guide says how to use the environment and how to end it.
func guide(out *printer, r repo, env devEnv) error {
	out.line("")
	out.line("In the repository's root, as the project's owner (role postgres):")
	out.line("")
	out.line("   . %s", shellWord(r.relative(r.devEnv())))
	out.line(`   psql "$HELIX_DEV_URL"           # "$HELIX_DEV_ADMIN_URL": as a superuser`)
	out.line(`   tail -f "$HELIX_DEV_LOG"        # what helixd says`)
	out.line("")
	out.line("In psql, as a user of an app; reset role makes you the owner again:")
	out.line("")
	out.line("%s", psqlLines)
	out.line("HELIX_DEV_JWT_SECRET is what JWTs are signed with.  To end it: %s", out.bold("make dev-down"))
	return nil
}
