-- What helixd knows of its publication and of its repairs. Every statement may
-- run again.

set local lock_timeout = '2s';

alter table helix.checkpoints
  add column if not exists published text,
  add column if not exists repair text,
  add column if not exists repairs integer not null default 0,
  add column if not exists repaired_at timestamptz;
comment on column helix.checkpoints.published is
  'fingerprint of the publication as it was when all changes up to lsn were streamed: another one means '
  'that somebody altered it, and changes may not have been streamed';
comment on column helix.checkpoints.repair is
  'why the next leader must make a new slot and read all rows once, null as a rule; an operator may set it';
comment on column helix.checkpoints.repairs is
  'repairs with less than a day between two of them; they are slowed down when there are many';
comment on column helix.checkpoints.repaired_at is 'when the last repair ended';

alter table helix.leaders add column if not exists verified_lsn pg_lsn;
comment on column helix.leaders.verified_lsn is
  'up to here the publication is known to have been as it must be; what the inbox holds beyond stays';
