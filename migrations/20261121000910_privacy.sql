-- What of a user's may leave the project. Every statement may run again.

set local lock_timeout = '2s'; -- a foreign key to auth.users locks it: better to try again than to queue sign-ins

do $$
begin
  call helix.require_adoptable('{}', '{privacy_settings}');
end $$;

create table if not exists public.privacy_settings (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null default auth.uid() unique references auth.users (id) on delete cascade,
  opt_out text[] not null default '{}' check (opt_out <@
    '{memories.content,memory_synthesis_jobs.conversations,voice_recordings.audio_data,skill_runs.llm}'::text[]),
  redact_names text[] not null default '{}' check (cardinality(redact_names) <= 1000),
  created_at timestamptz not null default now()
);
comment on table public.privacy_settings is 'what of a user''s may be sent to providers; an upsert names user_id in onConflict';
comment on column public.privacy_settings.opt_out is
  'what no provider is sent: memories.content, memory_synthesis_jobs.conversations, voice_recordings.audio_data, and skill_runs.llm, '
  'which is all that skills would ask a model';
comment on column public.privacy_settings.redact_names is
  'of people and places: placeholders stand for them in what is sent, and they are put back in what is answered';

do $$
begin
  call helix.protect('privacy_settings', 'select, insert, update, delete');
end $$;
