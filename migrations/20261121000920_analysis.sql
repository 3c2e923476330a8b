-- What analyses keep: who works on which, and what models answered. Every statement
-- may run again.

set local lock_timeout = '2s'; -- a foreign key to auth.users locks it: better to try again than to queue sign-ins

create table if not exists helix.analysis_work (
  job_id uuid primary key references public.memory_synthesis_jobs (id) on delete cascade,
  user_id uuid not null references auth.users (id) on delete cascade,
  claim uuid,
  holder text,
  begun integer not null default 0,
  tries integer not null default 0,
  requests integer not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  took_ms bigint not null default 0
);
comment on table helix.analysis_work is 'rows of memory_synthesis_jobs that are open';
comment on column helix.analysis_work.claim is 'of who works on it: who has another one writes nothing; null: nobody does';
comment on column helix.analysis_work.begun is 'claims since something last came of one';
comment on column helix.analysis_work.tries is 'in a row that ended because the provider did not answer';
comment on column helix.analysis_work.requests is 'that were answered for it, and what they cost';
create index if not exists analysis_work_user_id_idx on helix.analysis_work (user_id);

create table if not exists helix.analysis_cache (
  user_id uuid not null references auth.users (id) on delete cascade,
  key bytea not null,
  job_id uuid not null,
  answer jsonb not null,
  created_at timestamptz not null default now(),
  primary key (user_id, key)
);
comment on table helix.analysis_cache is 'what models answered, checked, with placeholders for what was redacted';
comment on column helix.analysis_cache.key is 'sha256 of the whole request: instructions, texts as redacted, schema and model';
comment on column helix.analysis_cache.job_id is 'whose request it was';
create index if not exists analysis_cache_created_at_idx on helix.analysis_cache (created_at);

revoke all on helix.analysis_work, helix.analysis_cache from public, anon, authenticated, service_role;
-- It may truncate public.memory_synthesis_jobs, which takes this along; the schema stays closed to it.
grant truncate on helix.analysis_work to service_role;
