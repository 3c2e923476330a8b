call helix.install_guard('memories',
  fixed => '{}',
  client => '{type,content,embedding,emotional_valence,created_at,last_accessed}',
  results => '{content_rev}',
  required => '{id,user_id}',
  limits => '{"content": 1048576}',
  rules => array[
    ['type', $$new.type not in ('episodic', 'semantic', 'procedural')$$, 'type is not episodic, semantic or procedural'],
    ['emotional_valence', 'new.emotional_valence not between -1 and 1', 'emotional_valence is not between -1 and 1']]);

call helix.install_inbox('memories', '{delete}', '{id}');

do $$
begin
  if exists (select from pg_catalog.pg_attribute where attrelid = 'public.memories'::regclass and attname = 'embedding'
      and not attisdropped) then
    create or replace trigger helix_content_rev before update of embedding on public.memories for each row
      when (old.embedding::text is distinct from new.embedding::text) execute function helix.bump_content_rev();
  end if;
end $$;

-- 55.356 h, 2.3065 days, is FSRS-6's stability after one Good: what a memory has
-- from its beginning, before helixd has seen it.
create or replace view public.memories_with_retention with (security_invoker = true) as
select m.id, m.user_id, m.type, m.content, m.emotional_valence, m.created_at, m.last_accessed,
  helix.fsrs(1, (extract(epoch from now() - coalesce(r.last_reinforced, helix.utc(m.created_at))) / 3600)::double precision,
    coalesce(r.stability_hours, 55.356)) as retention,
  r.stability_hours, r.difficulty, r.last_reinforced, r.reinforcements
from public.memories m left join public.memory_retention r on r.memory_id = m.id;
comment on view public.memories_with_retention is 'memories with their retention, 0 to 1, as of now()';
revoke all on public.memories_with_retention from public, anon, authenticated, service_role;
grant select on public.memories_with_retention to authenticated, service_role;

-- The caller's memories nearest to an embedding. With a weight w of 0 to 1 they
-- are ordered by (1 - w)·similarity + w·retention, of four times as many.
do $$
declare
  schema text := helix.vector_schema();
begin
  if not exists (select from pg_catalog.pg_attribute where attrelid = 'public.memories'::regclass and attname = 'embedding'
      and not attisdropped and atttypid = to_regtype(format('%I.vector', schema))) then
    return;
  end if;
  execute format($def$
    create or replace function public.match_memories(query_embedding %1$I.vector, match_count integer default 10,
      min_similarity double precision default 0, types text[] default null, weight_retention double precision default 0)
    returns table (id uuid, type text, content text, emotional_valence double precision, created_at timestamptz,
      last_accessed timestamptz, similarity double precision, retention double precision)
    language sql stable security invoker set search_path = '' as $body$
      with nearest as materialized (
        select m.id, 1 - (m.embedding operator(%1$I.<=>) query_embedding) as similarity
        from public.memories m
        where m.user_id = (select auth.uid()) and m.embedding is not null and (types is null or m.type = any (types))
        order by m.embedding operator(%1$I.<=>) query_embedding
        limit least(greatest(coalesce(match_count, 10), 0), 1000) * case when weight_retention > 0 then 4 else 1 end)
      select m.id, m.type, m.content, m.emotional_valence, %2$s, %3$s,
        n.similarity, m.retention
      from nearest n join public.memories_with_retention m on m.id = n.id
      where n.similarity >= coalesce(min_similarity, -1) and n.similarity <= 1.000001 -- a zero vector gives NaN, above all
      order by n.similarity * (1 - coalesce(weight_retention, 0))
        + coalesce(m.retention, 0) * coalesce(weight_retention, 0) desc, m.id
      limit least(greatest(coalesce(match_count, 10), 0), 1000)
    $body$;
    comment on function public.match_memories is 'the caller''s own memories by cosine similarity';
    revoke all on function public.match_memories from public, anon, authenticated, service_role;
    grant execute on function public.match_memories to authenticated, service_role;
  $def$, schema,
    -- helix.utc in words, since the caller may not use schema helix
    (select format('m.created_at%s', case atttypid when 'timestamp'::regtype then ' at time zone ''utc''' end)
      from pg_catalog.pg_attribute where attrelid = 'public.memories'::regclass and attname = 'created_at'),
    (select format('m.last_accessed%s', case atttypid when 'timestamp'::regtype then ' at time zone ''utc''' end)
      from pg_catalog.pg_attribute where attrelid = 'public.memories'::regclass and attname = 'last_accessed'));
  -- The index knows nothing of users: it looks further until enough are the
  -- caller's. pgvector has this since 0.8, and tells once it is loaded.
  execute format('select %L::%I.vector::text', '[1]', schema);
  if current_setting('hnsw.iterative_scan', true) is not null then
    alter function public.match_memories set hnsw.iterative_scan = 'strict_order';
  end if;
end $$;
