call helix.install_guard('voice_recordings',
  fixed => '{}',
  client => '{audio_data,storage_path,mime_type,language,keep_audio,memo,created_at}',
  results => '{status,transcript,transcript_confidence,words,detected_language,duration_ms,processed_audio,provider,error,actions,attempts,processed_at,content_rev}',
  required => '{id,user_id}',
  limits => '{"audio_data": [1, 52428800], "storage_path": [3, 1100], "mime_type": 200, "language": 35}',
  rules => array[['storage_path', $$tg_op = 'INSERT' and num_nonnulls(new.audio_data, new.storage_path) <> 1$$,
    'storage_path or audio_data must be given, and not both'],
    ['storage_path', $$(tg_op = 'INSERT' or new.storage_path is distinct from old.storage_path)
      and (new.storage_path !~ '^[^/]+/[^/]' or new.storage_path ~ '://|//|(^|/)\.{1,2}(/|$)|[\\%[:cntrl:]]')$$,
    'storage_path is bucket/path, without "..", encodings or a URL']],
  transitions => $${"status": "old.status = 'failed' and new.status = 'pending'"}$$,
  finish => $$if tg_op = 'UPDATE' then
    if old.status = 'failed' and new.status = 'pending' and new.error is not distinct from old.error then
      new.error := null;
    end if;
    if num_nonnulls(new.audio_data, new.storage_path) = 2 and num_nonnulls(old.audio_data, old.storage_path) < 2 then
      raise exception 'storage_path or audio_data must be given, and not both'
        using errcode = 'check_violation', column = 'storage_path', hint = 'Set the other one to null.';
    end if;
  end if;$$);

call helix.install_inbox('voice_recordings', '{delete}', '{id}');

-- New audio is transcribed, and what is told of the old one's error is over. An
-- app that drops audio once there is a transcript asks for nothing.
create or replace function helix.audio_changed() returns trigger
language plpgsql security invoker set search_path = '' as $$
begin
  new.content_rev := old.content_rev + 1;
  if new.storage_path is distinct from old.storage_path and new.storage_path is not null
      or new.audio_data is not null and new.audio_data is distinct from old.audio_data then
    new.status := 'pending';
    new.error := null;
  end if;
  return new;
end $$;
revoke all on function helix.audio_changed() from public, anon, authenticated, service_role;

-- It compares audio only where a statement sets it: what the guard would have to
-- read at each update.
create or replace trigger helix_content_rev before update of audio_data, storage_path on public.voice_recordings for each row
  when (old.storage_path is distinct from new.storage_path or old.audio_data is distinct from new.audio_data)
  execute function helix.audio_changed();

-- Full-text search. A transcript's words are those of its language: detected, else
-- hinted at, else taken as they are. Built-in functions only: who writes a row
-- needs the right to call what its index calls.
do $$
declare
  config constant text := (select format(
      $sql$case lower(split_part(translate(coalesce(nullif(v.detected_language, ''), v.language), '_', '-'), '-', 1)) %s else 'pg_catalog.simple'::pg_catalog.regconfig end$sql$,
      string_agg(format('when %L then %L::pg_catalog.regconfig', tag, 'pg_catalog.' || name), ' ' order by tag))
    from (values ('arabic', 'ar'), ('armenian', 'hy'), ('basque', 'eu'), ('catalan', 'ca'), ('danish', 'da'), ('dutch', 'nl'),
      ('english', 'en'), ('finnish', 'fi'), ('french', 'fr'), ('german', 'de'), ('greek', 'el'), ('hindi', 'hi'), ('hungarian', 'hu'),
      ('indonesian', 'id'), ('irish', 'ga'), ('italian', 'it'), ('lithuanian', 'lt'), ('nepali', 'ne'), ('norwegian', 'nb'),
      ('norwegian', 'nn'), ('norwegian', 'no'), ('portuguese', 'pt'), ('romanian', 'ro'), ('russian', 'ru'), ('serbian', 'sr'),
      ('spanish', 'es'), ('swedish', 'sv'), ('tamil', 'ta'), ('turkish', 'tr'), ('yiddish', 'yi')) t (name, tag));
  -- A tsvector has at most 1 MB, and a transcript must never fail for it. Of
  -- 200,000 characters, about four hours of speech, no text makes more than 800 kB:
  -- without hyphens and slashes no character is in two words. What looks like
  -- markup was said as well.
  words constant text := format($sql$to_tsvector(%s, translate(left(v.transcript, %%s), '-/<>&', '     '))$sql$, config);
  every constant text := format(words, 200000);
