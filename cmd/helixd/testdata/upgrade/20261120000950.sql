-- A change of a wide column that the stream leaves out: a listed counter tells of
-- it. The triggers fire only where a statement sets such a column.
create or replace function helix.bump_content_rev() returns trigger
language plpgsql security invoker set search_path = '' as $$
begin
  new.content_rev := old.content_rev + 1;
  return new;
end $$;
revoke all on function helix.bump_content_rev() from public, anon, authenticated, service_role;

-- Retention: what is left of a strength S0 after some hours, 0 to 1. Each model
-- is S0·e^(-x) with an x of its own. Their bodies are bound when they are made,
-- so no search_path reaches into them, and the planner inlines them.

-- Hours that have passed: none before the beginning, and no more than any clock
-- will count.
create or replace function helix.passed(hours double precision) returns double precision
language sql immutable strict parallel safe
return case when hours > 1e-9 then least(hours, 1e9) else 0 end;

-- exp(-x) below 1e-308 raises an underflow, and so would a product.
create or replace function helix.decayed(strength double precision, x double precision) returns double precision
language sql immutable strict parallel safe
return case when x > 600 or not strength > 1e-40 then 0 else least(strength, 1) * exp(-x) end;

-- A time constant that can be divided by.
create or replace function helix.constant(hours double precision) returns double precision
language sql immutable strict parallel safe
return least(greatest(hours, 1e-9), 1e12);

-- S0·e^(-t/S)
create or replace function helix.ebbinghaus(strength double precision, hours double precision, stability_hours double precision)
returns double precision language sql immutable strict parallel safe
return helix.decayed(strength, helix.passed(hours) / helix.constant(stability_hours));

-- S0·0.5^(t/h)
create or replace function helix.half_life(strength double precision, hours double precision, half_life_hours double precision)
returns double precision language sql immutable strict parallel safe
return helix.decayed(strength, ln(2::double precision) * (helix.passed(hours) / helix.constant(half_life_hours)));

-- S0·(1 + t/tau)^(-b)
create or replace function helix.power_law(strength double precision, hours double precision, tau_hours double precision,
  exponent double precision) returns double precision language sql immutable strict parallel safe
return helix.decayed(strength, case when exponent > 1e-9 then least(exponent, 1e6) else 0 end * ln(1 + helix.passed(hours) / helix.constant(tau_hours)));

-- FSRS-6: S0·(1 + f·t/S)^d with d = -0.1542 and f = 0.9^(1/d) - 1, so that 0.9 is
-- left of 1 after the stability.
create or replace function helix.fsrs(strength double precision, hours double precision, stability_hours double precision)
returns double precision language sql immutable strict parallel safe
return helix.decayed(strength, 0.1542::double precision
  * ln(1 + (power(0.9::double precision, -1 / 0.1542::double precision) - 1) * (helix.passed(hours) / helix.constant(stability_hours))));

-- Retention of a psychology layer, by its own model and parameters where they are
-- null: 1 half-life 720 h, 2 Ebbinghaus 168 h, 3 power b 0.5 and tau 1 h, 4 half-life
-- 360 h, 5 Ebbinghaus 240 h, 6 half-life 480 h, 7 Ebbinghaus 1440 h, any other
-- Ebbinghaus 168 h.
create or replace function helix.layer_retention(layer_number integer, decay_model text, decay_params jsonb,
  initial_strength double precision, hours double precision) returns double precision language sql immutable parallel safe
return case coalesce(decay_model, case when layer_number in (1, 4, 6) then 'half_life' when layer_number = 3 then 'power' else 'ebbinghaus' end)
  when 'power' then helix.power_law(initial_strength, hours,
    coalesce((decay_params ->> 'hours')::double precision, 1), coalesce((decay_params ->> 'exponent')::double precision, 0.5))
  when 'half_life' then helix.half_life(initial_strength, hours, coalesce((decay_params ->> 'hours')::double precision,
    case layer_number when 1 then 720 when 4 then 360 when 5 then 240 when 6 then 480 when 7 then 1440 else 168 end))
  when 'fsrs' then helix.fsrs(initial_strength, hours, coalesce((decay_params ->> 'hours')::double precision,
    case layer_number when 1 then 720 when 4 then 360 when 5 then 240 when 6 then 480 when 7 then 1440 else 168 end))
  else helix.ebbinghaus(initial_strength, hours, coalesce((decay_params ->> 'hours')::double precision,
    case layer_number when 1 then 720 when 4 then 360 when 5 then 240 when 6 then 480 when 7 then 1440 else 168 end)) end;

