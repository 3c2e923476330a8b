-- Rows and dead letters that are given to the reactors again, and what is known of
-- the write-ahead log's positions. Every statement may run again.

set local lock_timeout = '2s';

alter table helix.dead_letters
  add column if not exists attempts integer not null default 1,
  add column if not exists retried_at timestamptz;
comment on column helix.dead_letters.attempts is 'how often it was given to its reactor; error is of the last time';
comment on column helix.dead_letters.retried_at is 'when that was, null where it never was again';

create table if not exists helix.replays (
  id bigint generated always as identity primary key,
  slot text not null,
  given bigint not null default 0,
  gone bigint not null default 0,
  changed bigint not null default 0,
  rejected bigint not null default 0,
  created_at timestamptz not null default now()
);
comment on table helix.replays is
  'what became of what was put into the inbox to be given to the reactors again; written by the apply that gave it';
comment on column helix.replays.given is 'rows and dead letters that the reactors saw, rejected ones included';
comment on column helix.replays.gone is 'of rows that are deleted, or of reactors that do not run';
comment on column helix.replays.changed is 'written since they were put into the inbox: that change is streamed by itself';
comment on column helix.replays.rejected is 'dead letters that it made, or that stayed';

create table if not exists helix.positions (
  system_identifier text not null,
  lsn pg_lsn not null,
  xid xid8 not null,
  at timestamptz not null,
  primary key (system_identifier, lsn)
);
comment on table helix.positions is
  'what was committed at some positions of the write-ahead log, written now and then by who leads and kept for some days';
comment on column helix.positions.xid is
  'every transaction before this one had ended by lsn, and by at: a row that was written later has a later one';

revoke all on helix.replays, helix.positions from public, anon, authenticated, service_role;
revoke all on sequence helix.replays_id_seq from public, anon, authenticated, service_role;
