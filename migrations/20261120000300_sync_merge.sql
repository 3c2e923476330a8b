-- sync_policies: how each type of entity is resolved; and what merge keeps of an
-- entity's versions. Every statement may run again.

set local lock_timeout = '2s'; -- a foreign key to auth.users locks it: better to try again than to queue sign-ins

create table if not exists public.sync_policies (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null default auth.uid() references auth.users (id) on delete cascade,
  entity_type text not null,
  strategy text not null default 'last_write_wins'
    check (strategy in ('last_write_wins', 'merge', 'manual')),
  options jsonb not null default '{}',
  created_at timestamptz not null default now(),
  constraint sync_policies_type_key unique (user_id, entity_type)
);
comment on table public.sync_policies is
  'how concurrent versions of a type of entity are resolved, last_write_wins where there is no row; '
  'a change takes effect with the next write of each entity';
comment on column public.sync_policies.strategy is
  'last_write_wins: the newest version stands; merge: each path of the JSON by itself; manual: as '
  'last_write_wins, until the user decides in sync_conflicts.resolution';
comment on column public.sync_policies.options is
  'of merge: {"arrays": "atomic"|"set"|"by_id"}, or by name or JSON pointer {"arrays": {"tags": "set", '
  '"/order/items": "by_id"}}. atomic (the default): an array is one value; set: elements without order '
  'or repetition; by_id: objects with an "id", in the order of the ids';

alter table public.sync_entities add column if not exists merged boolean not null default false;
comment on column public.sync_entities.merged is
  'the last write was merged path by path, so that what that takes is in helix.sync_versions';
comment on column public.sync_entities.device_id is
  'whose version data is; of a merge, whose is the newest version in it';

comment on column public.sync_conflicts.versions is
  'the winner first: [{device_id, vector_clock, last_modified, deleted, data, won}]; of a merge {..., '
  'writes: [{path, value}]}, the values at stake: removed where the path was removed, omitted where the '
  'value is large and stands in the entity or in another conflict';
comment on column public.sync_conflicts.resolution is
  'of an open manual conflict a client sets it: {"winner": 0} or {"winner": 1} takes one of versions, '
  '{"data": {...}} or {"deleted": true} something else; of a resolved one it tells how: the winner, '
  'what the client set, or superseded_by, a version that came between';

create table if not exists helix.sync_versions (
  user_id uuid not null references auth.users (id) on delete cascade,
  entity_type text not null,
  entity_id uuid not null,
  version text not null,
  device_id text not null,
  clock jsonb not null,
  counter bigint not null,
  content_hash text not null,
  last_modified timestamptz not null,
  deleted boolean not null,
  revision bigint not null,
  wall bigint not null,
  logical bigint not null,
  apart boolean not null,
  writes jsonb not null,
  data jsonb,
  primary key (user_id, entity_type, entity_id, version)
);
comment on table helix.sync_versions is 'versions of merged entities; the oldest go into sync_roots';
comment on column helix.sync_versions.version is 'hash of clock and content, as the device sent them';
comment on column helix.sync_versions.clock is 'joined with that of the revision that the device had merged';
comment on column helix.sync_versions.counter is 'of the device''s own write, as it sent it';
comment on column helix.sync_versions.revision is 'of the entity, that this version made';
comment on column helix.sync_versions.wall is
  'with logical its hybrid logical clock: microseconds since 1970, at least those of all that it had seen';
comment on column helix.sync_versions.apart is 'it had not seen all that is in the root';
comment on column helix.sync_versions.writes is
  'where it differs from what it had seen: [[path, value]], [[path]] where the path was removed, '
  '[[path, null, name]] of what JSON has no form for';
comment on column helix.sync_versions.data is 'of a delete';

create table if not exists helix.sync_roots (
  user_id uuid not null references auth.users (id) on delete cascade,
  entity_type text not null,
  entity_id uuid not null,
  clock jsonb not null,
  wall bigint not null,
  logical bigint not null,
  revision bigint not null,
  live boolean not null,
  sealed boolean not null,
  registers jsonb not null,
  primary key (user_id, entity_type, entity_id)
);
comment on table helix.sync_roots is 'what the oldest versions of merged entities have come to';
comment on column helix.sync_roots.clock is 'join of theirs';
comment on column helix.sync_roots.live is 'one that is no delete has been seen by no other version';
comment on column helix.sync_roots.sealed is
  'removed paths were dropped: a version that has not seen the root merges no more';
comment on column helix.sync_roots.registers is
  'as sync_versions.writes, each with [wall, logical, device_id] as its last element';

do $$
begin
  call helix.protect('sync_policies', 'select, insert, update, delete');
end $$;
revoke all on helix.sync_versions, helix.sync_roots from public, anon, authenticated, service_role;