begin
  -- Under another name it is built anew: when the expression changes, so must the name.
  if to_regclass('public.voice_recordings_words_idx') is null then
    execute format('create index voice_recordings_words_idx on public.voice_recordings using gin (%s)', replace(every, 'v.', ''));
  end if;

  -- The newest of the caller's own recordings that match, with what they matched:
  -- a query in their language, or, in scripts that put no spaces between words, a
  -- part of the text. With its owner's rights, since row-level security keeps a
  -- caller's condition from the index: its operator is not leakproof. Who may see
  -- the rows is decided where they are read, in search_transcripts. Of its
  -- search_path clone_skill says why.
  execute format($def$
    create or replace function helix.find_transcripts(query text) returns table (id uuid, words tsquery, part text)
    language plpgsql stable security definer set search_path = pg_catalog, pg_temp rows 100 as $body$
    declare
      caller constant pg_catalog.uuid := auth.uid();
      asked constant pg_catalog.text := regexp_replace(left(query, 1000), '(\w)[-/](?=\w)', '\1 ', 'g');
      unspaced constant pg_catalog.text := '[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3040-\u30FF\u3400-\u4DBF\u4E00-\u9FFF\uAC00-\uD7AF\U00020000-\U0003FFFF]';
      parts pg_catalog.text[];
      config pg_catalog.regconfig;
    begin
      if asked ~ unspaced then
        parts := array(select p[1] from regexp_matches(lower(asked), '(?:^|[\s"])([^\s"-][^\s"]*)', 'g') p where p[1] ~ unspaced);
        return query
          select v.id, null::pg_catalog.tsquery, parts[1] from public.voice_recordings v
          where v.user_id = caller and cardinality(parts) > 0
            and v.transcript is not null and not exists (select from (select lower(left(v.transcript, 200000)) as heard offset 0) l, unnest(parts) p
              where strpos(l.heard, p) = 0) -- in lower case once, not for each part
          order by v.created_at desc limit 200;
        return;
      end if;
      for config in select distinct %1$s from public.voice_recordings v where v.user_id = caller and v.transcript is not null loop
        words := websearch_to_tsquery(config, asked);
        continue when coalesce(numnode(words), 0) = 0;
        -- Planned with what is asked: by this index, the user's, or both.
        return query execute $sql$
          select v.id, $2, null::pg_catalog.text from public.voice_recordings v
          where v.user_id = $1 and %1$s = $3 and %2$s @@ $2
          order by v.created_at desc limit 200$sql$ using caller, words, config;
      end loop;
    end $body$
  $def$, config, every);

  -- The caller's recordings by words, quoted phrases, OR and -not, the best first.
  -- The rank looks at the first 20,000 characters. Markup is made text before the
  -- highlights get theirs, so that an app may show them as HTML.
  execute format($def$
    create or replace function public.search_transcripts(query text, match_count integer default 10)
    returns table (id uuid, created_at timestamptz, highlights text, rank real)
    language sql stable security invoker set search_path = '' begin atomic
      select f.id, f.created_at,
        case when f.part is null then
            ts_headline(f.config, s.shown, f.words, 'StartSel=<b>, StopSel=</b>, MaxFragments=3, MaxWords=20, MinWords=5, ShortWord=0')
          else substr(s.shown, greatest(s.at - 80, 1), least(s.at - 1, 80)) || '<b>' || substr(s.shown, s.at, length(s.part)) || '</b>'
            || substr(s.shown, s.at + length(s.part), 80) end,
        f.rank
      from (
        select v.id, v.created_at%1$s as created_at, left(v.transcript, 200000) as transcript, %2$s as config, m.words, m.part,
          coalesce(ts_rank(%3$s, m.words), 0)::real as rank
        from helix.find_transcripts(query) m join public.voice_recordings v on v.id = m.id
        where v.user_id = (select auth.uid())
        order by rank desc, created_at desc, v.id
        limit least(greatest(coalesce(match_count, 10), 0), 200)) f
      cross join lateral (select replace(replace(replace(f.transcript, '&', '&amp;'), '<', '&lt;'), '>', '&gt;') as shown,
        replace(replace(replace(f.part, '&', '&amp;'), '<', '&lt;'), '>', '&gt;') as part) e
      cross join lateral (select e.shown, e.part, strpos(lower(e.shown), e.part) as at) s
      order by f.rank desc, f.created_at desc, f.id;
    end
  $def$, (select case atttypid when 'timestamp'::regtype then ' at time zone ''utc''' end
      from pg_catalog.pg_attribute where attrelid = 'public.voice_recordings'::regclass and attname = 'created_at'),
    config, format(words, 20000));
end $$;
comment on function public.search_transcripts(text, integer) is
  'the caller''s own recordings by words; highlights are HTML: matches between <b> and </b>, all else escaped';
revoke all on function helix.find_transcripts(text), public.search_transcripts(text, integer) from public, anon, authenticated, service_role;
-- Nobody can name it, since schema helix is closed: search_transcripts calls it.
grant execute on function helix.find_transcripts(text), public.search_transcripts(text, integer) to authenticated, service_role;
