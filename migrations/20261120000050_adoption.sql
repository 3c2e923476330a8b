-- What the files after this one share: how a table of this schema is made where
-- it is missing, and adopted where the project has it already. Adopting adds
-- what is missing, changes no value and loses no row. Every statement may run
-- again.

-- The time in UTC of a timestamp, with a time zone or without: adopted tables
-- have both.
create or replace function helix.utc(at timestamp) returns timestamptz
language sql immutable parallel safe return at at time zone 'utc';
create or replace function helix.utc(at timestamptz) returns timestamptz
language sql immutable parallel safe return at;

-- Refuses a project with tables that cannot be adopted, or that are in the way,
-- before anything is changed, and names the SQL to run. Adopted names each
-- table's columns by type: {"skills": {"text": "name source"}}.
create or replace procedure helix.require_adoptable(adopted jsonb, added text[])
language plpgsql set search_path = '' as $$
declare
  problems text[];
  vector constant text := (select format('%I.vector(1536)', n.nspname)
    from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector');
  col record;
  fix text;
begin
  select array_agg(case
      when c.relkind not in ('r', 'p') then format('%s is a %s, and helixd needs a table there. Run: alter %2$s %1$s rename to %3$I;',
        c.oid::regclass, case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'f' then 'foreign table' else 'table' end,
        c.relname || '_old')
      when not pg_has_role(current_user, c.relowner, 'usage') then format(
        '%1$s belongs to role %2$s. Run, as that role or an administrator: alter table %1$s owner to %3$I;',
        c.oid::regclass, c.relowner::regrole, current_user)
      when c.relname = any (added) then format('%s is the app''s own, and helixd needs one of that name. Run: alter table %1$s rename to %I;',
        c.oid::regclass, c.relname || '_old')
      else format('%s has no columns id and user_id of type uuid. Run: alter table %1$s rename to %I;', c.oid::regclass, c.relname || '_old')
    end order by c.relname) into problems
  from pg_catalog.pg_class c
  where c.relnamespace = 'public'::regnamespace and (adopted ? c.relname or c.relname = any (added)) and c.relkind not in ('i', 'I', 'S', 't', 'c')
    and (c.relkind not in ('r', 'p') or not pg_has_role(current_user, c.relowner, 'usage')
      or c.relname = any (added) and not exists (select from pg_catalog.pg_policy where polrelid = c.oid and polname = 'helix_isolation')
      or adopted ? c.relname and (select count(*) from pg_catalog.pg_attribute a where a.attrelid = c.oid
        and not a.attisdropped and a.attname in ('id', 'user_id') and a.atttypid = 'uuid'::regtype) <> 2);

  -- Other types that do: a guard, a reactor and a function all work with them. An
  -- enum or a domain fails in comparisons with text, json has no equality, bigint
  -- does not go into a function of integer, and the stream's timestamps need their
  -- zone (timestamp with time zone, where timestamptz lets both). A vector may
  -- have any dimensions.
  for col in
    select c.oid::regclass as tab, a.attname as name, format_type(a.atttypid, a.atttypmod) as type, n.needed,
      a.attgenerated as generated, a.attidentity <> '' as is_identity, pg_get_expr(d.adbin, d.adrelid) as initial, k.wrong
    from jsonb_each(adopted) t
    cross join lateral (select case key when 'vector(1536)' then coalesce(vector, key) else key end as needed, string_to_array(value, ' ') as names
      from jsonb_each_text(t.value)) n
    join pg_catalog.pg_class c on c.relnamespace = 'public'::regnamespace and c.relname = t.key and c.relkind in ('r', 'p')
      and pg_has_role(current_user, c.relowner, 'usage')
    join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attname = any (n.names)
    left join pg_catalog.pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    cross join lateral (select not exists (select from unnest(case n.needed
          when 'text' then '{text,varchar}' when 'timestamptz' then '{timestamptz,timestamp}' when 'bigint' then '{bigint,integer}'
          when 'double precision' then '{double precision,real,numeric}' else array[n.needed] end) does
        where a.atttypid = to_regtype(does))
      or a.attname in ('transcript', 'synthesis_content') and a.atttypid = 'varchar'::regtype and a.atttypmod <> -1 -- helixd's, of any length
      as wrong) k
    where (k.wrong or a.attgenerated <> '' or a.attidentity <> '')
      and not (a.attname in ('id', 'user_id') and k.wrong) -- said above
      and (n.needed <> 'vector(1536)' or exists (select from pg_catalog.pg_available_extensions where name = 'vector'))
    order by t.key, a.attnum
  loop
    fix := null;
    begin
      execute format('select %I::%s from %s where false', col.name, col.needed, col.tab);
      if not col.wrong then
        fix := case when col.is_identity then 'drop identity' when col.generated = 's' then 'drop expression' end;
      elsif col.generated = '' then
        -- The old default would not go into the new type by itself.
        fix := format(case col.type when 'timestamp without time zone' then 'type %1$s using %2$I at time zone ''utc''' else 'type %1$s using %2$I::%1$s' end,
          col.needed, col.name);
        if col.initial is not null then
          fix := format('drop default, alter column %2$I %1$s, alter column %2$I set default (%3$s)::%4$s', fix, col.name, col.initial, col.needed);
        end if;
      end if;
    exception when cannot_coerce or undefined_object then -- no cast, or no pgvector yet
    end;
    problems := problems || format('%s.%I is %s, and helixd needs %s. Run: alter table %1$s %5$s;', col.tab, col.name,
      case when col.generated <> '' then 'generated' when col.is_identity then 'an identity column' else col.type end,
      case when col.wrong then col.needed else 'to write it' end,
      case when fix is null then format('rename column %I to %I', col.name, col.name || '_old') else format('alter column %I %s', col.name, fix) end);
  end loop;

  if problems is not null then
    raise exception E'helixd cannot adopt all tables of this project, and has changed nothing:\n%', array_to_string(problems, E'\n')
      using errcode = 'insufficient_privilege', hint = 'Run the SQL above, then migrate again.';
  end if;
end $$;

-- Adds a default where the column has none. now() is UTC in a timestamp without
-- time zone.
create or replace procedure helix.add_default(tab text, col text, expression text)
language plpgsql set search_path = '' as $$
begin
  if exists (select from pg_catalog.pg_attribute where attrelid = format('public.%I', tab)::regclass and attname = col
      and not atthasdef and not attisdropped) then
    if expression = 'now()' and (select atttypid = 'timestamp'::regtype from pg_catalog.pg_attribute
        where attrelid = format('public.%I', tab)::regclass and attname = col) then
      expression := '(now() at time zone ''utc'')';
    end if;
    execute format('alter table public.%I alter column %I set default %s', tab, col, expression);
  end if;
end $$;

-- Row-level security and rights. Commands are what authenticated may do with its
-- own rows. The permissive policy allows no more than they, so that a later GRANT
-- ALL opens nothing; the restrictive ones hold whatever other policies a project
-- has. Readable says which other rows may be read.
create or replace procedure helix.protect(tab text, commands text, readable text default null)
language plpgsql set search_path = '' as $$
declare
  own constant text := '(user_id = (select auth.uid()))';
  command text;
begin
  execute format('alter table public.%I enable row level security', tab);
  for command in select policyname from pg_catalog.pg_policies
      where schemaname = 'public' and tablename = tab and policyname ~ '^helix_(own|readable|isolation)' loop
    execute format('drop policy %I on public.%I', command, tab);
  end loop;
  foreach command in array string_to_array(commands, ', ') loop
    execute format('create policy helix_own_%1$s on public.%2$I for %1$s to authenticated %3$s %4$s', command, tab,
      case when command <> 'insert' then 'using ' || own end,
      case when command in ('insert', 'update') then 'with check ' || own end);
  end loop;
  execute format('create policy helix_isolation on public.%I as restrictive for all to anon, authenticated '
    'using (%s) with check %s', tab, concat_ws(' or ', own, readable), own);
  if readable is not null then
    execute format('create policy helix_readable on public.%I for select to authenticated using (%s)', tab, readable);
    execute format('create policy helix_isolation_update on public.%I as restrictive for update to anon, authenticated using %s', tab, own);
    execute format('create policy helix_isolation_delete on public.%I as restrictive for delete to anon, authenticated using %s', tab, own);
  end if;
  execute format('revoke all on public.%I from public, anon, authenticated, service_role', tab);
  if commands <> '' then
    execute format('grant %s on public.%I to authenticated', commands, tab);
    execute format('grant all on public.%I to service_role', tab);
  end if;
end $$;

-- Runs a statement that moves or marks adopted rows without the project's own
-- triggers, which would take it for a user's change.
create or replace procedure helix.without_triggers(tab text, statement text)
language plpgsql set search_path = '' as $$
declare
  rel constant text := format('public.%I', tab);
  fired constant text[] := array(select format('%s trigger %I', case tgenabled when 'A' then 'always' else '' end, tgname)
    from pg_catalog.pg_trigger where tgrelid = rel::regclass and not tgisinternal and tgenabled in ('O', 'A'));
  one text;
begin
  foreach one in array fired loop
    execute format('alter table %s disable %s', rel, regexp_replace(one, '^always', ''));
  end loop;
  execute statement;
  foreach one in array fired loop
    execute format('alter table %s enable %s', rel, one);
  end loop;
end $$;

-- Makes columns unique. Of rows that share a key the newest stays; the others
-- move unchanged to an inheriting table, so that a select still returns them. It
-- has no rights of its own: RLS and rights of the parent hold for who reads
-- through it. It has a primary key, since a project's publication of all tables
-- would otherwise refuse its updates.
create or replace procedure helix.add_unique_key(tab text, name text, columns text[], newest text)
language plpgsql set search_path = '' as $$
declare
  rel constant regclass := format('public.%I', tab)::regclass;
  heir constant text := tab || '_adopted';
  key constant text := (select string_agg(quote_ident(c), ', ') from unnest(columns) c);
  old text;
  one text;
  every text;
begin
  if exists (select from pg_catalog.pg_index i where i.indrelid = rel and i.indisunique and i.indisvalid and i.indimmediate
      and i.indpred is null and i.indexprs is null and i.indnkeyatts = cardinality(columns)
      and columns <@ array(select a.attname::text from pg_catalog.pg_attribute a
        where a.attrelid = rel and a.attnum = any (i.indkey))) then
    return;
  end if;
  execute format('lock table %s in access exclusive mode', rel);
  old := format('select id from (select id, row_number() over (partition by %s order by %I desc nulls last, id desc) as place '
    'from only %s where num_nulls(%1$s) = 0) ranked where place > 1', key, newest, rel);
  execute old || ' limit 1' into one;
  if one is not null then
    if exists (select from pg_catalog.pg_constraint where contype = 'f' and confrelid = rel) then
      raise exception '% has several rows with the same (%), and other tables refer to it: helixd will not move the older ones away',
        rel, key using errcode = 'unique_violation',
        hint = format('Keep one row a key: see select %s, count(*) from %s group by %1$s having count(*) > 1; then migrate again.', key, rel);
    end if;
    execute format('create table if not exists public.%I (primary key (id)) inherits (%s)', heir, rel);
    call helix.protect(heir, '');
    execute format('comment on table public.%I is %L', heir, format(
      'rows that %s had twice under one key when helixd came: all but the newest, unchanged; selects on %1$s return them', tab));
    execute format('create index if not exists %I on public.%I (user_id)', heir || '_user_id_idx', heir);
    select string_agg(quote_ident(attname), ', ') into every from pg_catalog.pg_attribute
      where attrelid = rel and attnum > 0 and not attisdropped and attgenerated = '';
    call helix.without_triggers(tab, format('with moved as (delete from only %s where id in (%s) returning %s) '
      'insert into public.%I (%3$s) overriding system value select %3$s from moved', rel, old, every, heir));
  end if;
  execute format('alter table %s add constraint %I unique (%s)', rel, name, key);
end $$;

-- Adds the foreign key by which an account takes its rows along, NOT VALID: rows
-- of users who are gone stay. One that keeps the account, or the row, is replaced:
-- a skill whose user_id is set to null would be everybody's.
--
-- It locks auth.users, and whoever signs in waits behind the one who waits for
-- that lock: so it gives way after two seconds, lets everything go, and comes
-- again. That is why each of these keys has a file, and so a transaction, of its
-- own. The loop is here since the Supabase CLI does not try again.
create or replace procedure helix.add_user_fkey(tab text)
language plpgsql set search_path = '' as $$
declare
  rel regclass;
  name text;
  cascades boolean;
  actions text;
begin
  for rel, name in select c.oid, c.relname from pg_catalog.pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relname in (tab, tab || '_adopted') and c.relkind in ('r', 'p') loop
    select coalesce(bool_or(k.confdeltype = 'c'), false),
      string_agg(format('drop constraint %I', k.conname), ', ') filter (where k.confdeltype <> 'c') into cascades, actions
    from pg_catalog.pg_constraint k
    join pg_catalog.pg_attribute a on a.attrelid = k.conrelid and k.conkey = array[a.attnum] and a.attname = 'user_id'
    where k.contype = 'f' and k.conrelid = rel and k.confrelid = 'auth.users'::regclass;
    if not cascades then
      actions := concat_ws(', ', actions, format(
        'add constraint %I foreign key (user_id) references auth.users (id) on delete cascade not valid', name || '_helix_user_id_fkey'));
    end if;
    continue when actions is null;
    for attempt in 1..20 loop
      begin
        set local lock_timeout = '2s';
        execute format('alter table %s %s', rel, actions);
        exit;
      exception when lock_not_available then
        if attempt = 20 then
          raise;
        end if;
        perform pg_sleep(0.5);
      end;
    end loop;
  end loop;
end $$;

-- The schema that pgvector is in, null where the server does not have it. It is
-- made where it can be.
create or replace function helix.vector_schema() returns text
language plpgsql set search_path = '' as $$
begin
  if not exists (select from pg_catalog.pg_extension where extname = 'vector') then
    if exists (select from pg_catalog.pg_available_extensions where name = 'vector') then
      create schema if not exists extensions;
      create extension vector with schema extensions;
    else
      raise warning 'this server has no pgvector: memories get no embeddings';
    end if;
  end if;
  return (select n.nspname from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace
    where e.extname = 'vector');
end $$;

revoke all on function helix.utc(timestamp), helix.utc(timestamptz), helix.vector_schema()
  from public, anon, authenticated, service_role;
revoke all on procedure helix.require_adoptable(jsonb, text[]), helix.add_default(text, text, text), helix.protect(text, text, text),
  helix.without_triggers(text, text), helix.add_unique_key(text, text, text[], text), helix.add_user_fkey(text)
  from public, anon, authenticated, service_role;

do $$
begin
  call helix.require_adoptable($json${
    "memories": {"uuid": "id user_id", "text": "type content", "vector(1536)": "embedding", "double precision": "emotional_valence",
      "timestamptz": "created_at last_accessed", "bigint": "content_rev", "boolean": "embedding_indexed embedding_stale"},
    "memory_synthesis": {"uuid": "id user_id", "text": "pattern_type synthesis_content fingerprint", "uuid[]": "memory_ids",
      "double precision": "confidence_score", "jsonb": "details", "timestamptz": "created_at updated_at"},
    "psychology_layers": {"uuid": "id user_id", "integer": "layer_number", "text": "layer_name decay_model", "jsonb": "data decay_params",
      "double precision": "decay_rate initial_strength", "timestamptz": "last_updated last_reinforced created_at"},
    "skills": {"uuid": "id user_id", "text": "name description kind source version visibility schedule active_sha256 status sha256",
      "bytea": "wasm_bytecode", "jsonb": "steps parameters limits error checks", "text[]": "capabilities tags", "boolean": "enabled",
      "timestamptz": "created_at checked_at", "bigint": "usage_count content_rev"},
    "voice_recordings": {"uuid": "id user_id", "text": "storage_path mime_type language status transcript detected_language provider",
      "bytea": "audio_data processed_audio", "boolean": "keep_audio memo", "jsonb": "error words actions", "double precision": "transcript_confidence",
      "bigint": "duration_ms content_rev", "integer": "attempts", "timestamptz": "created_at processed_at"},
    "sync_state": {"uuid": "id user_id entity_id", "text": "entity_type device_id", "jsonb": "data vector_clock", "boolean": "deleted",
      "bigint": "base_revision", "timestamp with time zone": "last_modified", "timestamptz": "created_at"}}$json$,
    '{synthesis_settings,privacy_settings,memory_retention,memory_synthesis_jobs,memory_patterns,synthesis_recommendations,skill_versions,skill_grants,skill_runs,voice_commands,sync_entities,sync_conflicts,sync_policies}');
end $$;