revoke all on function helix.passed(double precision), helix.decayed(double precision, double precision),
  helix.constant(double precision), helix.ebbinghaus(double precision, double precision, double precision),
  helix.half_life(double precision, double precision, double precision),
  helix.power_law(double precision, double precision, double precision, double precision),
  helix.fsrs(double precision, double precision, double precision),
  helix.layer_retention(integer, text, jsonb, double precision, double precision)
  from public, anon, authenticated, service_role;
-- memories_with_retention runs these with its caller's rights.
grant execute on function helix.passed(double precision), helix.decayed(double precision, double precision),
  helix.constant(double precision), helix.fsrs(double precision, double precision, double precision),
  helix.utc(timestamp), helix.utc(timestamptz) to authenticated, service_role;

-- The column guard of a client table, written from a description of its columns
-- and from its catalog entry: one comparison a column, no lookups, no conversion
-- of a row to JSON. It runs with its caller's rights, and lets through only
-- members of service_role and of the table's owner; what makes a row impossible
-- it refuses to them too.
--
--   fixed        set at insert, never changed by a client, beside id and user_id
--   client       what a client writes; NULL becomes the default
--   results      what helixd writes: a client sends the default, or what is there
--   required     not null, on insert and where an update makes it so
--   limits       {"column": most} or [least, most]: characters of text, bytes of
--                all else; the numbers of a jsonb have at most 100 digits
--   rules        {column, what is refused, its message}, for a new or changed value
--   transitions  {"column": condition}: changes of a result that a client may make
--   finish       statements that run last
--
-- An app's own columns are in none of these, and stay the app's.
create or replace procedure helix.install_guard(tab text, fixed text[], client text[], results text[],
  required text[] default '{}', limits jsonb default '{}', rules text[] default '{}', transitions jsonb default '{}',
  finish text default '')
language plpgsql set search_path = '' as $install$
declare
  rel constant regclass := format('public.%I', tab)::regclass;
  kept constant text[] := array['id', 'user_id'] || fixed;
  defaults text := '';
  restores text := '';
  nulls text := '';
  emptied text := '';
  given text := '';
  changed text := '';
  checks text := '';
  col record;
  block text;
  low bigint;
  high bigint;
