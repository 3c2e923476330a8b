-- A leader that ends in order says so. Every statement may run again.

set local lock_timeout = '2s';

alter table helix.leaders add column if not exists left_at timestamptz;
comment on column helix.leaders.left_at is
  'when the holder ended in order; it leads no more, unless heartbeat_at is later. null: it leads, or was ended otherwise';
