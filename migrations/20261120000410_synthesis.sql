-- What is found in memories: memory_synthesis and its settings; the analyses
-- that a client orders, with their patterns and recommendations. Every statement
-- may run again.

set local lock_timeout = '2s'; -- a foreign key to auth.users locks it: better to try again than to queue sign-ins

create table if not exists public.memory_synthesis (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null default auth.uid() references auth.users (id) on delete cascade
);
alter table public.memory_synthesis -- a project may have it, with some of these; its rows get no fingerprint
  add column if not exists pattern_type text,
  add column if not exists memory_ids uuid[],
  add column if not exists synthesis_content text,
  add column if not exists confidence_score double precision,
  add column if not exists created_at timestamptz not null default now(),
  add column if not exists details jsonb,
  add column if not exists fingerprint text,
  add column if not exists updated_at timestamptz;
alter table public.memory_synthesis alter column updated_at set default now();
do $$
begin
  call helix.add_default('memory_synthesis', 'id', 'gen_random_uuid()');
  call helix.add_default('memory_synthesis', 'user_id', 'auth.uid()');
  call helix.add_default('memory_synthesis', 'created_at', 'now()');
  call helix.add_unique_key('memory_synthesis', 'memory_synthesis_fingerprint_key', '{user_id,fingerprint}', 'updated_at');
end $$;
comment on table public.memory_synthesis is
  'patterns in a user''s memories; one that persists keeps its row, one that is gone is deleted';
comment on column public.memory_synthesis.fingerprint is
  'tells the same pattern in the next run; rows without one are the app''s, and are never touched';

create table if not exists public.synthesis_settings (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null default auth.uid() unique references auth.users (id) on delete cascade,
  memory_limit integer not null default 1000 check (memory_limit between 1 and 100000),
  min_confidence double precision not null default 0.7 check (min_confidence between 0 and 1),
  min_cluster_size integer not null default 3 check (min_cluster_size between 2 and 1000),
  enabled boolean not null default true,
  created_at timestamptz not null default now()
);
comment on table public.synthesis_settings is 'how a user''s memories are synthesised; an upsert names user_id in onConflict';
comment on column public.synthesis_settings.min_confidence is
  'patterns below it are left out; confidence is the bootstrap probability that the pattern recurs';

create table if not exists public.memory_synthesis_jobs (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null default auth.uid() references auth.users (id) on delete cascade,
  synthesis_type text not null check (synthesis_type in ('emotional_patterns', 'prospective_self', 'relational_memory',
    'narrative_coherence', 'full_synthesis', 'relational_dynamics', 'narrative_themes')),
  conversations jsonb,
  time_range tstzrange,
  created_at timestamptz not null default now(),
  status text not null default 'pending' check (status in ('pending', 'processing', 'done', 'failed')),
  progress double precision not null default 0 check (progress between 0 and 1),
  analysis jsonb,
  summary text,
  layer integer,
  provider text,
  input_tokens bigint,
  output_tokens bigint,
  execution_time_ms bigint,
  error jsonb,
  finished_at timestamptz
);
comment on table public.memory_synthesis_jobs is 'analyses that a client orders by inserting a row';
comment on column public.memory_synthesis_jobs.conversations is
  '[{id, text, timestamp}], up to 1000; null: the user''s memories';
comment on column public.memory_synthesis_jobs.time_range is 'of the memories, or of the conversations'' timestamps; null: all';
comment on column public.memory_synthesis_jobs.layer is 'psychology_layers.layer_number that it tells of';
create index if not exists memory_synthesis_jobs_user_id_created_at_idx on public.memory_synthesis_jobs (user_id, created_at desc);
create index if not exists memory_synthesis_jobs_open_idx on public.memory_synthesis_jobs (created_at)
  where status in ('pending', 'processing');

create table if not exists public.memory_patterns (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references auth.users (id) on delete cascade,
  job_id uuid not null references public.memory_synthesis_jobs (id) on delete cascade,
  pattern_type text not null check (pattern_type in (
    'trigger', 'regulation', 'intensity', 'topic_emotion', -- emotional
    'goal', 'feared_outcome', 'possible_self', 'value', -- prospective
    'dynamic', 'attachment_style', 'trust', 'conflict', 'support_system', -- relational
    'theme', 'identity_development', 'growth', 'integration')), -- narrative
  description text not null,
  layer integer,
  evidence text[] not null default '{}',
  confidence double precision not null check (confidence between 0 and 1),
  content jsonb not null default '{}',
  created_at timestamptz not null default now()
);
comment on column public.memory_patterns.evidence is 'ids of the memories or conversations that show it';
create index if not exists memory_patterns_job_id_idx on public.memory_patterns (job_id);
create index if not exists memory_patterns_user_id_idx on public.memory_patterns (user_id, created_at desc);

create table if not exists public.synthesis_recommendations (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references auth.users (id) on delete cascade,
  job_id uuid not null references public.memory_synthesis_jobs (id) on delete cascade,
  pattern_id uuid references public.memory_patterns (id) on delete cascade,
  recommendation text not null,
  created_at timestamptz not null default now()
);
create index if not exists synthesis_recommendations_job_id_idx on public.synthesis_recommendations (job_id);
create index if not exists synthesis_recommendations_pattern_id_idx on public.synthesis_recommendations (pattern_id);
create index if not exists synthesis_recommendations_user_id_idx on public.synthesis_recommendations (user_id, created_at desc);

do $$
begin
  call helix.protect('memory_synthesis', 'select');
  call helix.protect('synthesis_settings', 'select, insert, update, delete');
  call helix.protect('memory_synthesis_jobs', 'select, insert, update, delete');
  call helix.protect('memory_patterns', 'select');
  call helix.protect('synthesis_recommendations', 'select');
end $$;
