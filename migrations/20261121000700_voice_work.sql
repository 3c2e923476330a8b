-- What voice keeps while it works, and what a recording may lead to. Every
-- statement may run again.

set local lock_timeout = '2s'; -- a foreign key to auth.users locks it: better to try again than to queue sign-ins

alter table public.voice_recordings
  add column if not exists memo boolean not null default false,
  add column if not exists actions jsonb;
comment on column public.voice_recordings.memo is 'asks for a memory of type episodic with the transcript';
comment on column public.voice_recordings.actions is
  'what the transcript led to: [{"action": "memory" | "command", "id", "command_id", "error"}]';
-- Audio is compressed already, and is read in parts: of a value that Postgres has
-- compressed each part would cost all that comes before it.
alter table public.voice_recordings alter column audio_data set storage external, alter column processed_audio set storage external;

create table if not exists helix.voice_queues (
  user_id uuid primary key references auth.users (id) on delete cascade,
  hour timestamptz,
  begun integer not null default 0
);
comment on table helix.voice_queues is 'who claims or ends a recording of a user locks the row';
comment on column helix.voice_queues.begun is 'recordings, since hour';

create table if not exists helix.voice_work (
  recording_id uuid primary key references public.voice_recordings (id) on delete cascade,
  user_id uuid not null references auth.users (id) on delete cascade,
  content_rev bigint not null,
  tries integer not null default 0,
  retry_at timestamptz,
  job_id bigint,
  attempt integer,
  holder text,
  sent integer not null default 0
);
comment on table helix.voice_work is 'recordings that are worked on, or wait for another try';
comment on column helix.voice_work.content_rev is 'of the audio that this is about';
comment on column helix.voice_work.tries is 'that failed and are to be repeated';
comment on column helix.voice_work.job_id is 'the lane that has claimed it; null: none';
comment on column helix.voice_work.attempt is 'of that job: an earlier one writes nothing';
comment on column helix.voice_work.sent is 'requests that were begun, of whose end nothing is known';
create index if not exists voice_work_job_id_idx on helix.voice_work (job_id) where job_id is not null;
create index if not exists voice_work_claims_idx on helix.voice_work (user_id) where job_id is not null;
create index if not exists voice_work_user_id_idx on helix.voice_work (user_id, retry_at);
create index if not exists voice_recordings_pending_idx on public.voice_recordings (user_id, created_at, id) where status = 'pending';

create table if not exists helix.voice_answers (
  recording_id uuid not null references public.voice_recordings (id) on delete cascade,
  key bytea not null,
  user_id uuid not null references auth.users (id) on delete cascade,
  answer jsonb not null,
  created_at timestamptz not null default now(),
  primary key (recording_id, key)
);
create index if not exists voice_answers_user_id_idx on helix.voice_answers (user_id);
comment on table helix.voice_answers is 'what was bought, until it is on the row: a recording in pieces has many';
comment on column helix.voice_answers.key is 'sha256 of the piece and of what was asked about it';

revoke all on helix.voice_queues, helix.voice_work, helix.voice_answers from public, anon, authenticated, service_role;
-- It may truncate public.voice_recordings, which takes these along; the schema stays closed to it.
grant truncate on helix.voice_work, helix.voice_answers to service_role;
