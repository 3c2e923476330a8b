call helix.install_guard('skills',
  fixed => '{}',
  client => '{name,description,kind,wasm_bytecode,source,steps,parameters,capabilities,limits,version,enabled,visibility,tags,schedule,active_sha256,created_at}',
  results => '{status,error,checks,sha256,checked_at,usage_count,content_rev}',
  required => '{id,name}',
  limits => '{"name": [1, 200], "description": 10000, "wasm_bytecode": 16777216, "source": 1048576, "steps": 1048576,
    "parameters": 262144, "capabilities": 16384, "limits": 16384, "version": 100, "tags": 16384, "schedule": 200, "active_sha256": 64}',
  rules => array[
    ['kind', $$new.kind not in ('wasm', 'javascript', 'composite')$$, 'kind is not wasm, javascript or composite'],
    ['visibility', $$new.visibility not in ('private', 'public')$$, 'visibility is not private or public']],
  finish => $$if new.active_sha256 is not null and (tg_op = 'INSERT' or new.active_sha256 is distinct from old.active_sha256)
      and not exists (select from public.skill_versions v where v.skill_id = new.id and v.sha256 = new.active_sha256) then
    raise exception 'active_sha256 is not a version of this skill'
      using errcode = 'check_violation', column = 'active_sha256', hint = 'See skill_versions.';
  end if;$$);

call helix.install_inbox('skills', '{delete}', '{id}');

-- New code is checked before it runs.
create or replace function helix.code_changed() returns trigger
language plpgsql security invoker set search_path = '' as $$
begin
  new.content_rev := old.content_rev + 1;
  new.status := 'pending';
  new.error := null;
  new.checks := null;
  new.sha256 := null;
  new.checked_at := null;
  if new.active_sha256 is not distinct from old.active_sha256 then
    new.active_sha256 := null;
  end if;
  return new;
end $$;

create or replace trigger helix_code_changed
  before update of kind, wasm_bytecode, source, steps, parameters, capabilities, limits on public.skills for each row
  when ((old.kind, old.source, old.steps, old.parameters, old.capabilities, old.limits)
      is distinct from (new.kind, new.source, new.steps, new.parameters, new.capabilities, new.limits)
    or old.wasm_bytecode is distinct from new.wasm_bytecode)
  execute function helix.code_changed();

-- A skill may be run, and granted something, by its owner; a public or a built-in
-- one by everybody. A foreign key would pass row-level security. It says the same
-- of a skill that is not there, and of a row that is not the client's to write
-- nothing, which row-level security refuses: whose a skill is must not be told.
create or replace function helix.require_runnable() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if new.skill_id is not null and not exists (select from public.skills s where s.id = new.skill_id
      and (s.user_id = new.user_id or s.user_id is null or s.visibility = 'public')) then
    raise exception '%.skill_id is no skill that is this user''s own, public or built in', tg_table_name
      using errcode = 'insufficient_privilege', column = 'skill_id';
  end if;
  return new;
end $$;

call helix.install_guard('skill_grants',
  fixed => '{skill_id,sha256,capability}',
  client => '{created_at}',
  results => '{}',
  required => '{id,user_id,skill_id,sha256,capability}',
  limits => '{"sha256": [64, 64], "capability": [1, 300]}');

call helix.install_inbox('skill_grants', '{insert,delete}', '{skill_id,sha256,capability}');

create or replace trigger helix_require_runnable before insert or update of skill_id on public.skill_grants
  for each row when (current_user not in ('anon', 'authenticated') or new.user_id = auth.uid()) execute function helix.require_runnable();

call helix.install_guard('skill_runs',
  fixed => '{skill_id,definition,input,dry_run}',
  client => '{created_at}',
  results => '{cancel_requested,status,output,error,step_results,steps_completed,total_steps,execution_context,audit_log,logs,execution_time_ms,cpu_ms,peak_memory_bytes,retries_used,started_at,finished_at}',
  required => '{id,user_id}',
  limits => '{"definition": 1048576, "input": 1048576}',
  rules => array[['skill_id', $$tg_op = 'INSERT' and num_nonnulls(new.skill_id, new.definition) <> 1$$,
    'skill_id or definition must be given, and not both']],
  transitions => '{"cancel_requested": "new.cancel_requested"}');

call helix.install_inbox('skill_runs', '{delete}', '{id}');

create or replace trigger helix_require_runnable before insert or update of skill_id on public.skill_runs
  for each row when (current_user not in ('anon', 'authenticated') or new.user_id = auth.uid()) execute function helix.require_runnable();

revoke all on function helix.code_changed(), helix.require_runnable() from public, anon, authenticated, service_role;

-- Others' skills without what is in them: the view has its owner's rights, since
-- row-level security shows a user their own.
create or replace view public.public_skills with (security_barrier = true) as
select id, name, description, kind, parameters, capabilities, limits, version, enabled, tags, status,
  coalesce(active_sha256, sha256) as sha256, -- of what runs, which is what one grants something to
  usage_count, created_at
from public.skills where visibility = 'public';
comment on view public.public_skills is 'skills that their owners made public, without source, bytecode and steps';
revoke all on public.public_skills from public, anon, authenticated, service_role;
grant select on public.public_skills to authenticated, service_role;

-- auth.uid() names its types without their schema, and would take the caller's
-- temporary ones, whose checks are code: they come last here.
create or replace function public.clone_skill(id uuid) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  clone pg_catalog.uuid;
begin
  if auth.uid() is null then
    raise exception 'nobody is signed in' using errcode = 'insufficient_privilege';
  end if;
  insert into public.skills (user_id, name, description, kind, wasm_bytecode, source, steps, parameters, capabilities, limits, version, tags)
  select auth.uid(), s.name, s.description, s.kind, s.wasm_bytecode, s.source, s.steps, s.parameters, s.capabilities, s.limits, s.version, s.tags
  from public.skills s
  where s.id = clone_skill.id and (s.visibility = 'public' or s.user_id is null or s.user_id = auth.uid())
  returning skills.id into clone;
  if clone is null then
    raise exception 'there is no public skill with this id' using errcode = 'no_data_found';
  end if;
  return clone;
end $$;
comment on function public.clone_skill(uuid) is 'copies a public skill into the caller''s own, and gives its id';
revoke all on function public.clone_skill(uuid) from public, anon, authenticated, service_role;
grant execute on function public.clone_skill(uuid) to authenticated;
