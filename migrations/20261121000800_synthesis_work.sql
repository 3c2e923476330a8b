-- What synthesis keeps of each user. Every statement may run again.

set local lock_timeout = '2s'; -- a foreign key to auth.users locks it: better to try again than to queue sign-ins

create table if not exists helix.synthesis_work (
  user_id uuid primary key references auth.users (id) on delete cascade,
  due boolean not null,
  input bytea,
  ran_at timestamptz,
  took_ms bigint
);
comment on table helix.synthesis_work is 'users whose memories are, or are to be, synthesised';
comment on column helix.synthesis_work.due is 'memories or settings have changed since they were last read';
comment on column helix.synthesis_work.input is 'sha256 of what the last synthesis was made of: the same again is not computed again';
create index if not exists synthesis_work_due_idx on helix.synthesis_work (user_id) where due;

revoke all on helix.synthesis_work from public, anon, authenticated, service_role;
