call helix.install_guard('memories',
  fixed => '{}',
  client => '{type,content,embedding,emotional_valence,created_at,last_accessed}',
  results => '{content_rev,embedding_indexed,embedding_stale}',
  required => '{id,user_id}',
  limits => '{"content": 1048576}',
  rules => array[
    ['type', $$new.type not in ('episodic', 'semantic', 'procedural')$$, 'type is not episodic, semantic or procedural'],
    ['emotional_valence', 'new.emotional_valence not between -1 and 1', 'emotional_valence is not between -1 and 1']]);

call helix.install_inbox('memories', '{delete}', '{id}');

-- What else patterns are made of, and what an embedding is of. The trigger names no
-- column: an app could not change the type of one that it does.
create or replace function helix.bump_memory_rev() returns trigger
language plpgsql security invoker set search_path = '' as $$
begin
  if (old.content, old.emotional_valence, old.created_at) is distinct from (new.content, new.emotional_valence, new.created_at) then
    new.content_rev := old.content_rev + 1;
    if old.content is distinct from new.content then
      new.embedding_stale := true;
    end if;
  end if;
  return new;
end $$;
revoke all on function helix.bump_memory_rev() from public, anon, authenticated, service_role;
create or replace trigger helix_content_rev_content before update on public.memories for each row execute function helix.bump_memory_rev();

-- After all others: an app's own trigger may set the embedding, and one that comes
-- with its content is of that.
create or replace function helix.embedding_changed() returns trigger
language plpgsql security invoker set search_path = '' as $$
begin
  new.embedding_stale := new.embedding is null and new.content <> '' is true;
  if tg_op = 'UPDATE' then
    new.content_rev := old.content_rev + 1;
  end if;
  return new;
end $$;
revoke all on function helix.embedding_changed() from public, anon, authenticated, service_role;
do $$
begin
  if exists (select from pg_catalog.pg_attribute where attrelid = 'public.memories'::regclass and attname = 'embedding'
      and not attisdropped) then
    if exists (select from pg_catalog.pg_trigger where tgrelid = 'public.memories'::regclass and tgname = 'helix_content_rev') then
      drop trigger helix_content_rev on public.memories; -- of before; to look for it so would lock out readers each time
    end if;
    create or replace trigger z_helix_embedding_insert before insert on public.memories for each row
      when (new.embedding is null) execute function helix.embedding_changed();
    create or replace trigger z_helix_embedding_update before update of embedding on public.memories for each row
      when (row(old.embedding)::record operator(pg_catalog.*<>) row(new.embedding)::record) execute function helix.embedding_changed();
    -- Of an app's trigger, whose update names the content only.
    create or replace trigger z_helix_embedding_with_content before update on public.memories for each row
      when (new.embedding_stale and not old.embedding_stale and row(old.embedding)::record operator(pg_catalog.*<>) row(new.embedding)::record)
      execute function helix.embedding_changed();
  end if;
end $$;

-- 55.356 h, 2.3065 days, is FSRS-6's stability after one Good: what a memory has
-- from its beginning, before helixd has seen it.
create or replace view public.memories_with_retention with (security_invoker = true) as
select m.id, m.user_id, m.type, m.content, m.emotional_valence, m.created_at, m.last_accessed,
  helix.fsrs(1, ((extract(epoch from now()) - extract(epoch from coalesce(r.last_reinforced, helix.utc(m.created_at)))) / 3600)::double precision, -- an infinite time has an epoch, and no difference
    coalesce(r.stability_hours, 55.356)) as retention,
  r.stability_hours, r.difficulty, r.last_reinforced, r.reinforcements
from public.memories m left join public.memory_retention r on r.memory_id = m.id;
comment on view public.memories_with_retention is 'memories with their retention, 0 to 1, as of now()';
revoke all on public.memories_with_retention from public, anon, authenticated, service_role;
grant select on public.memories_with_retention to authenticated, service_role;

