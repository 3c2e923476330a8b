-- Who works jobs, and how runs of skills are claimed. Every statement may run again.

set local lock_timeout = '2s'; -- a foreign key to auth.users locks it: better to try again than to queue sign-ins

create table if not exists helix.workers (
  holder text primary key,
  heartbeat_at timestamptz not null default now(),
  details jsonb
);
comment on table helix.workers is 'the processes that work jobs; the jobs of one that is silent are given to others';
comment on column helix.workers.details is 'what it says of itself, by reactor: {"skills": {"healthy": false, "reason": ..., ...}}';

create table if not exists helix.skill_queues (
  user_id uuid primary key references auth.users (id) on delete cascade,
  tokens double precision,
  refilled_at timestamptz
);
comment on table helix.skill_queues is
  'a row each user who has run skills; who holds its lock claims or ends runs, so that none waits unseen';
comment on column helix.skill_queues.tokens is 'runs that the user''s rate allowed at refilled_at; null: never limited';

create table if not exists helix.skill_claims (
  run_id uuid primary key,
  user_id uuid not null references auth.users (id) on delete cascade,
  job_id bigint not null,
  attempt integer not null,
  interruptions integer not null default 0,
  holder text not null,
  permit boolean not null
);
comment on table helix.skill_claims is 'runs that a lane has taken; a result is written only by who deletes the claim, and the row may be gone';
comment on column helix.skill_claims.job_id is 'of the lane, in river_job; attempt is its attempt';
comment on column helix.skill_claims.interruptions is 'how often the process that ran it was lost';
comment on column helix.skill_claims.permit is 'it counts as running; without it the lane has it ahead, and will run it in the place of another';
create index if not exists skill_claims_user_id_idx on helix.skill_claims (user_id);
create index if not exists skill_claims_job_id_idx on helix.skill_claims (job_id);

create index if not exists skill_runs_queue_idx on public.skill_runs (user_id, created_at, id) where status = 'queued';
create index if not exists skill_runs_cancelled_idx on public.skill_runs (user_id) where status = 'queued' and cancel_requested;
create index if not exists skills_pending_idx on public.skills (id) where status = 'pending';

revoke all on helix.workers, helix.skill_queues, helix.skill_claims from public, anon, authenticated, service_role;
