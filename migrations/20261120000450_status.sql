-- What helix_status tells of. Every statement may run again.

create table if not exists helix.reactors (
  reactor text primary key,
  slot text not null,
  queue text,
  updated_at timestamptz not null default now()
);
comment on table helix.reactors is 'which reactors run; the leader writes it when it starts';
comment on column helix.reactors.queue is 'of its River jobs, null where it has none';
revoke all on helix.reactors from public, anon, authenticated, service_role;

alter table helix.checkpoints add column if not exists lag_seconds double precision not null default 0;
comment on column helix.checkpoints.lag_seconds is
  'from the commit of the last transaction that was applied until its results were ready; of when updated_at says';
