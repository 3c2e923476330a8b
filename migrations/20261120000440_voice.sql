-- voice_recordings. Every statement may run again.

set local lock_timeout = '2s'; -- a foreign key to auth.users locks it: better to try again than to queue sign-ins

-- An old recording has a transcript, or has failed until someone asks for one: an
-- adoption never buys transcriptions by itself. The columns come with that as
-- their default, which rewrites nothing; only rows that are done are updated.
do $$
begin
  if to_regclass('public.voice_recordings') is null then
    return;
  end if;
  if exists (select from pg_catalog.pg_attribute where attrelid = 'public.voice_recordings'::regclass and attname = 'status'
      and not attisdropped) then
    return;
  end if;
  alter table public.voice_recordings
    add column if not exists transcript text,
    add column status text not null default 'failed' check (status in ('pending', 'processing', 'done', 'failed')),
    add column if not exists error jsonb default '{"code": "predates_helixd", "retryable": true, "message": "This recording is older than helixd: set status to pending to have it transcribed."}';
  alter table public.voice_recordings alter column status set default 'pending', alter column error drop default;
  call helix.without_triggers('voice_recordings',
    'update public.voice_recordings set status = ''done'', error = null where transcript <> ''''');
end $$;

create table if not exists public.voice_recordings (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null default auth.uid() references auth.users (id) on delete cascade,
  status text not null default 'pending' check (status in ('pending', 'processing', 'done', 'failed'))
);
alter table public.voice_recordings -- a project may have it, with some of these
  add column if not exists audio_data bytea,
  add column if not exists created_at timestamptz not null default now(),
  add column if not exists storage_path text,
  add column if not exists mime_type text,
  add column if not exists language text,
  add column if not exists keep_audio boolean not null default false,
  add column if not exists transcript text,
  add column if not exists error jsonb,
  add column if not exists transcript_confidence double precision,
  add column if not exists words jsonb,
  add column if not exists detected_language text,
  add column if not exists duration_ms bigint,
  add column if not exists processed_audio bytea,
  add column if not exists provider text,
  add column if not exists attempts integer not null default 0,
  add column if not exists processed_at timestamptz,
  add column if not exists content_rev bigint not null default 0;
do $$
begin
  call helix.add_default('voice_recordings', 'id', 'gen_random_uuid()');
  call helix.add_default('voice_recordings', 'user_id', 'auth.uid()');
  call helix.add_default('voice_recordings', 'created_at', 'now()');
  call helix.add_default('voice_recordings', 'status', '''pending''');
  call helix.protect('voice_recordings', 'select, insert, update, delete');
end $$;
comment on column public.voice_recordings.storage_path is '''bucket/path'' in Supabase Storage, instead of audio_data';
comment on column public.voice_recordings.mime_type is 'a hint; the content decides';
comment on column public.voice_recordings.processed_audio is '16 kHz mono 16-bit WAV, where keep_audio asks for it';
comment on column public.voice_recordings.content_rev is 'counts changes of audio_data, which the stream leaves out';
create index if not exists voice_recordings_user_id_created_at_idx on public.voice_recordings (user_id, created_at desc);
create index if not exists voice_recordings_open_idx on public.voice_recordings (created_at) where status in ('pending', 'processing');
