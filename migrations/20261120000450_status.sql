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