begin
  for col in
    select a.attname as name, quote_ident(a.attname) as q, a.atttypid::regtype::text as type,
      pg_get_expr(d.adbin, d.adrelid) as initial, a.attname = any (client) as is_client, a.attname = any (results) as is_result
    from pg_catalog.pg_attribute a left join pg_catalog.pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attrelid = rel and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      and a.attname = any (kept || client || results)
    order by a.attnum
  loop
    if col.initial is not null then
      defaults := defaults || format(E'    if new.%1$s is null then new.%1$s := %2$s; end if;\n', col.q, col.initial);
    end if;
    if col.initial is not null and col.is_client then
      restores := restores || format(E'    if new.%1$s is null and old.%1$s is not null then new.%1$s := %2$s; end if;\n', col.q,
        case col.name when 'created_at' then 'old.created_at' else col.initial end);
    end if;
    if col.name = any (required) then
      nulls := nulls || format(' when new.%s is null then %L', col.q, col.name);
      emptied := emptied || format(' when new.%1$s is null and old.%1$s is not null then %2$L', col.q, col.name);
    end if;
    if col.is_result then
      given := given || format(' when new.%s is distinct from %s then %L', col.q, coalesce(col.initial, 'null'), col.name);
    end if;
    if not col.is_client then
      changed := changed || format(E'\n        when new.%1$s is distinct from old.%1$s%2$s then %3$L', col.q,
        ' and not coalesce(' || (transitions ->> col.name) || ', false)', col.name);
    end if;

    block := '';
    if limits ? col.name then
      if jsonb_typeof(limits -> col.name) = 'array' then
        low := limits -> col.name -> 0;
        high := limits -> col.name -> 1;
      else
        low := 0;
        high := limits -> col.name;
      end if;
      if col.type = 'jsonb' then
        -- jsonb keeps 1e131071 in twelve bytes and prints 131,072 digits: a row of a
        -- few kilobytes could become a gigabyte in the stream. The numbers first:
        -- only then is its text known to be short. (jsonb_path_query alone would take
        -- time by the square of their count.)
        block := format($$
    if pg_column_size(new.%1$s) <= %2$s and exists (
      select from jsonb_array_elements(jsonb_path_query_array(new.%1$s, 'strict $.** ? (@.type() == "number")')) n where length(n::text) > 100) then
      raise exception '%3$s has a number of more than 100 digits'
        using errcode = 'check_violation', column = %3$L, hint = 'Send it as a string.';
    end if;
    if pg_column_size(new.%1$s) > %2$s or octet_length(new.%1$s::text) > %2$s then
      raise exception '%3$s is too large: at most %% bytes are possible', %2$s
        using errcode = 'check_violation', column = %3$L, hint = 'Keep files in Supabase Storage and their paths here.';
    end if;$$, col.q, high, col.name);
      elsif col.type in ('text', 'character varying') then
        block := format($$
    if char_length(new.%1$s) not between %2$s and %3$s then
      raise exception '%4$s has %% characters; it must have %2$s to %3$s', char_length(new.%1$s)
        using errcode = 'check_violation', column = %4$L;
    end if;$$, col.q, low, high, col.name);
      else
        block := format($$
    if %4$s(new.%1$s) not between %5$s and %2$s then
      raise exception '%3$s has %% bytes; it must have %5$s to %2$s', %4$s(new.%1$s)
        using errcode = 'check_violation', column = %3$L;
    end if;$$, col.q, high, col.name, case col.type when 'bytea' then 'octet_length' else 'pg_column_size' end, low);
      end if;
    end if;
    if not col.is_result and col.type in ('timestamp with time zone', 'timestamp without time zone') then
      block := block || format($$
    if not isfinite(new.%1$s) then
      raise exception '%2$s is infinite' using errcode = 'check_violation', column = %2$L;
    end if;$$, col.q, col.name);
    end if;
    for i in 1 .. coalesce(array_length(rules, 1), 0) loop
      if rules[i][1] = col.name then
        block := block || format($$
    if (%s) then
      raise exception using message = %L, errcode = 'check_violation', column = %L;
    end if;$$, rules[i][2], rules[i][3], col.name);
      end if;
    end loop;
    -- The size of a bytea is known without reading it; whether it is another one is not.
    if block <> '' and col.type = 'bytea' then
      checks := checks || format(E'\n  if octet_length(new.%1$s) not between %2$s and %3$s and (tg_op = ''INSERT'' or new.%1$s is distinct from old.%1$s) then%4$s\n  end if;',
        col.q, low, high, block);
    elsif block <> '' then
      checks := checks || format(E'\n  if tg_op = ''INSERT'' or new.%1$s is distinct from old.%1$s then%2$s\n  end if;', col.q, block);
    end if;
  end loop;

  execute format($def$
create or replace function helix.%1$I() returns trigger
language plpgsql security invoker set search_path = '' as $guard$
declare
  refused text;
begin
  if tg_op = 'INSERT' then
%2$s    refused := case%3$s end;
    if refused is not null then
      raise exception '%6$s.%% is null', refused using errcode = 'not_null_violation', column = refused;
    end if;
  else
%4$s  end if;
  if not pg_has_role(current_user, 'service_role', 'member') then
    if tg_op = 'INSERT' then
      refused := case%7$s end;
    else
      refused := case%8$s end;
    end if;
    if refused is not null and not pg_has_role(current_user,
        (select c.relowner from pg_catalog.pg_class c where c.oid = tg_relid), 'member') then
      if refused = any (%9$L) then
        raise exception '%6$s.%% cannot change: it belongs to the row for good', refused
          using errcode = 'insufficient_privilege', column = refused,
          hint = 'Write another row, or leave the column out; an upsert names all key columns in onConflict.';
      end if;
      raise exception '%6$s.%% is not a client''s to write', refused
        using errcode = 'insufficient_privilege', column = refused, hint = 'Leave the column out.';
    end if;
  end if;
  if tg_op = 'UPDATE' then
    refused := case%5$s end;
    if refused is not null then
      raise exception '%6$s.%% is null', refused using errcode = 'not_null_violation', column = refused;
    end if;
  end if;%10$s%11$s
  return new;
end $guard$$def$,
    'guard_' || tab, defaults, coalesce(nullif(nulls, ''), ' when false then null'), restores,
    coalesce(nullif(emptied, ''), ' when false then null'), tab, coalesce(nullif(given, ''), ' when false then null'), changed,
    kept, checks, E'\n  ' || finish);
  execute format('revoke all on function helix.%I() from public, anon, authenticated, service_role', 'guard_' || tab);
  execute format('create or replace trigger a_helix_guard before insert or update on %s for each row execute function helix.%I()',
    rel, 'guard_' || tab);
  if to_regclass(format('public.%I', tab || '_adopted')) is not null then
    -- An update through the parent fires the triggers of the table that has the row.
    execute format('create or replace trigger a_helix_guard before insert or update on public.%I for each row execute function helix.%I()',
      tab || '_adopted', 'guard_' || tab);
  end if;
