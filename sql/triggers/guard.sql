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
      select from jsonb_array_elements(jsonb_path_query_array(new.%1$s, 'strict $.** ? (@.type() == "number")')) n where length(n::pg_catalog.text) > 100) then
      raise exception '%3$s has a number of more than 100 digits'
        using errcode = 'check_violation', column = %3$L, hint = 'Send it as a string.';
    end if;
    if pg_column_size(new.%1$s) > %2$s or octet_length(new.%1$s::pg_catalog.text) > %2$s then
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
  refused pg_catalog.text;
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
