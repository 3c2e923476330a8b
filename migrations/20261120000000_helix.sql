-- Schema helix: helixd's own bookkeeping. anon and authenticated cannot use it.
-- Every statement may run again.

set local lock_timeout = '2s'; -- a foreign key to auth.users locks it: better to try again than to queue sign-ins

create schema if not exists helix;
revoke all on schema helix from public, anon, authenticated;
comment on schema helix is 'bookkeeping of helixd; no client may read or write it';

create table if not exists helix.migrations (
  version text primary key,
  name text not null,
  applied_at timestamptz not null default now()
);
comment on table helix.migrations is
  'migrations that were applied, by helixd migrate or by the Supabase CLI: each file records itself';

create table if not exists helix.instance (
  singleton boolean primary key default true check (singleton),
  secret text not null
);
comment on table helix.instance is 'what is made once per project';
comment on column helix.instance.secret is
  'proves that a logical message in the write-ahead log is helixd''s own: any user may emit messages';
insert into helix.instance (secret)
values (replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''))
on conflict do nothing;

create table if not exists helix.checkpoints (
  slot text primary key,
  system_identifier text not null,
  lsn pg_lsn not null,
  epoch bigint not null,
  transactions bigint not null default 0,
  changes bigint not null default 0,
  updated_at timestamptz not null default now()
);
comment on table helix.checkpoints is
  'how far each slot''s changes are applied; written in the transaction that applied them';
comment on column helix.checkpoints.system_identifier is
  'of the cluster that the LSN belongs to; another one means a restored or different project';
comment on column helix.checkpoints.lsn is
  'end of the last applied commit; the slot''s confirmed_flush_lsn is never ahead of it';
comment on column helix.checkpoints.epoch is
  'of the leader; each new leader adds one, and an apply with an older epoch is refused';
comment on column helix.checkpoints.transactions is 'source transactions applied from the stream, ever';
comment on column helix.checkpoints.changes is 'row changes applied from the stream, ever';

create table if not exists helix.leaders (
  slot text primary key,
  epoch bigint not null,
  holder text not null,
  started_at timestamptz not null default now(),
  heartbeat_at timestamptz not null default now()
);
comment on table helix.leaders is
  'who leads each slot; apart from checkpoints, so that a heartbeat never waits for a long apply';
comment on column helix.leaders.holder is 'host and pid of the process';

create table if not exists helix.inbox (
  id bigint generated always as identity primary key,
  table_name text not null,
  op text not null check (op in ('INSERT', 'UPDATE', 'DELETE')),
  key jsonb not null,
  user_id uuid,
  xid xid8 not null default pg_current_xact_id()
);
comment on table helix.inbox is
  'what the streamed tables cannot say, written by AFTER triggers and streamed itself: deletes with '
  'their owner, and writes to client tables that are not streamed. No foreign key: one would make the '
  'deletion of an account fail';
comment on column helix.inbox.key is 'the row''s natural key without user_id';
comment on column helix.inbox.xid is
  'the writing transaction; rows go in batches once the checkpoint has passed it';

create table if not exists helix.dead_letters (
  id bigint generated always as identity primary key,
  slot text not null,
  reactor text not null,
  table_name text not null,
  op text not null,
  key jsonb not null,
  user_id uuid references auth.users (id) on delete cascade,
  lsn pg_lsn not null,
  ordinal integer not null,
  error text not null,
  sqlstate text,
  committed_at timestamptz not null,
  created_at timestamptz not null default now(),
  unique (slot, reactor, lsn, ordinal)
);
comment on table helix.dead_letters is
  'changes that a reactor could not apply because of their own data; their neighbours were applied';
comment on column helix.dead_letters.key is 'the primary key of the changed row';
comment on column helix.dead_letters.lsn is 'commit LSN of the source transaction';
comment on column helix.dead_letters.ordinal is 'position of the change within its source transaction';
comment on column helix.dead_letters.sqlstate is 'null where the error is the reactor''s own';
create index if not exists dead_letters_user_id_idx on helix.dead_letters (user_id);

revoke all on all tables in schema helix from public, anon, authenticated, service_role;
revoke all on all sequences in schema helix from public, anon, authenticated, service_role;
alter default privileges in schema helix revoke all on tables from public, anon, authenticated;
alter default privileges in schema helix revoke all on sequences from public, anon, authenticated;
alter default privileges in schema helix revoke all on functions from public, anon, authenticated;