end $install$;

revoke all on procedure helix.install_guard(text, text[], text[], text[], text[], jsonb, text[], jsonb, text)
  from public, anon, authenticated, service_role;

-- What the stream cannot say goes to helix.inbox: see its comment. One statement
-- a statement, however many rows it wrote. The arguments are the columns of the
-- row's key, and after '/' those of which an insert must have given, or an update
-- changed, at least one.

create or replace function helix.write_inbox() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  slash constant int := coalesce(array_position(tg_argv[0:], '/') - 1, tg_nargs);
  key constant text := coalesce((select string_agg(format('%L, r.%I', tg_argv[i], tg_argv[i]), ', ')
    from generate_series(0, slash - 1) i), '');
  changed constant text := (select string_agg(format('r.%I is distinct from o.%1$I', tg_argv[i]), ' or ')
    from generate_series(slash + 1, tg_nargs - 1) i);
  given constant text := (select string_agg(format('r.%I is not null', tg_argv[i]), ' or ')
    from generate_series(slash + 1, tg_nargs - 1) i);
begin
  execute format('insert into helix.inbox (table_name, op, key, user_id) '
    'select %L, %L, jsonb_build_object(%s), r.user_id from %s', tg_table_name, tg_op, key,
    case tg_op when 'DELETE' then 'gone r'
      when 'INSERT' then 'made r' || coalesce(' where ' || given, '')
      else 'made r join gone o using (id) where ' || changed end);
  return null;
end $$;

create or replace procedure helix.install_inbox(tab text, operations text[], key text[] default '{}', changed text[] default '{}')
language plpgsql set search_path = '' as $$
declare
  op text;
begin
  foreach op in array operations loop
    execute format('create or replace trigger %I after %s on public.%I referencing %s for each statement '
      'execute function helix.write_inbox(%s)', 'helix_inbox_' || op, op, tab,
      case op when 'delete' then 'old table as gone' when 'insert' then 'new table as made'
        else 'old table as gone new table as made' end,
      (select string_agg(quote_literal(a), ', ') from unnest(key || case when cardinality(changed) > 0 then array['/'] || changed else '{}' end) a));
  end loop;
end $$;

revoke all on function helix.write_inbox() from public, anon, authenticated, service_role;
revoke all on procedure helix.install_inbox(text, text[], text[], text[]) from public, anon, authenticated, service_role;

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

call helix.install_guard('psychology_layers',
  fixed => '{layer_number}',
  client => '{data,created_at}',
  results => '{layer_name,decay_rate,last_updated,initial_strength,last_reinforced,decay_model,decay_params}',
  required => '{id,user_id,layer_number}',
  limits => '{"data": 1048576}',
  rules => array[['layer_number', 'new.layer_number not between 1 and 7', 'layer_number is not one of the seven']],
  finish => $$if tg_op = 'INSERT' and new.layer_name is null then
    new.layer_name := ('{Narrative Core,Emotional Memory,Relational Memory,Prospective Self,Integration,Transformation,Purpose Engine}'::text[])[new.layer_number];
  end if;$$);

-- Whoever writes data reinforces the layer; helixd does not write it.
call helix.install_inbox('psychology_layers', '{insert,update}', '{layer_number}', '{data}');
call helix.install_inbox('psychology_layers', '{delete}', '{layer_number}');

