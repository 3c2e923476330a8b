-- The column guard of sync_state, and its deletes into the inbox.

create or replace function helix.guard_sync_state() returns trigger
language plpgsql security invoker set search_path = '' as $$
declare
  clock jsonb;
begin
  if tg_op = 'INSERT' then
    -- supabase-js sends NULL for what a row of a bulk insert leaves out
    new.id := coalesce(new.id, gen_random_uuid());
    new.user_id := coalesce(new.user_id, auth.uid());
    new.vector_clock := coalesce(new.vector_clock, '{}');
    new.last_modified := coalesce(new.last_modified, now());
    new.deleted := coalesce(new.deleted, false);
    new.created_at := coalesce(new.created_at, now());
    if new.user_id is null or new.entity_type is null or new.entity_id is null or new.device_id is null then
      raise exception 'sync_state needs user_id, entity_type, entity_id and device_id: % is null',
        case when new.user_id is null then 'user_id' when new.entity_type is null then 'entity_type'
             when new.entity_id is null then 'entity_id' else 'device_id' end
        using errcode = 'not_null_violation', column =
          case when new.user_id is null then 'user_id' when new.entity_type is null then 'entity_type'
               when new.entity_id is null then 'entity_id' else 'device_id' end;
    end if;
    if char_length(new.entity_type) not between 1 and 200 then
      raise exception 'entity_type has % characters; it must have 1 to 200', char_length(new.entity_type)
        using errcode = 'check_violation', column = 'entity_type';
    end if;
    if char_length(new.device_id) not between 1 and 200 then
      raise exception 'device_id has % characters; it must have 1 to 200', char_length(new.device_id)
        using errcode = 'check_violation', column = 'device_id';
    end if;
  else
    new.vector_clock := coalesce(new.vector_clock, '{}');
    new.last_modified := coalesce(new.last_modified, now());
    new.deleted := coalesce(new.deleted, false);
    new.created_at := coalesce(new.created_at, old.created_at);
    if not (pg_has_role(current_user, 'service_role', 'member') or pg_has_role(current_user,
        (select c.relowner from pg_catalog.pg_class c where c.oid = tg_relid), 'member')) then
      if new.id is distinct from old.id or new.user_id is distinct from old.user_id
        or new.entity_type is distinct from old.entity_type or new.entity_id is distinct from old.entity_id
        or new.device_id is distinct from old.device_id then
        raise exception 'sync_state.% cannot change: it is part of the row''s key',
          case when new.id is distinct from old.id then 'id'
               when new.user_id is distinct from old.user_id then 'user_id'
               when new.entity_type is distinct from old.entity_type then 'entity_type'
               when new.entity_id is distinct from old.entity_id then 'entity_id' else 'device_id' end
          using errcode = 'insufficient_privilege',
          hint = 'Write another row, or leave the column out; an upsert names all four keys in onConflict.';
      end if;
    end if;
  end if;

  if tg_op = 'INSERT' or new.vector_clock is distinct from old.vector_clock then
    clock := new.vector_clock;
    if jsonb_typeof(clock) = 'object' and jsonb_typeof(clock -> 'clocks') = 'object' then
      clock := clock -> 'clocks';
    end if;
    if jsonb_typeof(clock) is distinct from 'object' then
      raise exception 'vector_clock is a JSON %, not an object of counters', jsonb_typeof(clock)
        using errcode = 'check_violation', column = 'vector_clock',
        hint = 'Send {"deviceA": 3, "deviceB": 1}.';
    end if;
    if jsonb_path_exists(clock, 'strict $.* ? (@.type() != "number" || @ < 0 || @ > 9007199254740991 || @ != @.floor())') then
      raise exception 'vector_clock has a counter that is not a whole number from 0 to 2^53 - 1'
        using errcode = 'check_violation', column = 'vector_clock';
    end if;
    -- The numbers first: only then is its text known to be short.
    if exists (select from jsonb_path_query(new.vector_clock, 'strict $.** ? (@.type() == "number")') n
        where length(n::text) > 100) or octet_length(new.vector_clock::text) > 1048576 then
      raise exception 'vector_clock is too large; at most 1 MB is possible'
        using errcode = 'check_violation', column = 'vector_clock';
    end if;
  end if;
  if tg_op = 'INSERT' or new.data is distinct from old.data then
    -- jsonb keeps 1e131071 in twelve bytes and prints 131,072 digits: a row of a few
    -- kilobytes could become a gigabyte in the stream.
    if exists (select from jsonb_path_query(new.data, 'strict $.** ? (@.type() == "number")') n
      where length(n::text) > 100) then
      raise exception 'data has a number of more than 100 digits'
        using errcode = 'check_violation', column = 'data', hint = 'Send it as a string.';
    end if;
    if pg_column_size(new.data) > 16777216 or octet_length(new.data::text) > 16777216 then
      raise exception 'data is too large; at most 16 MB is possible'
        using errcode = 'check_violation', column = 'data',
        hint = 'Keep files in Supabase Storage and their paths in data.';
    end if;
  end if;
  if (tg_op = 'INSERT' or new.last_modified is distinct from old.last_modified)
    and not isfinite(new.last_modified) then
    raise exception 'last_modified is infinite' using errcode = 'check_violation', column = 'last_modified';
  end if;
  return new;
end $$;

create or replace trigger a_helix_guard before insert or update on public.sync_state
  for each row execute function helix.guard_sync_state();

create or replace function helix.inbox_sync_state() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  insert into helix.inbox (table_name, op, key, user_id)
  select 'sync_state', 'DELETE', jsonb_build_object(
    'entity_type', entity_type, 'entity_id', entity_id, 'device_id', device_id), user_id
  from gone;
  return null;
end $$;

create or replace trigger helix_inbox_delete after delete on public.sync_state
  referencing old table as gone for each statement execute function helix.inbox_sync_state();

revoke all on function helix.guard_sync_state(), helix.inbox_sync_state()
  from public, anon, authenticated, service_role;
