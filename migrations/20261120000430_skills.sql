-- skills, their versions, grants and runs. Every statement may run again.

set local lock_timeout = '2s'; -- a foreign key to auth.users locks it: better to try again than to queue sign-ins

create table if not exists public.skills (
  id uuid primary key default gen_random_uuid(),
  user_id uuid default auth.uid() references auth.users (id) on delete cascade
);
alter table public.skills -- a project may have it, with some of these
  add column if not exists name text,
  add column if not exists wasm_bytecode bytea,
  add column if not exists description text,
  add column if not exists kind text not null default 'wasm' check (kind in ('wasm', 'javascript', 'composite')),
  add column if not exists source text,
  add column if not exists steps jsonb,
  add column if not exists parameters jsonb,
  add column if not exists capabilities text[] not null default '{}',
  add column if not exists limits jsonb,
  add column if not exists version text,
  add column if not exists enabled boolean not null default true,
  add column if not exists visibility text not null default 'private' check (visibility in ('private', 'public')),
  add column if not exists tags text[] not null default '{}',
  add column if not exists schedule text,
  add column if not exists active_sha256 text,
  add column if not exists created_at timestamptz not null default now(),
  add column if not exists status text not null default 'pending' check (status in ('pending', 'ready', 'invalid')),
  add column if not exists error jsonb,
  add column if not exists checks jsonb,
  add column if not exists sha256 text,
  add column if not exists checked_at timestamptz,
  add column if not exists usage_count bigint not null default 0,
  add column if not exists content_rev bigint not null default 0;
do $$
begin
  call helix.add_default('skills', 'id', 'gen_random_uuid()');
  call helix.add_default('skills', 'user_id', 'auth.uid()');
end $$;
comment on column public.skills.user_id is 'null: built in, everybody may read and run it';
comment on column public.skills.schedule is
  'inserts runs: five cron fields, after CRON_TZ=<time zone> where it is not UTC: "CRON_TZ=Europe/Berlin 0 8 * * *"';
comment on column public.skills.sha256 is 'of the checked code; null while it is pending';
comment on column public.skills.active_sha256 is 'the version of skill_versions that runs, null: the newest; new code resets it';
comment on column public.skills.checks is '{"warnings": [...]}: what looks suspicious; advice, no boundary';
comment on column public.skills.content_rev is 'counts changes of the code, most of which the stream leaves out';
create index if not exists skills_user_id_idx on public.skills (user_id);
create index if not exists skills_public_idx on public.skills (name) where visibility = 'public';

create table if not exists public.skill_versions (
  id uuid primary key default gen_random_uuid(),
  user_id uuid references auth.users (id) on delete cascade,
  skill_id uuid not null references public.skills (id) on delete cascade,
  sha256 text not null,
  version text,
  definition jsonb not null,
  wasm_bytecode bytea,
  created_at timestamptz not null default now(),
  unique (skill_id, sha256)
);
comment on table public.skill_versions is 'each checked version of a skill; a client rolls back with skills.active_sha256';
comment on column public.skill_versions.definition is 'the skill''s code and description without wasm_bytecode';
create index if not exists skill_versions_user_id_idx on public.skill_versions (user_id);

create table if not exists public.skill_grants (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null default auth.uid() references auth.users (id) on delete cascade,
  skill_id uuid not null references public.skills (id) on delete cascade,
  sha256 text not null,
  capability text not null,
  created_at timestamptz not null default now(),
  unique (user_id, skill_id, sha256, capability)
);
comment on table public.skill_grants is 'what a runner lets a skill do; void when its code changes';
create index if not exists skill_grants_skill_id_idx on public.skill_grants (skill_id);