call helix.install_guard('skills',
  fixed => '{}',
  client => '{name,description,kind,wasm_bytecode,source,steps,parameters,capabilities,limits,version,enabled,visibility,tags,schedule,active_sha256,created_at}',
  results => '{status,error,checks,sha256,checked_at,usage_count,content_rev}',
  required => '{id,name}',
  limits => '{"name": [1, 200], "description": 10000, "wasm_bytecode": 16777216, "source": 1048576, "steps": 1048576,
    "parameters": 262144, "capabilities": 16384, "limits": 16384, "version": 100, "tags": 16384, "schedule": 200, "active_sha256": 64}',
  rules => array[
    ['kind', $$new.kind not in ('wasm', 'javascript', 'composite')$$, 'kind is not wasm, javascript or composite'],
    ['visibility', $$new.visibility not in ('private', 'public')$$, 'visibility is not private or public']],
  finish => $$if new.active_sha256 is not null and (tg_op = 'INSERT' or new.active_sha256 is distinct from old.active_sha256)
      and not exists (select from public.skill_versions v where v.skill_id = new.id and v.sha256 = new.active_sha256) then
    raise exception 'active_sha256 is not a version of this skill'
      using errcode = 'check_violation', column = 'active_sha256', hint = 'See skill_versions.';
  end if;$$);

call helix.install_inbox('skills', '{delete}', '{id}');

-- New code is checked before it runs.
create or replace function helix.code_changed() returns trigger
language plpgsql security invoker set search_path = '' as $$
begin
  new.content_rev := old.content_rev + 1;
  new.status := 'pending';
  new.error := null;
  new.checks := null;
  new.sha256 := null;
  new.checked_at := null;
  if new.active_sha256 is not distinct from old.active_sha256 then
    new.active_sha256 := null;
  end if;
  return new;
end $$;

create or replace trigger helix_code_changed
  before update of kind, wasm_bytecode, source, steps, parameters, capabilities, limits on public.skills for each row
  when ((old.kind, old.source, old.steps, old.parameters, old.capabilities, old.limits)
      is distinct from (new.kind, new.source, new.steps, new.parameters, new.capabilities, new.limits)
    or old.wasm_bytecode is distinct from new.wasm_bytecode)
  execute function helix.code_changed();

-- A skill may be run, and granted something, by its owner; a public or a built-in
-- one by everybody. A foreign key would pass row-level security. It says the same
-- of a skill that is not there.
create or replace function helix.require_runnable() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if new.skill_id is not null and not exists (select from public.skills s where s.id = new.skill_id
      and (s.user_id = new.user_id or s.user_id is null or s.visibility = 'public')) then
    raise exception '%.skill_id is no skill that is this user''s own, public or built in', tg_table_name
      using errcode = 'insufficient_privilege', column = 'skill_id';
  end if;
  return new;
end $$;

call helix.install_guard('skill_grants',
  fixed => '{skill_id,sha256,capability}',
  client => '{created_at}',
  results => '{}',
  required => '{id,user_id,skill_id,sha256,capability}',
  limits => '{"sha256": [64, 64], "capability": [1, 300]}');

call helix.install_inbox('skill_grants', '{insert,delete}', '{skill_id,sha256,capability}');

create or replace trigger helix_require_runnable before insert or update of skill_id on public.skill_grants
  for each row execute function helix.require_runnable();

call helix.install_guard('skill_runs',
  fixed => '{skill_id,definition,input,dry_run}',
  client => '{created_at}',
  results => '{cancel_requested,status,output,error,step_results,steps_completed,total_steps,execution_context,audit_log,logs,execution_time_ms,cpu_ms,peak_memory_bytes,retries_used,started_at,finished_at}',
  required => '{id,user_id}',
  limits => '{"definition": 1048576, "input": 1048576}',
  rules => array[['skill_id', $$tg_op = 'INSERT' and num_nonnulls(new.skill_id, new.definition) <> 1$$,
    'skill_id or definition must be given, and not both']],
  transitions => '{"cancel_requested": "new.cancel_requested"}');

call helix.install_inbox('skill_runs', '{delete}', '{id}');

create or replace trigger helix_require_runnable before insert or update of skill_id on public.skill_runs
  for each row execute function helix.require_runnable();

revoke all on function helix.code_changed(), helix.require_runnable() from public, anon, authenticated, service_role;

