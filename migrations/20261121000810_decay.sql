-- What retention and the schedule of decay remember. Every statement may run again.

set local lock_timeout = '2s'; -- better to try again than to queue who uses the tables

alter table public.memory_retention add column if not exists last_accessed timestamptz;
comment on column public.memory_retention.last_accessed is
  'the memory''s last_accessed that reinforced it last, as the app gave it: one ahead of every clock counts once';

-- The schedule changes decay_rate and last_updated, which no index has: with room
-- on its page a row stays there, and the indexes as they are.
do $$
begin
  if not exists (select from pg_catalog.pg_class where oid = 'public.psychology_layers'::regclass
      and (relkind <> 'r' or reloptions::text like '%fillfactor%')) then
    alter table public.psychology_layers set (fillfactor = 85);
  end if;
end $$;

create table if not exists helix.decay (
  one boolean primary key default true check (one),
  ticked_at timestamptz not null,
  rows bigint not null,
  written bigint not null,
  seconds double precision not null
);
comment on table helix.decay is 'the last tick over psychology_layers: as of when, what it looked at and wrote, how long it took';
revoke all on helix.decay from public, anon, authenticated, service_role;
