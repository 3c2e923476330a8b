-- What a user says to have a skill run, and the search of transcripts by their
-- language. Every statement may run again.

set local lock_timeout = '2s'; -- a foreign key to auth.users locks it: better to try again than to queue sign-ins

do $$
begin
  call helix.require_adoptable('{"voice_recordings": {"boolean": "memo", "jsonb": "actions"}}', '{voice_commands}');
end $$;

create table if not exists public.voice_commands (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null default auth.uid() references auth.users (id) on delete cascade,
  phrase text not null,
  skill_id uuid references public.skills (id) on delete set null,
  arguments jsonb,
  enabled boolean not null default true,
  created_at timestamptz not null default now()
);
comment on table public.voice_commands is 'a transcript that is the phrase becomes a row of skill_runs';
comment on column public.voice_commands.phrase is
  'words, {slots}, [optional parts] and (one|or another): "[please] (remind|tell) me to {task}"; "..." at an end: more may be said there';
comment on column public.voice_commands.skill_id is 'null: the skill was deleted; transcripts that are the phrase say so';
comment on column public.voice_commands.arguments is
  'the run''s input: {"name": "text with {slot}" | number | boolean}; null: each slot under its name';
create index if not exists voice_commands_user_id_created_at_idx on public.voice_commands (user_id, created_at, id);
create index if not exists voice_commands_skill_id_idx on public.voice_commands (skill_id);

do $$
begin
  call helix.protect('voice_commands', 'select, insert, update, delete');
end $$;

-- Its successor, voice_recordings_words_idx, is made beside the functions that share its expression.
drop index if exists public.voice_recordings_transcript_idx;