-- Others' skills without what is in them: the view has its owner's rights, since
-- row-level security shows a user their own.
create or replace view public.public_skills with (security_barrier = true) as
select id, name, description, kind, parameters, capabilities, limits, version, enabled, tags, status, sha256, usage_count, created_at
from public.skills where visibility = 'public';
comment on view public.public_skills is 'skills that their owners made public, without source, bytecode and steps';
revoke all on public.public_skills from public, anon, authenticated, service_role;
grant select on public.public_skills to authenticated, service_role;

create or replace function public.clone_skill(id uuid) returns uuid
language plpgsql security definer set search_path = '' as $$
declare
  clone uuid;
begin
  if auth.uid() is null then
    raise exception 'nobody is signed in' using errcode = 'insufficient_privilege';
  end if;
  insert into public.skills (user_id, name, description, kind, wasm_bytecode, source, steps, parameters, capabilities, limits, version, tags)
  select auth.uid(), s.name, s.description, s.kind, s.wasm_bytecode, s.source, s.steps, s.parameters, s.capabilities, s.limits, s.version, s.tags
  from public.skills s
  where s.id = clone_skill.id and (s.visibility = 'public' or s.user_id is null or s.user_id = auth.uid())
  returning skills.id into clone;
  if clone is null then
    raise exception 'there is no public skill with this id' using errcode = 'no_data_found';
  end if;
  return clone;
end $$;
comment on function public.clone_skill(uuid) is 'copies a public skill into the caller''s own, and gives its id';
revoke all on function public.clone_skill(uuid) from public, anon, authenticated, service_role;
grant execute on function public.clone_skill(uuid) to authenticated;

-- Whether helixd is there, for apps: one row a reactor that the leader recorded,
-- or one for all.
create or replace function helix.status()
returns table (reactor text, running boolean, healthy boolean, lag_seconds double precision, queue_depth bigint, updated_at timestamptz)
language sql stable security definer set search_path = '' as $$
  select coalesce(r.reactor, 'helixd'), s.running, s.running and s.lag < 60 and coalesce(p.active, false), s.lag, q.depth, l.heartbeat_at
  from (select) one
  left join helix.reactors r on true
  left join lateral (select * from helix.leaders where slot = r.slot or r.slot is null order by heartbeat_at desc limit 1) l on true
  left join helix.checkpoints c on c.slot = l.slot
  left join pg_catalog.pg_replication_slots p on p.slot_name = l.slot
  left join lateral (
    -- that of the last apply says nothing of one that does not come, so a checkpoint
    -- that falls behind counts as well
    select greatest(case when c.updated_at > now() - interval '10 seconds' then c.lag_seconds end,
      case when pg_current_wal_lsn() - c.lsn > 64 << 20 then extract(epoch from now() - c.updated_at) end, 0) as seconds) lag on true
  cross join lateral (
    select coalesce(l.heartbeat_at > now() - interval '10 seconds', false) as running,
      case when l.heartbeat_at > now() - interval '10 seconds' then lag.seconds
        else extract(epoch from now() - l.heartbeat_at) end::double precision as lag) s
  cross join lateral (
    select count(*) as depth from (select from helix.river_job j
      where j.state in ('available', 'pending', 'retryable', 'running')
        and (j.queue = r.queue or r.reactor is null)
      limit 10000) waiting) q
$$;
comment on function helix.status() is 'queue_depth counts to 10,000; lag_seconds of one that is not running is since its last sign';
revoke all on function helix.status() from public, anon, authenticated, service_role;
grant execute on function helix.status() to authenticated, service_role;

create or replace view public.helix_status with (security_invoker = true) as
select reactor, running, healthy, lag_seconds, queue_depth, updated_at from helix.status();
comment on view public.helix_status is 'whether processing is online, and how far behind';
revoke all on public.helix_status from public, anon, authenticated, service_role;
grant select on public.helix_status to authenticated, service_role;

-- The result tables join Supabase Realtime's publication (postgres_changes).
-- A warning where helixd may not alter it: broadcasts work without.

do $$
declare
  t text;