-- How the vector index is made, what follows "create index … on public.memories";
-- null where there can be none. Half precision holds twice as many memories in a
-- page. They are normalised first, since a half ends at 65504. Before pgvector 0.8
-- an index cannot be asked for more than its first guesses, which may all be
-- other users': then there is none.
do $$
declare
  schema text := helix.vector_schema();
  definition text;
begin
  if schema is not null and to_regprocedure(format('%I.l2_normalize(%1$I.vector)', schema)) is not null then
    execute format('select %L::%I.vector::text', '[1]', schema); -- pgvector tells of its settings once it is loaded
    if current_setting('hnsw.iterative_scan', true) is not null then
      select format('using hnsw ((%1$I.l2_normalize(embedding)::%1$I.halfvec(%2$s)) %1$I.halfvec_cosine_ops) where embedding_indexed', schema, a.atttypmod)
        into definition
      from pg_catalog.pg_attribute a join pg_catalog.pg_class c on c.oid = a.attrelid and c.relkind = 'r'
      where a.attrelid = 'public.memories'::regclass and a.attname = 'embedding' and not a.attisdropped
        and a.atttypid = to_regtype(format('%I.vector', schema)) and a.atttypmod between 1 and 4000;
    end if;
  end if;
  execute format('create or replace function helix.vector_index() returns text language sql immutable return %L::text', definition);
  if definition is not null and to_regclass('public.memories_recall_idx') is null and not exists (select from public.memories) then
    -- Of a table with rows helixd makes it, while apps write: it takes minutes.
    execute 'create index memories_recall_idx on public.memories ' || definition;
    drop index if exists public.memories_embedding_idx;
  end if;
end $$;
revoke all on function helix.vector_index() from public, anon, authenticated, service_role;

-- The caller's memories nearest to an embedding. With a weight w of 0 to 1 they
-- are ordered by (1 - w)·similarity + w·retention, of four times as many.
--
-- Comparing all n memories of the user takes n steps. The index knows nothing of
-- users: to find k of theirs among N it visits k·N/n, each for some five of these
-- steps, so it is asked where n² > 5·k·N, and never for 5,000 or fewer, which are
-- compared in 40 ms. k is more than are wanted: distances are compared again, since
-- the index has halves and gives them out of order. Where it ends its search before
-- it has k, at 20,000 memories, those that it has found are not the nearest; then
-- all are compared, as those out of the index always are.
do $$
declare
  schema text := helix.vector_schema();
  dimensions integer;
