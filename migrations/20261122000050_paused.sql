-- What an operator holds back. Every statement may run again.

set local lock_timeout = '2s';

create table if not exists helix.paused (
  what text primary key,
  queues text[] not null default '{}',
  since timestamptz not null default now(),
  until timestamptz,
  by text not null,
  reason text,
  ended_at timestamptz,
  ended text
);
comment on table helix.paused is
  'what is paused, or was until it ended by itself: in force is a row with ended_at null and until null or later '
  'than now(). helixd pause writes it, helixd resume deletes it';
comment on column helix.paused.what is 'stream: no change is applied; or a reactor: no job of it is begun';
comment on column helix.paused.queues is 'River''s, of the reactor''s jobs; empty for the stream';
comment on column helix.paused.until is 'when it ends by itself; null: when somebody resumes it';
comment on column helix.paused.by is 'user@host of whoever paused it';
comment on column helix.paused.ended is 'why it ended by itself, at ended_at';

alter table helix.leaders
  add column if not exists paused_since timestamptz,
  add column if not exists backfill jsonb;
comment on column helix.leaders.paused_since is
  'since of the row in helix.paused for which the leader applies nothing now; null: it applies';
comment on column helix.leaders.backfill is 'rows that a repair has read so far, by table; null when none is under way';

alter table helix.workers
  add column if not exists queues text[],
  add column if not exists paused text[] not null default '{}';
comment on column helix.workers.queues is 'River''s, that it takes jobs from; null: an older helixd, which does not say';
comment on column helix.workers.paused is 'those of them that it takes no job from at the moment';

revoke all on helix.paused from public, anon, authenticated, service_role;