create table if not exists public.skill_runs (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null default auth.uid() references auth.users (id) on delete cascade,
  skill_id uuid references public.skills (id) on delete set null,
  definition jsonb,
  input jsonb,
  dry_run boolean not null default false,
  cancel_requested boolean not null default false,
  created_at timestamptz not null default now(),
  status text not null default 'queued'
    check (status in ('queued', 'running', 'succeeded', 'failed', 'timed_out', 'cancelled')),
  output jsonb,
  error jsonb,
  step_results jsonb,
  steps_completed integer,
  total_steps integer,
  execution_context jsonb,
  audit_log jsonb,
  logs text,
  execution_time_ms bigint,
  cpu_ms bigint,
  peak_memory_bytes bigint,
  retries_used integer,
  started_at timestamptz,
  finished_at timestamptz
);
comment on table public.skill_runs is 'a client runs a skill by inserting a row';
comment on column public.skill_runs.definition is 'an inline skill, instead of skill_id';
comment on column public.skill_runs.skill_id is 'null beside a null definition: the skill was deleted';
create index if not exists skill_runs_user_id_created_at_idx on public.skill_runs (user_id, created_at desc);
create index if not exists skill_runs_skill_id_idx on public.skill_runs (skill_id);
create index if not exists skill_runs_open_idx on public.skill_runs (created_at) where status in ('queued', 'running');

do $$
begin
  call helix.protect('skills', 'select, insert, update, delete', 'user_id is null');
  call helix.protect('skill_versions', 'select');
  call helix.protect('skill_grants', 'select, insert, update, delete');
  call helix.protect('skill_runs', 'select, insert, update, delete');
end $$;

-- Tools and composite skills of a project become skills, once: one that is
-- deleted afterwards does not come back. Columns that are not there are null.
do $$
declare
  tab text;
  kind text;
  created text;
begin
  if exists (select from helix.migrations where version = '20261120000430') then
    return;
  end if;
  for tab, kind in values ('custom_tools', 'javascript'), ('composite_skills', 'composite') loop
    continue when to_regclass('public.' || tab) is null;
    if not has_table_privilege(format('public.%I', tab), 'select') then
      raise exception 'helixd may not read public.%', tab using errcode = 'insufficient_privilege',
        hint = format('Run as its owner: grant select on public.%I to %I; then migrate again.', tab, current_user);
    end if;
    select 'coalesce(helix.utc(t.created_at), now())' into created from pg_catalog.pg_attribute
      where attrelid = format('public.%I', tab)::regclass and attname = 'created_at'
      and atttypid in ('timestamp'::regtype, 'timestamptz'::regtype);
    execute format($copy$
      insert into public.skills (id, user_id, name, description, kind, wasm_bytecode, source, steps, parameters, version,
        enabled, visibility, tags, created_at)
      select case when twin = 1 and not exists (select from public.skills s where s.id = o.id) then coalesce(o.id, gen_random_uuid())
          else gen_random_uuid() end,
        o.user_id,
        coalesce(old ->> 'name', old ->> 'tool_name', old ->> 'skill_name', old ->> 'title'),
        old ->> 'description',
        case when wasm is null then %L else 'wasm' end,
        wasm::bytea,
        case jsonb_typeof(code) when 'string' then code #>> '{}' else code::text end,
        nullif(old -> 'steps', 'null'),
        coalesce(nullif(old -> 'parameters', 'null'), nullif(old -> 'input_schema', 'null'), nullif(old -> 'schema', 'null')),
        old ->> 'version',
        coalesce(old ->> 'enabled', old ->> 'is_enabled', old ->> 'is_active', 'true') not in ('false', '0'),
        case when old ->> 'visibility' = 'public' or old ->> 'is_public' = 'true' then 'public' else 'private' end,
        case jsonb_typeof(old -> 'tags') when 'array' then array(select jsonb_array_elements_text(old -> 'tags')) else '{}' end,
        created
      from (select old, created, row_number() over (partition by old ->> 'id') as twin,
          case when old ->> 'id' ~* uuid then (old ->> 'id')::uuid end as id,
          case when old ->> 'user_id' ~* uuid then (old ->> 'user_id')::uuid end as user_id,
          coalesce(nullif(old -> 'code', 'null'), nullif(old -> 'source', 'null'), nullif(old -> 'source_code', 'null'),
            nullif(old -> 'script', 'null'), nullif(old -> 'implementation', 'null')) as code,
          substring(coalesce(old ->> 'wasm_bytecode', old ->> 'bytecode') from '^\\x(?:[0-9a-f]{2})*$') as wasm
        from (select to_jsonb(t) as old, %s as created, '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' as uuid from public.%I t) t) o
      where old ->> 'user_id' is null or exists (select from auth.users u where u.id = o.user_id) -- of who is gone: nobody's
      $copy$, kind, coalesce(created, 'now()'), tab);
  end loop;
end $$;
