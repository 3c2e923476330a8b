call helix.install_guard('voice_recordings',
  fixed => '{}',
  client => '{audio_data,storage_path,mime_type,language,keep_audio,created_at}',
  results => '{status,transcript,transcript_confidence,words,detected_language,duration_ms,processed_audio,provider,error,attempts,processed_at,content_rev}',
  required => '{id,user_id}',
  limits => '{"audio_data": [1, 52428800], "storage_path": [3, 1100], "mime_type": 200, "language": 35}',
  rules => array[['storage_path', $$tg_op = 'INSERT' and num_nonnulls(new.audio_data, new.storage_path) <> 1$$,
    'storage_path or audio_data must be given, and not both']],
  transitions => $${"status": "old.status = 'failed' and new.status = 'pending'"}$$,
  finish => $$if tg_op = 'UPDATE' and old.status = 'failed' and new.status = 'pending' and new.error is not distinct from old.error then
    new.error := null;
  end if;$$);

call helix.install_inbox('voice_recordings', '{delete}', '{id}');

create or replace trigger helix_content_rev before update of audio_data on public.voice_recordings for each row
  when (old.audio_data is distinct from new.audio_data) execute function helix.bump_content_rev();

-- The caller's recordings by words, quoted phrases, OR and -not, the best first.
do $$
begin
  execute format($def$
    create or replace function public.search_transcripts(query text, match_count integer default 10)
    returns table (id uuid, created_at timestamptz, highlights text, rank real)
    language sql stable security invoker set search_path = '' as $body$
      select f.id, f.created_at, ts_headline('simple', f.transcript, f.q, 'MaxFragments=3, MaxWords=20, MinWords=5'), f.rank
      from (
        select v.id, v.created_at%s as created_at, left(v.transcript, 200000) as transcript, q,
          ts_rank(to_tsvector('simple', left(v.transcript, 200000)), q) as rank
        from public.voice_recordings v, websearch_to_tsquery('simple', query) q
        where v.user_id = (select auth.uid()) and to_tsvector('simple', left(v.transcript, 200000)) @@ q
        order by rank desc, v.created_at desc
        limit least(greatest(coalesce(match_count, 10), 0), 200)) f
      order by f.rank desc, f.created_at desc
    $body$
  $def$, (select case atttypid when 'timestamp'::regtype then ' at time zone ''utc''' end
    from pg_catalog.pg_attribute where attrelid = 'public.voice_recordings'::regclass and attname = 'created_at'));
end $$;
comment on function public.search_transcripts(text, integer) is
  'the caller''s own recordings by words; matches are between <b> and </b> in highlights, the rest is not escaped';
revoke all on function public.search_transcripts(text, integer) from public, anon, authenticated, service_role;
grant execute on function public.search_transcripts(text, integer) to authenticated, service_role;
