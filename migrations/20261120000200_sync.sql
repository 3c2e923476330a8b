-- sync_state: what devices write. sync_entities, sync_conflicts: what they come
-- to. Every statement may run again.

set local lock_timeout = '2s'; -- a foreign key to auth.users locks it: better to try again than to queue sign-ins

create table if not exists public.sync_state (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null default auth.uid() references auth.users (id) on delete cascade,
  entity_type text not null,
  entity_id uuid not null,
  device_id text not null,
  data jsonb,
  vector_clock jsonb not null default '{}',
  last_modified timestamptz not null default now()
);
alter table public.sync_state -- a project may have it, with some of these
  add column if not exists entity_type text,
  add column if not exists entity_id uuid,
  add column if not exists device_id text,
  add column if not exists data jsonb,
  add column if not exists vector_clock jsonb not null default '{}',
  add column if not exists last_modified timestamptz not null default now(),
  add column if not exists deleted boolean not null default false,
  add column if not exists base_revision bigint,
  add column if not exists created_at timestamptz not null default now();
do $$
begin
  call helix.add_default('sync_state', 'id', 'gen_random_uuid()');
  call helix.add_default('sync_state', 'user_id', 'auth.uid()');
  call helix.add_default('sync_state', 'vector_clock', '''{}''');
  call helix.add_default('sync_state', 'last_modified', 'now()');
  call helix.add_unique_key('sync_state', 'sync_state_device_key', '{user_id,entity_type,entity_id,device_id}', 'last_modified');
end $$;
comment on table public.sync_state is
  'each device''s latest version of each entity; a device upserts on (user_id, entity_type, entity_id, device_id)';
comment on column public.sync_state.vector_clock is
  'writes of each device that this version includes: {"phone": 3, "laptop": 1}';
comment on column public.sync_state.base_revision is
  'the sync_entities.revision that the device had merged, where it knows it';

create table if not exists public.sync_entities (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null default auth.uid() references auth.users (id) on delete cascade,
  entity_type text not null,
  entity_id uuid not null,
  data jsonb,
  vector_clock jsonb not null,
  last_modified timestamptz not null,
  deleted boolean not null default false,
  resolution text not null
    check (resolution in ('none', 'fast_forward', 'last_write_wins', 'merge', 'manual')),
  revision bigint not null,
  updated_at timestamptz not null,
  device_id text not null,
  version_clock jsonb,
  content_hash text not null,
  seen jsonb not null default '{}',
  constraint sync_entities_entity_key unique (user_id, entity_type, entity_id)
) with (fillfactor = 90);
comment on table public.sync_entities is 'the resolved state of each entity, which every device subscribes to';
comment on column public.sync_entities.vector_clock is
  'join of the clocks of all versions seen; a device that adopts this row continues from it';
comment on column public.sync_entities.revision is 'counts the changes of the resolved state, from 1';
comment on column public.sync_entities.updated_at is
  'commit time of the device write that last changed this row';
comment on column public.sync_entities.device_id is 'whose version data is';
comment on column public.sync_entities.version_clock is
  'that version''s own clock while concurrent versions stand beside it, else null: it is vector_clock';
comment on column public.sync_entities.content_hash is 'of that version''s data and deleted';
comment on column public.sync_entities.seen is
  'newest write seen of each device: {"phone": [3, content_hash]}';

create table if not exists helix.sync_siblings (
  user_id uuid not null references auth.users (id) on delete cascade,
  entity_type text not null,
  entity_id uuid not null,
  version text not null,
  device_id text not null,
  clock jsonb not null,
  content_hash text not null,
  last_modified timestamptz not null,
  deleted boolean not null,
  data jsonb,
  primary key (user_id, entity_type, entity_id, version)
);
comment on table helix.sync_siblings is
  'versions that lost to a concurrent one and that no later version includes yet: they may still win';
comment on column helix.sync_siblings.version is 'hash of clock and content';

create table if not exists public.sync_conflicts (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null default auth.uid() references auth.users (id) on delete cascade,
  entity_type text not null,
  entity_id uuid not null,
  versions jsonb not null,
  strategy text not null check (strategy in ('last_write_wins', 'merge', 'manual')),
  kind text not null check (kind in ('concurrent', 'fork', 'stale')),
  resolved boolean not null default false,
  resolution jsonb,
  created_at timestamptz not null default now(),
  resolved_at timestamptz
);
comment on table public.sync_conflicts is 'each version that lost, beside the one that won: nothing is discarded silently';
comment on column public.sync_conflicts.versions is
  'the winner first: [{device_id, vector_clock, last_modified, deleted, data, won}]';
comment on column public.sync_conflicts.kind is
  'concurrent: neither had seen the other; fork: the same write of a device with two contents (a '
  'restored backup); stale: older than what the device had already written';
create index if not exists sync_conflicts_entity_idx
  on public.sync_conflicts (user_id, entity_type, entity_id);

do $$
begin
  call helix.protect('sync_state', 'select, insert, update, delete');
  call helix.protect('sync_entities', 'select');
  call helix.protect('sync_conflicts', 'select, update');
end $$;
revoke all on helix.sync_siblings from public, anon, authenticated, service_role;