begin
  if not exists (select from pg_catalog.pg_publication where pubname = 'supabase_realtime') then
    raise warning 'there is no publication supabase_realtime: postgres_changes will not show helixd''s results';
    return;
  end if;
  foreach t in array array['memory_patterns', 'memory_retention', 'memory_synthesis', 'memory_synthesis_jobs', 'psychology_layers',
      'skill_runs', 'skill_versions', 'skills', 'sync_conflicts', 'sync_entities', 'synthesis_recommendations', 'voice_recordings'] loop
    if not exists (select from pg_catalog.pg_publication_tables
        where pubname = 'supabase_realtime' and schemaname = 'public' and tablename = t) then
      begin
        execute format('alter publication supabase_realtime add table only public.%I', t);
      exception when insufficient_privilege then
        raise warning 'may not alter publication supabase_realtime; run as its owner: '
          'alter publication supabase_realtime add table only public.%', t;
      end;
    end if;
  end loop;
end $$;

-- The column guard of sync_conflicts: a client sets the resolution of an open
-- manual conflict, and nothing else. The inbox tells helixd of it.

create or replace function helix.guard_sync_conflicts() returns trigger
language plpgsql security invoker set search_path = '' as $$
declare
  changed text;
begin
  if pg_has_role(current_user, 'service_role', 'member') or pg_has_role(current_user,
      (select c.relowner from pg_catalog.pg_class c where c.oid = tg_relid), 'member') then
    return new;
  end if;
  select n.key into changed
  from jsonb_each(to_jsonb(new) - 'resolution') n
  where n.value is distinct from to_jsonb(old) -> n.key
  limit 1;
  if changed is not null then
    raise exception 'sync_conflicts.% cannot be changed by a client', changed
      using errcode = 'insufficient_privilege', hint = 'Set resolution, and nothing else.';
  end if;
  if new.resolution is distinct from old.resolution and (old.resolved or old.strategy <> 'manual') then
    raise exception 'sync_conflicts.resolution cannot change: this conflict is %',
      case when old.resolved then 'resolved' else 'not a manual one' end
      using errcode = 'insufficient_privilege';
  end if;
  if new.resolution is null or new.resolution is not distinct from old.resolution then
    return new;
  end if;
  if jsonb_typeof(new.resolution) <> 'object'
    or new.resolution - array['winner', 'data', 'deleted'] <> '{}'
    or new.resolution ? 'winner' and (new.resolution - 'winner' <> '{}'
      or new.resolution -> 'winner' not in ('0', '1'))
    or new.resolution ? 'deleted' and jsonb_typeof(new.resolution -> 'deleted') <> 'boolean'
    or not new.resolution ? 'winner' and not new.resolution ? 'data'
      and new.resolution -> 'deleted' is distinct from 'true' then
    raise exception 'resolution must be exactly one of {"winner": 0}, {"winner": 1}, {"data": {...}} and {"deleted": true}'
      using errcode = 'check_violation', column = 'resolution',
      hint = 'winner is the place in versions; data replaces both, and deleted: true removes the entity.';
  end if;
  -- As sync_state.data: see there.
  if pg_column_size(new.resolution) <= 16777216 and exists (
    select from jsonb_array_elements(jsonb_path_query_array(new.resolution, 'strict $.** ? (@.type() == "number")')) n
    where length(n::text) > 100) then
    raise exception 'resolution has a number of more than 100 digits'
      using errcode = 'check_violation', column = 'resolution', hint = 'Send it as a string.';
  end if;
  if pg_column_size(new.resolution) > 16777216 or octet_length((new.resolution -> 'data')::text) > 16777216 then
    raise exception 'resolution is too large; at most 16 MB of data is possible'
      using errcode = 'check_violation', column = 'resolution';
  end if;
  return new;
end $$;

create or replace trigger a_helix_guard before update on public.sync_conflicts
  for each row execute function helix.guard_sync_conflicts();

revoke all on function helix.guard_sync_conflicts() from public, anon, authenticated, service_role;

call helix.install_inbox('sync_conflicts', '{update}', '{id}', '{resolution}');

