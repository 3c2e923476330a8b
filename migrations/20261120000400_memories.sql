-- memories: what apps write. memory_retention: how well each is kept. Every
-- statement may run again.

set local lock_timeout = '2s'; -- a foreign key to auth.users locks it: better to try again than to queue sign-ins

create table if not exists public.memories (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null default auth.uid() references auth.users (id) on delete cascade
);
alter table public.memories -- a project may have it, with some of these
  add column if not exists type text check (type in ('episodic', 'semantic', 'procedural')),
  add column if not exists content text,
  add column if not exists emotional_valence double precision check (emotional_valence between -1 and 1),
  add column if not exists created_at timestamptz not null default now(),
  add column if not exists last_accessed timestamptz,
  add column if not exists content_rev bigint not null default 0;
do $$
declare
  schema text := helix.vector_schema();
begin
  call helix.add_default('memories', 'id', 'gen_random_uuid()');
  call helix.add_default('memories', 'user_id', 'auth.uid()');
  call helix.add_default('memories', 'created_at', 'now()');
  if schema is null then
    return;
  end if;
  execute format('alter table public.memories add column if not exists embedding %I.vector(1536)', schema);
end $$;
create index if not exists memories_user_id_created_at_idx on public.memories (user_id, created_at);
comment on column public.memories.content_rev is
  'counts changes of embedding, which the stream leaves out: it would be most of it';

create table if not exists public.memory_retention (
  memory_id uuid primary key references public.memories (id) on delete cascade,
  user_id uuid not null references auth.users (id) on delete cascade,
  stability_hours double precision not null check (stability_hours > 0),
  difficulty double precision not null check (difficulty between 1 and 10),
  last_reinforced timestamptz not null,
  reinforcements integer not null default 1 check (reinforcements > 0)
) with (fillfactor = 90);
comment on table public.memory_retention is
  'FSRS-6 of each memory: grade Good when it was made and at each access; memories_with_retention gives it as of now';
comment on column public.memory_retention.stability_hours is 'after which its retention is 0.9';
create index if not exists memory_retention_user_id_idx on public.memory_retention (user_id);

do $$
begin
  call helix.protect('memories', 'select, insert, update, delete');
  call helix.protect('memory_retention', 'select');
end $$;