begin
  select atttypmod into dimensions from pg_catalog.pg_attribute where attrelid = 'public.memories'::regclass and attname = 'embedding'
    and not attisdropped and atttypid = to_regtype(format('%I.vector', schema));
  if not found then
    return;
  end if;
  execute format($def$
    create or replace function public.match_memories(query_embedding %1$I.vector, match_count integer default 10,
      min_similarity double precision default 0, types text[] default null, weight_retention double precision default 0)
    returns table (id uuid, type text, content text, emotional_valence double precision, created_at timestamptz,
      last_accessed timestamptz, similarity double precision, retention double precision)
    language plpgsql stable security invoker set search_path = '' set jit = off%6$s as $body$
    #variable_conflict use_variable
    declare
      me constant uuid := auth.uid();
      weight constant double precision := case when weight_retention between 0 and 1 then weight_retention
        when weight_retention > 1 and weight_retention <> 'NaN' then 1 else 0 end;
      wanted constant integer := least(greatest(coalesce(match_count, 10), 0), 1000) * case when weight > 0 then 4 else 1 end;
      candidates uuid[];
    begin
      if me is null or query_embedding is null or wanted = 0 then
        return;
      end if;%4$s%5$s
      return query
        with nearest as materialized (
          -- + 0: an index of the app's own would stop before the user's are found
          select m.id, (m.embedding operator(%1$I.<=>) query_embedding) + 0 as distance from public.memories m
          where candidates is null and m.user_id = me and m.embedding is not null and (types is null or m.type = any (types))%7$s
          union all
          select m.id, (m.embedding operator(%1$I.<=>) query_embedding) + 0 from public.memories m
          where m.id = any (candidates) and m.user_id = me
          union all
          select m.id, (m.embedding operator(%1$I.<=>) query_embedding) + 0 from public.memories m
          where candidates is not null and m.user_id = me and not m.embedding_indexed and m.embedding is not null
            and (types is null or m.type = any (types))
          order by distance
          limit wanted)
        select m.id, m.type::text, m.content::text, m.emotional_valence::double precision, %2$s, %3$s,
          1 - n.distance, m.retention
        from nearest n join public.memories_with_retention m on m.id = n.id
        where 1 - n.distance >= coalesce(min_similarity, -1) and n.distance >= -0.000001 and n.distance <> 'NaN' -- as a zero vector's is
        order by (1 - n.distance) * (1 - weight) + coalesce(m.retention, 0) * weight desc, m.id
        limit least(greatest(coalesce(match_count, 10), 0), 1000);
    end $body$;
    comment on function public.match_memories(%1$I.vector, integer, double precision, text[], double precision) is 'the caller''s own memories by cosine similarity';
    revoke all on function public.match_memories(%1$I.vector, integer, double precision, text[], double precision) from public, anon, authenticated, service_role;
    grant execute on function public.match_memories(%1$I.vector, integer, double precision, text[], double precision) to authenticated, service_role;
  $def$, schema,
    -- helix.utc in words, since the caller may not use schema helix
    (select format('m.created_at%s', case atttypid when 'timestamp'::regtype then ' at time zone ''utc''' end)
      from pg_catalog.pg_attribute where attrelid = 'public.memories'::regclass and attname = 'created_at'),
    (select format('m.last_accessed%s', case atttypid when 'timestamp'::regtype then ' at time zone ''utc''' end)
      from pg_catalog.pg_attribute where attrelid = 'public.memories'::regclass and attname = 'last_accessed'),
    case when dimensions > 0 then format($check$
      if %1$I.vector_dims(query_embedding) <> %2$s then
        raise exception 'query_embedding has %% dimensions, memories.embedding has %2$s', %1$I.vector_dims(query_embedding)
          using errcode = 'data_exception', hint = 'Ask with an embedding of the model that made those of the memories.';
      end if;$check$, schema, dimensions) end,
    case when helix.vector_index() is not null then format($search$
      if exists (select from pg_catalog.pg_index where indexrelid = to_regclass('public.memories_recall_idx') and indisvalid) then
        declare
          many constant integer := greatest(2 * wanted, 100);
          most constant integer := sqrt(5.0 * many * (select greatest(c.reltuples, 50000) from pg_catalog.pg_class c where c.oid = 'public.memories'::regclass));
        begin
          if (select count(*) from (select from public.memories m where m.user_id = me and (types is null or m.type = any (types))
              limit most + 1) own) > most then
            perform set_config('enable_sort', 'off', true); -- else the user's would all be sorted, where the planner knows no better
            candidates := array(select m.id from public.memories m
              where m.user_id = me and m.embedding_indexed and (types is null or m.type = any (types))
              order by %1$I.l2_normalize(m.embedding)::%1$I.halfvec(%2$s) operator(%1$I.<=>) %1$I.l2_normalize(query_embedding)::%1$I.halfvec(%2$s)
              limit many);
            perform set_config('enable_sort', 'on', true);
            if cardinality(candidates) < many then
              candidates := null;
            end if;
          end if;
        end;
      end if;$search$, schema, dimensions) end,
    case when helix.vector_index() is not null then $settings$
      set enable_sort = on set hnsw.iterative_scan = 'relaxed_order' set hnsw.ef_search = 400$settings$ end,
    case when dimensions is distinct from null and dimensions < 1 then format($mixed$
            and %1$I.vector_dims(m.embedding) = %1$I.vector_dims(query_embedding)$mixed$, schema) end);
end $$;