-- A policy is read with the writes that it is about; the inbox tells of it as of
-- any client table.
call helix.install_guard('sync_policies',
  fixed => '{entity_type}',
  client => '{strategy,options,created_at}',
  results => '{}',
  required => '{id,user_id,entity_type}',
  limits => '{"entity_type": [1, 200], "options": 16384}',
  rules => array[
    ['strategy', $$new.strategy not in ('last_write_wins', 'merge', 'manual')$$, 'strategy is not last_write_wins, merge or manual'],
    ['options', $$jsonb_typeof(new.options) <> 'object'$$, 'options is not an object; send {"arrays": "set"}, or {}'],
    ['options', $$not case jsonb_typeof(new.options -> 'arrays')
        when 'string' then new.options ->> 'arrays' in ('atomic', 'set', 'by_id')
        when 'object' then (select count(*) <= 100 and coalesce(bool_and(a.value in ('"atomic"', '"set"', '"by_id"')), true)
          from jsonb_each(case jsonb_typeof(new.options -> 'arrays') when 'object' then new.options -> 'arrays' end) a)
        else new.options -> 'arrays' is null end$$,
      'options.arrays is neither atomic, set or by_id nor an object of at most 100 of them; send {"arrays": {"tags": "set"}}']]);

call helix.install_inbox('sync_policies', '{insert,delete}', '{entity_type}');
call helix.install_inbox('sync_policies', '{update}', '{entity_type}', '{strategy,options}');

call helix.install_guard('sync_state',
  fixed => '{entity_type,entity_id,device_id}',
  client => '{data,vector_clock,last_modified,deleted,base_revision,created_at}',
  results => '{}',
  required => '{id,user_id,entity_type,entity_id,device_id}',
  limits => '{"entity_type": [1, 200], "device_id": [1, 200], "vector_clock": 1048576, "data": 16777216}',
  rules => array[
    ['vector_clock', $$jsonb_typeof(new.vector_clock) <> 'object'$$,
      'vector_clock is not an object of counters; send {"deviceA": 3, "deviceB": 1}'],
    ['vector_clock', $$jsonb_path_exists(
      case jsonb_typeof(new.vector_clock -> 'clocks') when 'object' then new.vector_clock -> 'clocks' else new.vector_clock end,
      'strict $.* ? (@.type() != "number" || @ < 0 || @ > 9007199254740991 || @ != @.floor())')$$,
      'vector_clock has a counter that is not a whole number from 0 to 2^53 - 1']]);

call helix.install_inbox('sync_state', '{delete}', '{entity_type,entity_id,device_id}');

call helix.install_guard('synthesis_settings',
  fixed => '{}',
  client => '{memory_limit,min_confidence,min_cluster_size,enabled,created_at}',
  results => '{}',
  required => '{id,user_id}',
  rules => array[
    ['memory_limit', 'new.memory_limit not between 1 and 100000', 'memory_limit is not between 1 and 100000'],
    ['min_confidence', 'new.min_confidence not between 0 and 1', 'min_confidence is not between 0 and 1'],
    ['min_cluster_size', 'new.min_cluster_size not between 2 and 1000', 'min_cluster_size is not between 2 and 1000']]);

call helix.install_inbox('synthesis_settings', '{insert,delete}');
call helix.install_inbox('synthesis_settings', '{update}', '{}', '{memory_limit,min_confidence,min_cluster_size,enabled}');

-- A job is ordered once: another analysis is another row.
call helix.install_guard('memory_synthesis_jobs',
  fixed => '{synthesis_type,conversations,time_range}',
  client => '{created_at}',
  results => '{status,progress,analysis,summary,layer,provider,input_tokens,output_tokens,execution_time_ms,error,finished_at}',
  required => '{id,user_id,synthesis_type}',
  limits => '{"conversations": 16777216}',
  rules => array[
    ['synthesis_type', $$new.synthesis_type not in ('emotional_patterns', 'prospective_self', 'relational_memory', 'narrative_coherence',
        'full_synthesis', 'relational_dynamics', 'narrative_themes')$$,
      'synthesis_type is not emotional_patterns, prospective_self, relational_memory, narrative_coherence or full_synthesis'],
    ['conversations', $$jsonb_typeof(new.conversations) <> 'array'$$, 'conversations is not an array: send [{"id", "text", "timestamp"}]'],
    ['conversations', $$case jsonb_typeof(new.conversations) when 'array' then jsonb_array_length(new.conversations) > 1000 end$$,
      'conversations has more than 1000 entries'],
    ['time_range', 'isempty(new.time_range)', 'time_range is empty']]);

call helix.install_inbox('memory_synthesis_jobs', '{insert,delete}', '{id}');

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

